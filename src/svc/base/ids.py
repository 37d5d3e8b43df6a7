"""Ids that sort by the time they were made: UUID version 7 (RFC 9562 section 5.7).

Time and randomness are arguments of the maker. Ids of one maker rise strictly, also
within a millisecond and when the clock steps back. So the time in an id may be ahead of the
clock, for as long as an earlier clock was wrong: whoever shows a time takes that of `stamped`.
"""

import uuid
from collections.abc import Callable

_COUNTER_BITS = 12
_RANDOM_BITS = 62
# Fetched in one go: each fetch lets go of the interpreter, and waits while the database's thread has it.
_AHEAD_BYTES = 4096
# The year 9999. No id is made above a later one, or its successors would not fit into an id.
LATEST_MS = 253_402_300_799_999


class BitsAhead:
    """Called as `random_bits` of `Ids`: takes the bytes that `random_bytes(n)` gives, each once."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self._bytes, self._taken = b"", 0

    def __call__(self, bits: int) -> int:
        size = (bits + 7) // 8
        if self._taken + size > len(self._bytes):
            self._bytes, self._taken = self._random_bytes(_AHEAD_BYTES), 0
        start = self._taken
        self._taken = start + size
        return int.from_bytes(self._bytes[start : self._taken], "big") >> (8 * size - bits)


class Ids:
    """`now` gives seconds since 1970; `random_bits(n)` gives n random bits as a number."""

    def __init__(self, now: Callable[[], float], random_bits: Callable[[int], int]) -> None:
        self._now = now
        self._random_bits = random_bits
        # Milliseconds and a counter within them, as one number that only rises.
        self._last = 0

    def rise_above(self, number: int) -> None:
        """Make only ids after the one of that moment and counter, whatever the clock says now."""
        if number >> _COUNTER_BITS <= LATEST_MS:
            self._last = max(self._last, number)

    def stamped(self) -> tuple[str, int]:
        """A new id, and what the clock says, in ms."""
        return self.new(), int(self._now() * 1000)

    def new(self) -> str:
        """A new id, in the usual 36 characters."""
        now_ms = min(int(self._now() * 1000), LATEST_MS)
        self._last = max(self._last + 1, now_ms << _COUNTER_BITS)
        milliseconds, counter = self._last >> _COUNTER_BITS, self._last & 0xFFF
        moment, rest = f"{milliseconds:012x}", f"{0b10 << 62 | self._random_bits(_RANDOM_BITS):016x}"
        return f"{moment[:8]}-{moment[8:]}-7{counter:03x}-{rest[:4]}-{rest[4:]}"


def time_ms(id_text: str) -> int:
    """When an id was made, in ms since 1970. Raises ValueError for what is no such id."""
    value = uuid.UUID(id_text)
    if value.version != 7:
        raise ValueError("not a UUID of version 7")
    return value.int >> 80


def number_of(id_text: str) -> int:
    """The moment and counter of an id, for `rise_above`. Raises ValueError for what is no such id."""
    return time_ms(id_text) << _COUNTER_BITS | uuid.UUID(id_text).int >> 64 & 0xFFF
