"""A web page in short: its head, read in the sandbox, as plain text of a length that can be shown.

Fetches nothing and keeps nothing. What the page says is its own claim; nothing of it is markup here.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from svc.base.page_head import MAX_BYTES
from svc.base.sandbox import Limits, Refused, Sandbox, SandboxFailed, as_file
from svc.chat.fetching.fetcher import Fetched

MAX_TITLE = 256
MAX_DESCRIPTION = 500
MAX_SITE = 128
MAX_URL = 2_048
# From look-up to last byte. Who reads does not wait for it; after that a preview moves what is being read.
PAGE_DEADLINE_S = 8.0
# Of the sandbox's child that reads a head; some 10 ms are usual, and hostile pages make the parser slow.
PARSE_DEADLINE_S = 2.0
PARSE_MEMORY_BYTES = 64 * 1024 * 1024
# Two for a single member, and one is left.
PARSING_PLACES = 3
# Messages whose links are being looked at; beyond it a message has no previews.
MAX_AT_ONCE = 32
# A member's messages with links: so many at once, and one in so many seconds in the long run.
BURST, PER_S = 10, 0.2
MAX_MEMBERS = 10_000
# What many post is fetched once; what fails is tried again sooner.
MAX_CACHED = 1_000
CACHED_S, FAILED_S = 3600.0, 300.0

_RESULT_BYTES = 64 * 1024
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SPACE = re.compile(r"\s+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
# They join emoji, and letters of some scripts.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Short:
    """What is shown of a page; `image` is the address of its picture, for us to fetch."""

    title: str = ""
    description: str = ""
    site: str = ""
    image: str = ""


def head_sandbox() -> Sandbox:
    return Sandbox("svc.base.page_head", at_once=PARSING_PLACES, broken="invalid_page")


def is_page(fetched: Fetched) -> bool:
    return fetched.content_type in _HTML_TYPES


async def in_short(page: Fetched, sandbox: Sandbox) -> Short | None:
    """None for what says nothing of itself, and for what cannot be read. Raises SandboxFailed."""
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
    title, description = (
        plain(facts.get("title"), MAX_TITLE),
        plain(facts.get("description"), MAX_DESCRIPTION),
    )
    if not (title or description or image):
        return None
    site = plain(facts.get("site"), MAX_SITE) or (urlsplit(page.url).hostname or "")[:MAX_SITE]
    return Short(title, description, site, image)


def plain(value: object, most: int) -> str:
    """Words in one line, without what cannot be seen or turns the text around."""
    if not isinstance(value, str):
        return ""
    spaced = _SPACE.sub(" ", value)
    seen = "".join(c for c in spaced if c in _JOINERS or unicodedata.category(c) not in _UNSEEN)
    text = " ".join(seen.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _address(page: str, facts: Mapping[str, object]) -> str:
    """Where the page's picture is; whether it may be fetched, the fetcher says."""
    try:
        address = urljoin(page, str(facts.get("image", "")).strip()) if facts.get("image") else ""
    except ValueError:
        return ""
    return address if len(address) <= MAX_URL and address.startswith(("http://", "https://")) else ""


__all__ = ["SandboxFailed", "Short", "head_sandbox", "in_short", "is_page", "plain"]
