"""Manages voice rooms: who is in them, who may join, and the connection to the media service."""
