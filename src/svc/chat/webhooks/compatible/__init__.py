"""Endpoints below a webhook's URL that accept the payloads of Discord, Slack and GitHub."""
