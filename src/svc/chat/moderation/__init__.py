"""Moderates members: kicks, bans, timeouts and reports."""
