"""Uploads: received, kept apart until the worker has written them anew, then used for what they are for."""
