"""Fetches files from untrusted addresses, without reaching into the local network."""
