"""Manages webhooks, which are URLs for posting to a channel, and the posts to them."""
