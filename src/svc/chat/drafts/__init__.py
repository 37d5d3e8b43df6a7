"""Drafts: a member's unsent messages, shared by all of their pages."""
