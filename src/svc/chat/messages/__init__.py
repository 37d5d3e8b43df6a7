"""Handles messages: posting, editing, reading and searching, and who is online."""
