"""Finds a rule's pattern in a message, at a cost independent of the message's content.

A set of positions in the text is represented by an integer with one bit per position. Each step of a pattern
advances all positions together: it keeps those where the pattern's next character matches, and shifts them by
one. The number of steps thus depends only on the pattern: its length, plus a few steps for each gap.
`STEP_LIMIT` limits the total for all rules' patterns. This module is independent of rules.

The method is described in Cameron et al., "Bitwise data parallelism in regular expression matching" (PACT
2014).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from svc.base.time_slices import Work

# The maximum number of characters that a star can match within a word, enough for a URL or a long word.
MAX_GAP = 30
# The maximum number of characters between two words, such as spaces, punctuation or a line break.
MAX_BETWEEN = 8
# The number of steps for a gap. Each step doubles the covered length.
GAP_STEPS = 5
# The maximum total number of steps for all rules' patterns. A step takes up to 0.4 µs for 5,000 characters
# of text, so all rules together take up to 8 ms.
STEP_LIMIT = 20_000
# The maximum total number of matches in a message, each of which takes up to 60 µs. If there are more, the
# whole text is treated as one match.
MAX_MATCHES = 100
# The number of characters processed in one time slice. A slice takes up to 0.5 ms.
_CHARACTERS_AT_ONCE = 512
_DIGITS = frozenset("0123456789#")


class Positions:
    """The positions of each character in the text, and of all word characters, separators and digits."""

    def __init__(self, text: str, where: Mapping[str, int]) -> None:
        self._text, self._of = text, where
        self.length = len(text)
        # The number of matches that all patterns together may still find. Limited separately, because a
        # pattern's steps do not include the cost of its matches.
        self.matches_left = MAX_MATCHES

    @classmethod
    def finding(cls, text: str) -> "Work[Positions]":
        bits: dict[str, bytearray] = {}
        size = len(text) // 8 + 1
        for at, character in enumerate(text):
            if not at % _CHARACTERS_AT_ONCE:
                yield
            if character not in bits:
                bits[character] = bytearray(size)
            bits[character][at >> 3] |= 1 << (at & 7)
        where: dict[str, int] = {}
        for character, those in bits.items():
            if not len(where) % _CHARACTERS_AT_ONCE:
                yield
            where[character] = int.from_bytes(those, "little")
        return cls(text, where)

    @cached_property
    def inside(self) -> int:
        return self._where(lambda character: not character.isspace())

    @cached_property
    def word(self) -> int:
        return self._where(lambda character: character.isalnum() or character == "_")

    @cached_property
    def between(self) -> int:
        return self._where(lambda character: not character.isalnum())

    @cached_property
    def digits(self) -> int:
        return self._where(_DIGITS.__contains__)

    def of(self, sign: str) -> int:
        if sign in "?#":
            return self.inside if sign == "?" else self.digits
        return self._of.get(sign, 0)

    def _where(self, fits: Callable[[str], bool]) -> int:
        bits = bytearray(self.length // 8 + 1)
        for at, character in enumerate(self._text):
            if fits(character):
                bits[at >> 3] |= 1 << (at & 7)
        return int.from_bytes(bits, "little")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A folded pattern with at least one letter or digit, and possibly stars."""

    text: str

    @property
    def steps(self) -> int:
        return len(self.text) + GAP_STEPS * (self.text.count("*") + self.text.count(" "))

    def spans(self, text: Positions) -> Iterator[tuple[int, int]]:
        """Yield the matches in order, without overlaps. After MAX_MATCHES matches, yield the whole text."""
        starts, at = self._starts(text), 0
        while starts := starts & (-1 << at):
            if not text.matches_left:
                yield 0, text.length
                return
            text.matches_left -= 1
            start = (starts & -starts).bit_length() - 1
            at = self._end(text, start)
            yield start, at

    def _starts(self, text: Positions) -> int:
        """Return the positions where matches begin. The search runs backwards from the pattern's end."""
        core = self.text.strip("*")
        positions = (1 << (text.length + 1)) - 1
        if not self.text.endswith("*") and _is_of_a_word(core[-1]):
            positions &= ~text.word
        for sign in reversed(core):
            if sign == "*":
                positions = _widen(positions, text.inside, MAX_GAP, backwards=True)
            elif sign == " ":
                positions = _widen(
                    (positions >> 1) & text.between, text.between, MAX_BETWEEN - 1, backwards=True
                )
            else:
                positions = (positions >> 1) & text.of(sign)
        if not self.text.startswith("*") and _is_of_a_word(core[0]):
            positions &= ~(text.word << 1)
        return positions

    def _end(self, text: Positions, start: int) -> int:
        """Return the end of the shortest match that begins at `start`. A final star matches the rest of the
        word.
        """
        core = self.text.strip("*")
        positions = 1 << start
        for sign in core:
            if sign == "*":
                positions = _widen(positions, text.inside, MAX_GAP)
            elif sign == " ":
                positions = _widen((positions & text.between) << 1, text.between, MAX_BETWEEN - 1)
            else:
                positions = (positions & text.of(sign)) << 1
        if self.text.endswith("*"):
            reached = _widen(positions & -positions, text.inside, MAX_GAP)
            return reached.bit_length() - 1
        if _is_of_a_word(core[-1]):
            positions &= ~text.word
        return (positions & -positions).bit_length() - 1


def longest_piece(folded: str) -> str:
    """Return the longest run of letters that every match of the pattern contains."""
    return max(re.split(r"[*?#\s]+", folded), key=len)


def _widen(positions: int, through: int, most: int, *, backwards: bool = False) -> int:
    """Add all positions that are reachable from `positions` across up to `most` characters in `through`."""
    # `run` is the set of positions where `length` consecutive characters in `through` begin.
    run, length, done = through, 1, 0
    while done < most:
        step = min(length, most - done)
        if step < length:
            run, length = _runs(through, step), step
        positions |= (positions >> step) & run if backwards else (positions & run) << step
        done += step
        if done < most:
            run, length = run & (run >> length), 2 * length
    return positions


def _runs(through: int, length: int) -> int:
    """Return the positions where `length` consecutive characters in `through` begin."""
    run, have = through, 1
    while have < length:
        more = min(have, length - have)
        run, have = run & (run >> more), have + more
    return run


def _is_of_a_word(sign: str) -> bool:
    return sign.isalnum() or sign in "_#"
