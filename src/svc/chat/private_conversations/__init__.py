"""Manages private conversations, whose messages the server stores and orders but cannot read."""
