"""What another program's export comes down to: channels, who wrote, and what was said when.

Whatever reads such an export makes these; `adding` puts them into a server. Knows no format.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ForeignChannel:
    """`key` is what the other program calls it."""

    key: str
    name: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ForeignAuthor:
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """Something that was attached: where it is on the web, and here, if it is."""

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
    # The key of another post of the channel; and of that in whose thread it is.
    reply_to: str | None = None
    thread: str | None = None
    reactions: Sequence[tuple[str, ForeignAuthor]] = ()
    files: Sequence[ForeignFile] = ()
    pinned: bool = False


class Source(Protocol):
    """Both may be asked for again, and say the same. Raises BadRecord that names file and place."""

    # Such as "discord"; tells keys of one program from those of another.
    program: str

    def channels(self) -> Sequence[ForeignChannel]: ...

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        """The oldest first."""
