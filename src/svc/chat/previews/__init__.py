"""Fetches the link previews below members' messages."""
