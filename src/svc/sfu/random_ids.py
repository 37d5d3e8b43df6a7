"""Generates a session's random identifiers: SSRCs, ids and SDP session numbers.

The random source is an argument, so that tests are repeatable.
"""

from random import Random


def session_number(chance: Random) -> int:
    """Return a random 62-bit SDP session number (RFC 8829 section 5.2.1)."""
    return int.from_bytes(chance.randbytes(8)) >> 2


def new_ssrc(chance: Random) -> int:
    """Return a random SSRC. Small numbers are avoided, because some clients use them for their own
    reports.
    """
    return int.from_bytes(chance.randbytes(4)) | 1 << 16


def new_id(chance: Random) -> str:
    return chance.randbytes(16).hex()
