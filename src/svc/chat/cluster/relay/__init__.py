"""Implements `svc relay`, a process that serves members' live sockets and the web client's files. See
docs/cluster.md.
"""
