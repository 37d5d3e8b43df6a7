"""Manages drafts, a member's unsent messages, for all of the member's clients."""
