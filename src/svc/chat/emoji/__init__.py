"""The server's own emoji."""
