"""Fetches the link previews that are shown below members' messages."""
