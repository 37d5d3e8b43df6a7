"""Manages drafts, which are unsent messages that all of a member's clients share."""
