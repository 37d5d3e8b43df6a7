"""Fetches files that strangers' messages link to, without access to the local network."""
