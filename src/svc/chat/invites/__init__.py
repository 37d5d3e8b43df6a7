"""Manages invites, and implements the join policy for servers that require them."""
