"""Exports a community to a file for other programs, and imports such files."""
