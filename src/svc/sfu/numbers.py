"""The numbers and names that a session draws by lot: SSRCs, ids, and what an SDP begins with.

The source of chance is an argument, so that tests can repeat what they draw.
"""

from random import Random


def session_number(chance: Random) -> int:
    """Return the number of an SDP session: 62 bits (RFC 8829 section 5.2.1)."""
    return int.from_bytes(chance.randbytes(8)) >> 2


def new_ssrc(chance: Random) -> int:
    """Return an SSRC. Small numbers are left out: some clients use them for their own reports."""
    return int.from_bytes(chance.randbytes(4)) | 1 << 16


def new_id(chance: Random) -> str:
    return chance.randbytes(16).hex()
