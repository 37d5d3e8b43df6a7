"""Defines a common model for exports from other programs: channels, authors and posts.

A reader for each program's format produces these objects, and `foreign_import` stores them. This module is
independent of all formats.
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
    """An attached file. It has a URL, and a local path if the file itself was exported too."""

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
    # The keys of other posts in the same channel: the one that this post replies to, and the root of its
    # thread.
    reply_to: str | None = None
    thread: str | None = None
    reactions: Sequence[tuple[str, ForeignAuthor]] = ()
    files: Sequence[ForeignFile] = ()
    pinned: bool = False


class Source(Protocol):
    """An export from another program. Both methods can be called repeatedly. They raise BadRecord with the
    file and the position.
    """

    # The program's name, such as "discord", which distinguishes keys from different programs.
    program: str

    def channels(self) -> Sequence[ForeignChannel]: ...

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        """Yield the posts, oldest first."""
