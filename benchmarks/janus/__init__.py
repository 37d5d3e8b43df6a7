"""Measures Janus's video room in the same way as this service: with the same packets and generator, but with
Janus's own messages.
"""
