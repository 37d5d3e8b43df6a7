"""Receives uploads, isolates them until the media worker has processed them, and then puts them to use."""
