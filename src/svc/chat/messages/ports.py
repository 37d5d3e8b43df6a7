"""Defines a port (a `typing.Protocol`) for each feature that the messages package uses but does not import.

`chat/community` connects each port to the feature that implements it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from svc.base.database import Connection
from svc.chat.access.media_urls import MediaUrls
from svc.chat.errors import ChatError
from svc.chat.messages.message import Author
from svc.chat.messages.profanity import ScannedText, Span


class Ruling(Struct, frozen=True):
    """The moderation decision on a message. By default, the message is posted unchanged."""

    # The spans to replace with stars.
    spans: Sequence[Span] = ()
    # Whether to flag the message for moderators.
    flagged: bool = False
    # Whether to report the message to moderators.
    reported: bool = False
    refusal: ChatError | None = None


class Case(Protocol):
    """A report to moderators about a message. The report has not been stored yet."""

    def write(self, connection: Connection) -> None:
        """Store the report. Call this within the write transaction that posts the message, and `filed` after
        it.
        """

    def filed(self) -> None: ...


class Moderator(Protocol):
    """Moderation of members' messages. Implemented by `chat.automod.rule_engine.Automod`.

    The messages package requests a ruling before each write and applies it.
    """

    async def read(self, member_id: str, text: str) -> ScannedText:
        """Do the slow part of analysing the text, so that `judge` is fast. Raises ChatError."""

    def judge(self, member_id: str, channel_id: str, read: ScannedText, now: float, *, new: bool) -> Ruling:
        """Return the ruling on a new or edited message."""

    def case(
        self,
        author: Author,
        channel_id: str,
        message_id: str,
        ruling: Ruling,
        text: str,
        matches: Sequence[Span],
        now: float,
    ) -> Case:
        """Return a report about a message, given its uncensored text and the spans of swear words."""

    def posted(self, ruling: Ruling, now: float) -> None:
        """Record that the message was posted."""

    async def refused(self, ruling: Ruling, now: float) -> None:
        """Record that the message was rejected. The author has not been notified yet."""


class Refused(ChatError):
    """The error for a message that moderation has rejected."""

    def __init__(self, ruling: Ruling) -> None:
        assert ruling.refusal is not None, "only what is refused"
        super().__init__(ruling.refusal.code, ruling.refusal.message, ruling.refusal.more)
        self.ruling = ruling


class SlowMode(Protocol):
    """The slow mode of channels, which limits how often a member may post. Implemented by
    `chat.channels.rules.Channels`.
    """

    def slow_mode_wait_s(self, member_id: str, channel_id: str, now: float) -> float:
        """Return how many seconds the member must still wait. If 0, record that the member posts a message
        now.
        """


class Blocklist(Protocol):
    """The members whom each member has blocked. Implemented by `chat.account.blocks.Blocks`."""

    def blocks(self, member_id: str, other_id: str) -> bool: ...


class MessageSettings(Protocol):
    """The owner's settings for messages. Implemented by `chat.settings.rules.Settings`."""

    def profanity_mode(self) -> str:
        """Return `off`, `flag`, `censor` or `block`."""

    def retention_days(self) -> int:
        """Return the retention period of attachments in days. 0 means that they are stored as long as their
        messages.
        """


class MessageUploads(Protocol):
    """The uploads that members attach. Implemented by `chat.uploads.rules.Uploads`."""

    def attach(
        self, connection: Connection, member_id: str, message_id: str, upload_ids: Sequence[str]
    ) -> Sequence[object]:
        """Attach a member's finished uploads to a message. Return the attachments. Call this within a write
        transaction.
        """

    def max_unprocessed_bytes(self, name: str) -> int:
        """Return the maximum size of an unprocessed file with this name, or 0 if such files are rejected."""


class MessageFiles(Protocol):
    """The stored files to which messages refer.

    Implemented by `chat.file_module.FileModule`. Call each method within a write transaction.
    """

    def release_message(self, connection: Connection, message_id: str) -> None:
        """Release the files of a deleted message."""

    def release_attachments(self, connection: Connection, message_id: str, keys: Sequence[str]) -> None:
        """Release the given attachments of a message."""

    def replace_previews(self, connection: Connection, message_id: str, keys: Sequence[str]) -> set[str]:
        """Replace the images in a message's previews. Return the keys of the new images that still exist."""


@dataclass(frozen=True, slots=True)
class MessagePorts:
    """The implementations of all ports."""

    urls: MediaUrls
    settings: MessageSettings
    slow_mode: SlowMode
    blocklist: Blocklist
    uploads: MessageUploads
    files: MessageFiles
    moderator: Moderator
