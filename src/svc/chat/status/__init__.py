"""The server's health, version and metrics."""
