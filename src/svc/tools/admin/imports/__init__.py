"""Readers for other programs' exports. `svc.chat.transfer` stores what they read."""
