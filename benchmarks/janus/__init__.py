"""Measures Janus's video room like this service: with the same packets and generator, but with Janus's own
messages.
"""
