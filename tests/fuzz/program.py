"""Reads a fuzz target's input as a series of steps. After the end of the input, all bytes are zero."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Program:
    """A source of choices, numbers and slices that are read from bytes. Changing one byte changes few later
    values.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes, or fewer at the end."""
        taken = self._data[self._at : self._at + count]
        self._at += len(taken)
        return taken

    def number(self, size: int = 1, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size).ljust(size, b"\0"), "big", signed=signed)

    def choice(self, among: Sequence[T]) -> T:
        return among[self.number() % len(among)]

    def piece(self, limit: int) -> bytes:
        """Read a length, which takes one byte if possible, and then that many bytes."""
        return self.take(self.number(1 if limit < 256 else 2) % (limit + 1))
