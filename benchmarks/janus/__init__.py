"""Janus and its video room, measured like ours: the same packets, the same generator, its own messages."""
