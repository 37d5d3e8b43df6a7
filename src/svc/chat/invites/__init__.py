"""Invites, and the join policy for servers that require them."""
