"""Manages the owner's settings and advertises the server on the local network."""
