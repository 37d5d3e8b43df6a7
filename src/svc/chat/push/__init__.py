"""Web Push: notifies members' devices while none of their pages is visible (RFC 8030, 8291, 8292)."""
