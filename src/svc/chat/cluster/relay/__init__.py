"""`svc relay`: a process that holds the live sockets of members and serves the page. docs/cluster.md."""
