"""Fetches files to which untrusted messages link, without giving them access to the local network."""
