"""Uploads, which are received, isolated until the media worker has processed them, and then put to use."""
