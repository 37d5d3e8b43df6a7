"""Caches pages of message history, and never returns a page older than the latest write to its channel.

Each channel has a version, which is incremented by every write to its messages. A page is cached only if the
version did not change while it was read, and the next write invalidates it. The number of cached pages and
their total text size are limited. The caller reads the messages. See docs/configuration.md, "Chat server",
MESSAGE_CACHE_TTL_MS.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from svc.chat.messages.message import Message

# The maximum number of pages, enough for each channel's newest page and the pages that members scroll
# through.
MAX_PAGES = 256
MAX_CHARACTERS = 8_000_000
# The assumed size of a message's ids, names and Python object overhead, in characters.
_MESSAGE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of messages, oldest first. The flags indicate whether there are more messages before and after
    it.
    """

    messages: tuple[Message, ...]
    more_before: bool
    more_after: bool


@dataclass(frozen=True, slots=True)
class PageKey:
    """The key of a page. At most one of `before`, `after`, `around` and `at_ms` is set."""

    channel_id: str
    limit: int
    before: int | None = None
    after: int | None = None
    around: int | None = None
    # Selects the page around the first message posted at this time or later.
    at_ms: int | None = None
    # The id of the thread's root message.
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class _CachedPage:
    page: HistoryPage
    version: int
    until: float
    characters: int


class PageCache:
    """The cache for history pages. A `ttl_s` of 0 disables it. `now` returns monotonic seconds."""

    def __init__(self, ttl_s: float, now: Callable[[], float]) -> None:
        self._ttl_s = ttl_s
        self._now = now
        self._versions: dict[str, int] = {}
        # Least recently used first.
        self._kept: OrderedDict[PageKey, _CachedPage] = OrderedDict()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._kept)

    def written(self, channel_id: str) -> None:
        """Invalidate the channel's pages."""
        self._versions[channel_id] = self._versions.get(channel_id, 0) + 1

    async def page(self, wanted: PageKey, read: Callable[[], Awaitable[HistoryPage]]) -> HistoryPage:
        """Return the cached page, or read it with `read`."""
        version = self._versions.get(wanted.channel_id, 0)
        cached = self._kept.get(wanted)
        if cached is not None and cached.version == version and self._now() < cached.until:
            self._kept.move_to_end(wanted)
            return cached.page
        self._drop(wanted)
        page = await read()
        if self._versions.get(wanted.channel_id, 0) == version:
            self._keep(wanted, page, version)
        return page

    def _keep(self, wanted: PageKey, page: HistoryPage, version: int) -> None:
        if self._ttl_s <= 0:
            return
        self._drop(wanted)  # Another request may have cached the same page.
        characters = sum(_weight(message) for message in page.messages)
        self._kept[wanted] = _CachedPage(page, version, self._now() + self._ttl_s, characters)
        self._characters += characters
        while len(self._kept) > MAX_PAGES or self._characters > MAX_CHARACTERS:
            self._drop(next(iter(self._kept)))

    def _drop(self, wanted: PageKey) -> None:
        if (cached := self._kept.pop(wanted, None)) is not None:
            self._characters -= cached.characters


def _weight(message: Message) -> int:
    reactions = sum(len(member_ids) for member_ids in message.reactions.values())
    hanging = len(message.cards) + len(message.attachments) + len(message.previews)
    return len(message.text) + _MESSAGE_CHARACTERS * (1 + hanging) + 100 * reactions
