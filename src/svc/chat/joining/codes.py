"""Codes that add a sign-in to a member: a member's own for another device, an owner's for who lost all.

Says what a code is like and for how long it is good; keeps none.
"""

import enum
import hashlib
from collections.abc import Callable

# 16 letters of 31: 79 bits, which nobody tries out, and none that look alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 16


class Kind(enum.Enum):
    """The values are how the database calls them."""

    LINK = "link"
    RECOVERY = "recovery"

    @property
    def lifetime_ms(self) -> int:
        # A device lies beside the other; somebody who lost theirs is told by other means.
        return 10 * 60_000 if self is Kind.LINK else 24 * 3_600_000


def new_code(choice: Callable[[str], str]) -> str:
    """`choice` picks one of the letters, by chance."""
    return "".join(choice(ALPHABET) for _ in range(LENGTH))


def hashed(code: str) -> bytes:
    """As it is kept. Nobody tries out 79 bits, so nothing slow is needed."""
    return hashlib.sha256(code.strip().lower().encode("utf-8", "surrogatepass")).digest()
