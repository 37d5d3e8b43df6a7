"""Backups of a running server: making, keeping, verifying and restoring them."""
