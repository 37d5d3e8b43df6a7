"""Creates ids that sort by creation time: UUID version 7 (RFC 9562 section 5.7).

Time and randomness are arguments. One generator's ids always increase, even within a millisecond and when the
clock is set back. The time in an id may therefore be ahead of the clock, by as much as the clock was set
back. For display, use the time from `new_with_time` instead.
"""

import uuid
from collections.abc import Callable

_COUNTER_BITS = 12
_RANDOM_BITS = 62
# The number of random bytes to fetch at a time. Each fetch releases the interpreter lock and must then wait
# if the database's thread takes it.
_AHEAD_BYTES = 4096
# The year 9999. `rise_above` ignores later times, because ids after them could overflow.
LATEST_MS = 253_402_300_799_999


class BufferedBits:
    """A buffered source of random bits, for `Ids`. Uses each byte from `random_bytes(n)` once."""

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
    """A generator of ids. `now` returns seconds since 1970. `random_bits(n)` returns n bits as a number."""

    def __init__(self, now: Callable[[], float], random_bits: Callable[[int], int]) -> None:
        self._now = now
        self._random_bits = random_bits
        # The last id's time in milliseconds and counter within the millisecond, combined into one number.
        self._last = 0

    def rise_above(self, number: int) -> None:
        """Create only ids above this time and counter from now on, whatever the clock says."""
        if number >> _COUNTER_BITS <= LATEST_MS:
            self._last = max(self._last, number)

    def new_with_time(self) -> tuple[str, int]:
        """Return a new id, and the clock's time in ms."""
        now_ms = int(self._now() * 1000)
        return self._make(now_ms), now_ms

    def new(self) -> str:
        """Return a new id in the usual 36-character format."""
        return self._make(int(self._now() * 1000))

    def _make(self, now_ms: int) -> str:
        self._last = max(self._last + 1, min(now_ms, LATEST_MS) << _COUNTER_BITS)
        milliseconds, counter = self._last >> _COUNTER_BITS, self._last & 0xFFF
        moment, tail = f"{milliseconds:012x}", f"{0b10 << 62 | self._random_bits(_RANDOM_BITS):016x}"
        return f"{moment[:8]}-{moment[8:]}-7{counter:03x}-{tail[:4]}-{tail[4:]}"


def time_ms(id_text: str) -> int:
    """Return the creation time of an id, in ms since 1970. Raises ValueError for an invalid id."""
    value = uuid.UUID(id_text)
    if value.version != 7:
        raise ValueError("not a UUID of version 7")
    return value.int >> 80


def number_of(id_text: str) -> int:
    """Return an id's combination of time and counter, for `rise_above`. Raises ValueError for an invalid
    id.
    """
    return time_ms(id_text) << _COUNTER_BITS | uuid.UUID(id_text).int >> 64 & 0xFFF
