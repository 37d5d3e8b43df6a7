"""Webhooks, which are URLs that each post to one channel, and their management."""
