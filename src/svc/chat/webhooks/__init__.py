"""Manages webhooks, the URLs that post to a channel, and the posts to them."""
