"""Lets members prove that they are the same person as a member of another server.

Each of the two accounts signs a statement about the other with the key of its own device.
"""
