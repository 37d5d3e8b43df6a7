"""The server's own emoji. What is an emoji at all, `chat/messages/message` says."""
