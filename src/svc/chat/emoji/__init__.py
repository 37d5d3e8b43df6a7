"""Manages custom emoji. `chat/messages/message` decides what an emoji is."""
