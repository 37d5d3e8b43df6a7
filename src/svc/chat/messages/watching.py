"""The interface between messages and moderation.

Messages ask for a ruling before a write and apply it. They do not know its reason. Decides nothing.
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
    """A ruling on a message. By default, the message is posted unchanged."""

    # Spans to replace by stars.
    spans: Sequence[Span] = ()
    # Post the message, flagged for moderators.
    flagged: bool = False
    # Report the message to moderators.
    reported: bool = False
    refusal: ChatError | None = None


class Case(Protocol):
    """A report to moderators about a message."""

    def write(self, connection: Connection) -> None:
        """Store the report, as a step of the write that posts the message. `filed` follows."""

    def filed(self) -> None: ...


class Watch(Protocol):
    async def read(self, member_id: str, text: str) -> ReadText:
        """Analyse a text, however long it takes, so that `judge` takes no time. Raises ChatError."""

    def judge(self, member_id: str, channel_id: str, read: ReadText, now: float, *, new: bool) -> Ruling:
        """Return the ruling on a `new` message, or on an edit."""

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
        """Return a report about a message, given its uncensored text and the spans of swear words."""

    def posted(self, ruling: Ruling, now: float) -> None:
        """Note that the judged message was posted."""

    async def refused(self, ruling: Ruling, now: float) -> None:
        """Note that the judged message was refused. Its author is about to be notified."""


class Refused(ChatError):
    """A message that moderation refuses."""

    def __init__(self, ruling: Ruling) -> None:
        assert ruling.refusal is not None, "only what is refused"
        super().__init__(ruling.refusal.code, ruling.refusal.message, ruling.refusal.more)
        self.ruling = ruling
