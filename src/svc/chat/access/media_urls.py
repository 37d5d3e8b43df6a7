"""Creates and verifies signed URLs for stored media.

A URL is valid for several hours. During that time, anyone who has it can load the object, but nobody can
guess it. Expiry times are rounded, so everybody gets the same URL for hours and browsers can cache the file.
This module stores nothing. `media` checks that an object exists.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from svc.chat.errors import ChatError

# A URL is valid for one to two periods.
PERIOD_S = 6 * 3600
PREFIX = "uploads/"
# The tolerance for clock corrections. A URL that is valid for longer than two periods plus this tolerance was
# issued while the clock was wrong.
CLOCK_SLACK_S = 60
_PATH = "/media/"
_SIGNATURE_BYTES = 16
_MAX_DIGITS = 12
# Types that cannot contain an object's key. Most values in the cards of webhook messages have one of these
# types.
_PLAIN = (str, int, float, type(None))


class MediaUrls:
    """The issuer and verifier of media URLs. `now` returns seconds since 1970. The signing key is derived
    from `secret`.
    """

    def __init__(self, secret: str, now: Callable[[], float]) -> None:
        self._key = hmac.digest(secret.encode(), b"addresses of media", hashlib.sha256)
        self._now = now

    def url(self, key: str) -> str:
        """Return a signed URL for a stored object."""
        ends = (int(self._now()) // PERIOD_S + 2) * PERIOD_S
        name = key.removeprefix(PREFIX)
        return f"{_PATH}{name}?ends={ends}&signature={self._signature(name, ends)}"

    def remaining_s(self, name: str, ends: str, signature: str) -> int:
        """Return the remaining lifetime of a requested URL in seconds. Raises ChatError if the URL is invalid
        or has expired.
        """
        if not (ends.isascii() and ends.isdecimal() and len(ends) <= _MAX_DIGITS):
            raise ChatError("media_address_invalid")
        expected = self._signature(name, int(ends))
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            raise ChatError("media_address_invalid")
        left = int(ends) - int(self._now())
        if not 0 < left <= 2 * PERIOD_S + CLOCK_SLACK_S:
            raise ChatError("media_address_over")
        return left

    def with_urls(self, value: object) -> Any:
        """Return a stored value as clients see it: every object with a `key` also gets a `url`.

        The rest of the value is neither changed nor checked. Its type is declared by the response that
        contains it.
        """
        match value:
            # Matching dict is faster than matching Mapping, and this runs for every part of every card.
            case dict():
                seen = {
                    name: part if isinstance(part, _PLAIN) else self.with_urls(part)
                    for name, part in value.items()
                }
                key = seen.get("key")
                if isinstance(key, str) and key.startswith(PREFIX):
                    seen["url"] = self.url(key)
                return seen
            case list() | tuple():
                return [self.with_urls(part) for part in value]
        return value

    def link(self, key: str) -> "MediaLink":
        return MediaLink(key, self)

    def _signature(self, name: str, ends: int) -> str:
        digest = hmac.digest(self._key, f"{name}\n{ends}".encode("utf-8", "replace"), hashlib.sha256)
        return urlsafe_b64encode(digest[:_SIGNATURE_BYTES]).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class MediaLink:
    """A stored object's key. Generates the object's current URL on demand."""

    key: str
    urls: MediaUrls

    def url(self) -> str:
        return self.urls.url(self.key)
