"""Creates link previews: short descriptions of the first links in a member's message.

Each link is fetched once, by the guarded fetcher, after the message is posted, so nobody waits for it. Images
are handled like those in webhook messages. The sandbox parses a page's `<head>`. Its content is untrusted and
is not treated as markup. A message has no previews if its author writes `<https://…>`, sends `previews:
false` or removes the previews, or if the owner or the operator has disabled them. This module contains
neither HTTP nor SQL code.
"""

import asyncio
import logging
import re
import time
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from svc.base.emoji import INVISIBLE_PARTS
from svc.base.fair_shares import FairQueue
from svc.base.page_head import MAX_BYTES
from svc.base.pictures import kind_of
from svc.base.sandbox import Limits, Refused, Sandbox, SandboxFailed, as_file
from svc.base.token_bucket import TokenBuckets
from svc.chat.errors import ChatError
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.markdown import links_of
from svc.chat.messages.message import MEMBER, Message
from svc.chat.outbound_http.address_checks import FetchError, target
from svc.chat.outbound_http.fetcher import FetchedFile, Fetcher
from svc.chat.webhooks.limits import MAX_PICTURE_BYTES
from svc.chat.webhooks.payload import WantedPicture
from svc.chat.webhooks.pictures import Pictures

MAX_TITLE = 256
MAX_DESCRIPTION = 500
MAX_URL = 2_048
# The timeout for fetching a page, from the DNS look-up to the last byte. A later preview would move messages
# that members are reading.
PAGE_DEADLINE_S = 8.0
# The timeout for parsing a page's head in the sandbox. This usually takes about 10 ms, but hostile pages can
# slow the parser down.
PARSE_DEADLINE_S = 2.0
PARSE_MEMORY_BYTES = 64 * 1024 * 1024
# The maximum number of page heads parsed at the same time. One member's links can use two of these slots,
# which leaves one for others.
PARSING_PLACES = 3
# The maximum number of messages whose links are fetched at the same time. Messages beyond this number get no
# previews.
MAX_AT_ONCE = 32
# The rate limit for a member's messages with links, as a burst and a long-term rate per second.
BURST, PER_S = 10, 0.2
MAX_MEMBERS = 10_000
# The maximum number of cached previews, and how long previews and failures are cached, so that a popular link
# is fetched only once.
MAX_CACHED = 1_000
CACHED_S, FAILED_S = 3600.0, 300.0

