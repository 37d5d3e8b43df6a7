"""Backups of a server that runs, and what they are good for afterwards."""
