"""Stored media: objects, references to them, serving, and removal."""
