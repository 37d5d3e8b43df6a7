"""`svc relay`: a process that holds members' live sockets and serves the page's files. See
docs/cluster.md.
"""
