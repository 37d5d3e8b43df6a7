"""Web Push: devices ring for their members while no page of theirs is in sight (RFC 8030, 8291, 8292)."""
