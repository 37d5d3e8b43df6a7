"""Reports the server's health, version and metrics."""
