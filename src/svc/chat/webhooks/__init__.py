"""Webhooks: URLs that post into one channel each, and those who manage them."""
