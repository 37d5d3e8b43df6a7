"""Builds the messages feature's ports without any other feature, for tests that need no server."""

from collections.abc import Collection, Sequence

from svc.base.database import Connection
from svc.chat.access.media_urls import MediaUrls
from svc.chat.messages.message import Author
from svc.chat.messages.ports import Case, MessagePorts, Ruling
from svc.chat.messages.profanity import ScannedText, Span


class NoModeration:
    """A stand-in that posts every message unchanged."""

    async def read(self, member_id: str, text: str) -> ScannedText:
        return ScannedText(text)

    def judge(self, member_id: str, channel_id: str, read: ScannedText, now: float, *, new: bool) -> Ruling:
        return Ruling()

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
        return self

    def write(self, connection: Connection) -> None: ...

    def filed(self) -> None: ...

    def posted(self, ruling: Ruling, now: float) -> None: ...

    async def refused(self, ruling: Ruling, now: float) -> None: ...


class NoOtherFeatures:
    """Stand-ins for settings, uploads, files and slow mode, all empty."""

    def profanity_mode(self) -> str:
        return "off"

    def retention_days(self) -> int:
        return 0

    def slow_mode_wait_s(self, member_id: str, channel_id: str, now: float) -> float:
        return 0.0

    def attach(
        self, connection: Connection, member_id: str, message_id: str, upload_ids: Sequence[str]
    ) -> Sequence[object]:
        return ()

    def max_unprocessed_bytes(self, name: str) -> int:
        return 0

    def release_message(self, connection: Connection, message_id: str) -> None: ...

    def release_attachments(self, connection: Connection, message_id: str, keys: Sequence[str]) -> None: ...

    def replace_previews(self, connection: Connection, message_id: str, keys: Sequence[str]) -> set[str]:
        return set()


class Blocked:
    """Blocks between members, as pairs of the blocking member and the blocked member."""

    def __init__(self, pairs: Collection[tuple[str, str]]) -> None:
        self._pairs = pairs

    def blocks(self, member_id: str, other_id: str) -> bool:
        return (member_id, other_id) in self._pairs


def message_ports(urls: MediaUrls, blocked: Collection[tuple[str, str]] = ()) -> MessagePorts:
    """Build the ports for the messages feature without any other feature."""
    others = NoOtherFeatures()
    return MessagePorts(
        urls=urls,
        settings=others,
        slow_mode=others,
        blocklist=Blocked(blocked),
        uploads=others,
        files=others,
        moderator=NoModeration(),
    )
