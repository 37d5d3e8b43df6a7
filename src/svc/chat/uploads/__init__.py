"""Receives uploads, isolates them until the media worker has processed them, and attaches them to messages or
sets them as images of members and the server.
"""
