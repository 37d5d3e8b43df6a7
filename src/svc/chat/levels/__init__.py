"""Notification levels and mutes of members, per channel or for all."""
