"""Private conversations: the server keeps and orders messages that it cannot read."""
