"""Webhooks: URLs that each post to one channel, and their management."""
