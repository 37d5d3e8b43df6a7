"""Repairs times that were stored in the database while the clock was wrong."""
