"""Other features as messages see them, for a test that builds messages without a server."""

from collections.abc import Callable, Sequence

from svc.base.database import Connection
from svc.chat.access.media_urls import MediaUrls
from svc.chat.messages.message import Author
from svc.chat.messages.profanity import ReadText, Span
from svc.chat.messages.rules import Surroundings
from svc.chat.messages.watching import Case, Ruling


class Nobody:
    """Watches over nothing."""

    async def read(self, member_id: str, text: str) -> ReadText:
        return ReadText(text)

    def judge(self, member_id: str, channel_id: str, read: ReadText, now: float, *, new: bool) -> Ruling:
        return Ruling()

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
        return self

    def write(self, connection: Connection) -> None: ...

    def filed(self) -> None: ...

    def posted(self, ruling: Ruling, now: float) -> None: ...

    async def refused(self, ruling: Ruling, now: float) -> None: ...


def surroundings_with(
    urls: MediaUrls, blocks: Callable[[str, str], bool] = lambda member_id, other_id: False
) -> Surroundings:
    """Build surroundings in which nobody has uploads, slow mode or a watch."""
    return Surroundings(
        urls=urls,
        profanity_mode=lambda: "off",
        slow_mode_wait_s=lambda member_id, channel_id, now: 0.0,
        blocks=blocks,
        attached=lambda *_: (),
        most_as_it_came=lambda _: 0,
        released=lambda *_: None,
        let_go=lambda *_: None,
        pictured=lambda *_: set(),
        retention_days=lambda: 0,
        watch=Nobody(),
    )
