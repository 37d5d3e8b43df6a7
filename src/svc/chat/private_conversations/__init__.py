"""Private conversations, in which the server stores and orders messages that it cannot read."""
