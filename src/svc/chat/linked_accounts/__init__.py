"""Lets a member prove that they are the same person as a member of another server.

Each account signs a statement about the other with its device's key.
"""
