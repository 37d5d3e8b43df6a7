"""Drafts: a member's unsent messages, shared by all of the member's open pages."""