_RESULT_BYTES = 64 * 1024
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SPACE = re.compile(r"\s+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
# Invisible characters that are kept: parts of emoji, and the joiners that some scripts need.
_INVISIBLE_PARTS = INVISIBLE_PARTS | {"\u200c"}


@dataclass(frozen=True, slots=True)
class PageSummary:
    """The summary of a page. `image` is the URL of the page's image, which the server fetches."""

    title: str = ""
    description: str = ""
    image: str = ""


def head_sandbox() -> Sandbox:
    return Sandbox("svc.base.page_head", at_once=PARSING_PLACES, broken="invalid_page")


def is_page(fetched: FetchedFile) -> bool:
    return fetched.content_type in _HTML_TYPES


async def page_summary(page: FetchedFile, sandbox: Sandbox) -> PageSummary | None:
    """Return the summary of a page, or None if the page has no title, description or image, or cannot be
    read. Raises SandboxFailed.
    """
    limits = Limits(
        memory_bytes=PARSE_MEMORY_BYTES,
        deadline_s=PARSE_DEADLINE_S,
        cpu_s=int(PARSE_DEADLINE_S) + 1,
        result_bytes=_RESULT_BYTES,
    )
    try:
        async with as_file(page.data[:MAX_BYTES]) as file:
            result = await sandbox.call("read", {"charset": page.charset}, [file], limits)
    except Refused:
        return None
    facts = result.facts
    image = _address(page.url, facts)
    title = plain(facts.get("title"), MAX_TITLE)
    description = plain(facts.get("description"), MAX_DESCRIPTION)
    if not (title or description or image):
        return None
    return PageSummary(title, description, image)


def plain(value: object, maximum: int) -> str:
    """Return the text on one line, without invisible or bidirectional control characters."""
    if not isinstance(value, str):
        return ""
    spaced = _SPACE.sub(" ", value)
    seen = "".join(c for c in spaced if c in _INVISIBLE_PARTS or unicodedata.category(c) not in _UNSEEN)
    text = " ".join(seen.split())
    return text if len(text) <= maximum else text[: maximum - 1].rstrip() + "…"


def _address(page: str, facts: Mapping[str, object]) -> str:
    """Return the URL of the page's image. The fetcher decides whether it may be fetched."""
    try:
        address = urljoin(page, str(facts.get("image", "")).strip()) if facts.get("image") else ""
    except ValueError:
        return ""
    return address if len(address) <= MAX_URL and address.startswith(("http://", "https://")) else ""


logger = logging.getLogger(__name__)

Preview = Mapping[str, object]


class Previews:
    """The service that fetches and stores link previews. `enabled` returns whether previews are on."""

    def __init__(
        self,
        messages: MessagesFeature,
        fetcher: Fetcher,
        pictures: Pictures,
        outcomes: Counter[tuple[str, ...]],
        *,
        enabled: Callable[[], bool],
    ) -> None:
        self._database, self._marking = messages.database, messages.marking
        self._moderate_text = messages.messages.moderate_text
        self._fetcher = fetcher
        self._pictures = pictures
        self._sandbox = head_sandbox()
        self._outcomes = outcomes
        self._enabled = enabled
        self._buckets = TokenBuckets(BURST, PER_S, MAX_MEMBERS)
        self._parsing = FairQueue(PARSING_PLACES)
        self._at_once = 0
        # The preview of each URL and its expiry, ordered by last use.
        self._cached: OrderedDict[str, tuple[Preview | None, float]] = OrderedDict()
        self._tasks: asyncio.TaskGroup | None = None

    async def close(self) -> None:
        """Close the sandbox when the server stops."""
        await self._sandbox.close()

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as self._tasks:
                await asyncio.Event().wait()  # Runs until the server stops.
        finally:
            self._tasks = None

    def posted(self, message: Message) -> None:
        """Fetch previews for a message that was posted or edited."""
        if not self._enabled() or message.author.kind != MEMBER or message.no_previews:
            return
        links = links_of(message.text)
        if not links and not message.previews:
            return
        if self._tasks is None or self._at_once >= MAX_AT_ONCE:
            self._count("busy")
        elif links and self._buckets.of(message.author.id).take_if_left(time.monotonic()):
            self._count("rate_limited")
        else:
            self._at_once += 1
            self._tasks.create_task(self._show(message, links))

    async def _show(self, message: Message, links: Sequence[str]) -> None:
        try:
            holder = f"previews of {message.author.id}"
            loaded = await asyncio.gather(*(self._preview(link, holder) for link in links))
            previews = [preview for preview in loaded if preview is not None]
            if previews or message.previews:
                await self._database.write(
                    lambda connection: self._marking.show_previews(connection, message, previews),
                    self._marking.previews_changed,
                )
        except Exception:
            logger.exception("making link previews failed", extra={"channel": message.channel_id})
        finally:
            self._at_once -= 1

    async def _preview(self, link: str, holder: str) -> Preview | None:
        now = time.monotonic()
        known, until = self._cached.get(link, (None, 0.0))
        if now < until:
            self._cached.move_to_end(link)
            self._count("cached")
            return known
        preview = await self._fetch(link, holder)
        self._cached[link] = preview, now + (FAILED_S if preview is None else CACHED_S)
        self._cached.move_to_end(link)
        while len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
        return preview

    async def _fetch(self, link: str, holder: str) -> Preview | None:
        deadline = asyncio.get_running_loop().time() + PAGE_DEADLINE_S
        try:
            page = await self._fetcher.begin(link, max_bytes=MAX_BYTES, deadline=deadline, holder=holder)
            preview = await self._describe(link, page, holder)
        except FetchError as refusal:
            self._count(refusal.code)
            return None
        except SandboxFailed as fault:
            logger.warning("pages cannot be fetched", extra={"fault": str(fault)})
            self._count("not_read")
            return None
        except ChatError:
            self._count("refused")
            return None
        self._count("ok" if preview else "nothing")
        return preview

    async def _describe(self, link: str, page: FetchedFile, holder: str) -> Preview | None:
        if kind_of(page.data) is not None:
            short: PageSummary | None = PageSummary(image=link)
        elif is_page(page):
            async with self._parsing.turn(holder):
                short = await page_summary(page, self._sandbox)
        else:
            short = None
        if short is None:
            return None
        words = {"title": short.title, "description": short.description}
        # Show the host of the link itself, because that is where a click leads. A page can claim any site
        # name, and can redirect this server and readers to different sites.
        shown: dict[str, object] = {
            "url": link,
            "site": target(link).raw_host or "",
            **{name: self._moderate_text(text) for name, text in words.items() if text},
        }
        if short.image:
            wanted = WantedPicture("image", short.image, MAX_PICTURE_BYTES)
            # If the link is itself an image, it has already been fetched, unless it was truncated.
            at_hand = {link: page.data} if short.image == link and len(page.data) < MAX_BYTES else {}
            shown |= (await self._pictures.collect([wanted], holder, at_hand)).pictures
        return shown if shown.keys() - {"url", "site"} else None

    def _count(self, outcome: str) -> None:
        self._outcomes[(outcome,)] += 1
