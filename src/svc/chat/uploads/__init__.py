"""Uploads: received, kept apart until the media worker has processed them, then put to their use."""
