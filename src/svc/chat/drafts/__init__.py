"""Drafts: what a member has begun to write, kept for all of their pages."""
