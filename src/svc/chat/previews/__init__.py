"""Fetches the link previews that appear below members' messages."""
