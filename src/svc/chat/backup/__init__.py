"""Creates backups of a running server, and stores, verifies and restores them."""
