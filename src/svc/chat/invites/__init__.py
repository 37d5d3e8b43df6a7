"""Invites, and the join policy that they open."""
