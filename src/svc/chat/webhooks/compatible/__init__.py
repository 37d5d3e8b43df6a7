"""Accepts payloads in the formats of Discord, Slack and GitHub, at endpoints below a webhook's URL."""
