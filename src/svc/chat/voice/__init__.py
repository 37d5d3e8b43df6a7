"""Manages voice rooms: their participants, admission to them, and the link to the media service."""
