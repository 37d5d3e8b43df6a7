"""Invites, and the door through which people join."""
