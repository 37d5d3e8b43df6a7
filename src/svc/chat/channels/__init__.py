"""Text and voice channels."""
