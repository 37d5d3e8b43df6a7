"""Creates, stores, verifies and restores backups of a running server."""
