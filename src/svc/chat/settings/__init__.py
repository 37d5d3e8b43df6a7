"""The owner's settings."""
