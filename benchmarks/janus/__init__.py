"""Janus and its video room, measured as ours is: the same packets, the same generator, its own messages."""
