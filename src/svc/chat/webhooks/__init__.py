"""Manages webhooks and the posts to them. Each webhook is a URL that posts to one channel."""
