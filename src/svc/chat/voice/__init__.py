"""Manages voice rooms: their participants, joining, and the connection to the media service."""
