"""Receives uploads, isolates them until the media worker has processed them, and then attaches them or sets
them as pictures.
"""
