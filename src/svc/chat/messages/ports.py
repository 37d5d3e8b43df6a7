"""The ports of the messages package: a protocol for each feature that it uses without importing it.

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
    """Moderation's ruling on a message. By default, the message is posted unchanged."""

    # The spans to replace with stars.
    spans: Sequence[Span] = ()
    # Post the message, flagged for moderators.
    flagged: bool = False
    # Report the message to moderators.
    reported: bool = False
    refusal: ChatError | None = None


class Case(Protocol):
    """A report to moderators about a message. It has not been stored yet."""

    def write(self, connection: Connection) -> None:
        """Store the report, as part of the write that posts the message. Call `filed` afterwards."""

    def filed(self) -> None: ...


class Moderator(Protocol):
    """Moderation of members' messages, implemented by `chat.automod.rule_engine.Automod`.

    The messages package requests a ruling before each write and applies it, without knowing the reason.
    """

    async def read(self, member_id: str, text: str) -> ScannedText:
        """Perform the slow part of the analysis of a text, so that `judge` is fast. Raises ChatError."""

    def judge(self, member_id: str, channel_id: str, read: ScannedText, now: float, *, new: bool) -> Ruling:
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
        """Note that the judged message was refused. The author has not been notified yet."""


class Refused(ChatError):
    """A message that moderation has refused."""

    def __init__(self, ruling: Ruling) -> None:
        assert ruling.refusal is not None, "only what is refused"
        super().__init__(ruling.refusal.code, ruling.refusal.message, ruling.refusal.more)
        self.ruling = ruling


class SlowMode(Protocol):
    """Slow mode, which limits how often a member may post. Implemented by `chat.channels.rules.Channels`."""

    def slow_mode_wait_s(self, member_id: str, channel_id: str, now: float) -> float:
        """Return the number of seconds that the member must still wait. If it is 0, count the message as
        posted.
        """


class Blocklist(Protocol):
    """The members whom each member has blocked, implemented by `chat.account.blocks.Blocks`."""

    def blocks(self, member_id: str, other_id: str) -> bool: ...


class MessageSettings(Protocol):
    """The owner's settings for messages, implemented by `chat.settings.rules.Settings`."""

    def profanity_mode(self) -> str:
        """Return `off`, `flag`, `censor` or `block`."""

    def retention_days(self) -> int:
        """Return the number of days for which attachments are stored. 0 means as long as their messages."""


class MessageUploads(Protocol):
    """The uploads that members attach, implemented by `chat.uploads.rules.Uploads`."""

    def attach(
        self, connection: Connection, member_id: str, message_id: str, upload_ids: Sequence[str]
    ) -> Sequence[object]:
        """Attach a member's finished uploads, as part of a write. Return the attachments."""

    def max_unprocessed_bytes(self, name: str) -> int:
        """Return the maximum size of an unprocessed file with this name. 0 means that it is refused."""


class MessageFiles(Protocol):
    """The stored files to which messages refer.

    Implemented by `chat.file_module.FileModule`. Each method runs as part of a write.
    """

    def release_message(self, connection: Connection, message_id: str) -> None:
        """Release the files of a deleted message."""

    def release_attachments(self, connection: Connection, message_id: str, keys: Sequence[str]) -> None:
        """Release some of a message's attachments."""

    def replace_previews(self, connection: Connection, message_id: str, keys: Sequence[str]) -> set[str]:
        """Make these pictures the ones that a message's previews refer to. Return the pictures that still
        exist.
        """


@dataclass(frozen=True, slots=True)
class MessagePorts:
    """Everything that the messages package needs from other features."""

    urls: MediaUrls
    settings: MessageSettings
    slow_mode: SlowMode
    blocklist: Blocklist
    uploads: MessageUploads
    files: MessageFiles
    moderator: Moderator
