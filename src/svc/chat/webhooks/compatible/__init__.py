"""Webhook URLs that accept the payloads of Discord, Slack and GitHub."""
