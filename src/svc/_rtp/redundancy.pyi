"""Redundancy: parses RED packets (RFC 2198)."""

def parse_red(payload: bytes) -> list[tuple[int, int, bytes]] | None:
    """Return (payload type, timestamp offset, bytes) for each block, primary last, or None if malformed."""
