"""What whoever watches over messages says of one that is about to be posted or changed.

Messages ask before they write and do as they are told; why, they do not know. Decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from svc.base.database import Connection
from svc.chat.errors import ChatError
from svc.chat.messages.message import Author
from svc.chat.messages.profanity import ReadText, Span


@dataclass(frozen=True)
class Ruling:
    """Without any of these the message is posted as it is."""

    # Where stars are to stand instead.
    spans: Sequence[Span] = ()
    # It is posted, and marked for moderators.
    flagged: bool = False
    # They are to hear of it, as of a report.
    reported: bool = False
    refusal: ChatError | None = None


class Case(Protocol):
    """What moderators are to hear of a message."""

    def write(self, connection: Connection) -> None:
        """A step of the write that posts it; `filed` follows."""

    def filed(self) -> None: ...


class Watch(Protocol):
    async def read(self, member_id: str, text: str) -> ReadText:
        """Look through a text, however long it takes, so that judging it takes no time. Raises ChatError."""

    def judge(self, member_id: str, channel_id: str, read: ReadText, now: float, *, new: bool) -> Ruling:
        """Of a `new` message, or of one that its author changes."""

    def case(
        self,
        author: Author,
        channel_id: str,
        message_id: str,
        ruling: Ruling,
        text: str,
        found: Sequence[Span],
        now: float,
    ) -> Case:
        """Of a message, by what it says before anything is covered, and where swear words stood in it."""

    def posted(self, ruling: Ruling, now: float) -> None:
        """What was judged is a message now."""

    async def refused(self, ruling: Ruling, now: float) -> None:
        """What was judged is not, and its author is about to be told."""


class Refused(ChatError):
    """A message that whoever watches does not let through."""

    def __init__(self, ruling: Ruling) -> None:
        assert ruling.refusal is not None, "only what is refused"
        super().__init__(ruling.refusal.code, ruling.refusal.message, ruling.refusal.more)
        self.ruling = ruling
