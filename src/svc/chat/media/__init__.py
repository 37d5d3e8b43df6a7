"""Stored media: what there is, what it is kept for, how it is served and when it goes."""
