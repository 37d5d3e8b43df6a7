"""Fetches files from untrusted URLs without accessing the local network."""
