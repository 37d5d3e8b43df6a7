"""Private conversations: the server stores and orders messages that it cannot read."""
