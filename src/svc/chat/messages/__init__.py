"""Handles messages: posting, editing, reading and searching. Also tracks who is online."""
