"""Exports a community to a file that other programs can read, and imports such files."""
