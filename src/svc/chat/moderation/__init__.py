"""Kicks, bans, timeouts and reports."""
