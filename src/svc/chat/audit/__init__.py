"""The log of administrative actions."""
