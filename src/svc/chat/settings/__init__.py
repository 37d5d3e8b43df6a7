"""Manages the owner's settings, and advertises the server in the local network."""
