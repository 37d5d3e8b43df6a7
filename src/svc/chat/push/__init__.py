"""Notifies members' devices through Web Push while no client of theirs is visible (RFC 8030, 8291, 8292)."""
