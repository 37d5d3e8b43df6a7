"""Webhooks: URLs that each post into one channel, and their management."""
