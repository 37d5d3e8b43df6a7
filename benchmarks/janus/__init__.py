"""Janus with its video room, measured like this service: the same packets and the same generator, but Janus's
own messages.
"""
