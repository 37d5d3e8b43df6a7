"""The addresses beside a webhook's own that take other services' payloads: Discord, Slack, GitHub."""
