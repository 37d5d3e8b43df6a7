"""Custom emoji. `chat/messages/message` decides what counts as an emoji."""
