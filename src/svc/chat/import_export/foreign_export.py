"""The common form of other programs' exports: channels, authors and posts.

Readers of such exports produce these, and `foreign_import` stores them. Knows no format.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ForeignChannel:
    """A channel. `key` is its id in the other program."""

    key: str
    name: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ForeignAuthor:
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """An attached file: its web address, and its local path if it was exported too."""

    name: str
    url: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class ForeignPost:
    key: str
    author: ForeignAuthor
    at_ms: int
    text: str
    edited_at_ms: int | None = None
    # The keys of the post that this post replies to, and of its thread's root, both in the same channel.
    reply_to: str | None = None
    thread: str | None = None
    reactions: Sequence[tuple[str, ForeignAuthor]] = ()
    files: Sequence[ForeignFile] = ()
    pinned: bool = False


class Source(Protocol):
    """An export. Both methods can be called repeatedly. They raise BadRecord with the file and the
    position.
    """

    # Separates the keys of different programs, such as "discord".
    program: str

    def channels(self) -> Sequence[ForeignChannel]: ...

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        """Yield the posts, oldest first."""
