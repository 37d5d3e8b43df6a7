"""Members and their roles."""
