"""Drafts: a member's unsent messages, which are the same in all of the member's open pages."""
