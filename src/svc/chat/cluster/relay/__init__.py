"""Implements `svc relay`, a process that serves members' live sockets and the page's files. See
docs/cluster.md.
"""
