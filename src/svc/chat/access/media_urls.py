"""Addresses of stored media on this server: signed, and good for some hours.

Whoever was shown a message may load its pictures for that long, and nobody else may guess
one. The moment at which an address ends is rounded, so that for hours everybody is given the
same one and browsers find what they have already. Asks nobody and stores nothing: whether
there is anything under a key is for `media` to say. Floor of chat.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass

from svc.chat.errors import ChatError

# An address is good for one to two of these.
PERIOD_S = 6 * 3600
PREFIX = "uploads/"
# By so much a clock is set back now and then. What ends later was issued by one that was wrong.
CLOCK_SLACK_S = 60
_PATH = "/media/"
_SIGNATURE_BYTES = 16
_MAX_DIGITS = 12
# What holds no key; most parts of a card are such.
_PLAIN = (str, int, float, type(None))


class MediaUrls:
    """`now` gives seconds since 1970. The key is made of the server's secret, for this use alone."""

    def __init__(self, secret: str, now: Callable[[], float]) -> None:
        self._key = hmac.digest(secret.encode(), b"addresses of media", hashlib.sha256)
        self._now = now

    def url(self, key: str) -> str:
        """Where a member's browser loads what is stored under a key."""
        ends = (int(self._now()) // PERIOD_S + 2) * PERIOD_S
        name = key.removeprefix(PREFIX)
        return f"{_PATH}{name}?ends={ends}&signature={self._signature(name, ends)}"

    def remaining_s(self, name: str, ends: str, signature: str) -> int:
        """For how long an address is still good that somebody has asked for. Raises ChatError."""
        if not (ends.isascii() and ends.isdecimal() and len(ends) <= _MAX_DIGITS):
            raise ChatError("media_address_invalid")
        expected = self._signature(name, int(ends))
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            raise ChatError("media_address_invalid")
        left = int(ends) - int(self._now())
        if not 0 < left <= 2 * PERIOD_S + CLOCK_SLACK_S:
            raise ChatError("media_address_over")
        return left

    def shown(self, value: object) -> object:
        """What clients see of something that is stored: wherever a `key` is, there is a `url` too."""
        match value:
            # Not any mapping: this is asked of every part of every card that is shown.
            case dict():
                seen = {
                    name: part if isinstance(part, _PLAIN) else self.shown(part)
                    for name, part in value.items()
                }
                key = seen.get("key")
                if isinstance(key, str) and key.startswith(PREFIX):
                    seen["url"] = self.url(key)
                return seen
            case list() | tuple():
                return [self.shown(part) for part in value]
        return value

    def link(self, key: str) -> "MediaLink":
        return MediaLink(key, self)

    def _signature(self, name: str, ends: int) -> str:
        digest = hmac.digest(self._key, f"{name}\n{ends}".encode("utf-8", "replace"), hashlib.sha256)
        return urlsafe_b64encode(digest[:_SIGNATURE_BYTES]).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class MediaLink:
    """What is stored under a key, and its address whenever one is wanted."""

    key: str
    urls: MediaUrls

    def url(self) -> str:
        return self.urls.url(self.key)
