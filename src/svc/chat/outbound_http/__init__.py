"""Fetches files from untrusted addresses without accessing the local network."""
