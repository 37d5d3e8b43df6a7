"""The guarded poster: sends a few bytes to an https address that a stranger gave.

By the rules of the fetcher: nothing inside is reached, no proxy is used. Follows no redirect and
reads no answer beyond its status.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import ClientSession, DummyCookieJar, TCPConnector
from yarl import URL

from svc.base.shares import Turns
from svc.chat.fetching.connecting import Guard, LookUp
from svc.chat.fetching.fetcher import asking
from svc.chat.fetching.targets import NotFetched, target

# Shared by those for whom it is sent: with hosts that never answer, nobody takes more than half.
AT_ONCE = 32
# A host that asks us to wait for longer is asked again after this.
MAX_RETRY_AFTER_S = 3600


@dataclass(frozen=True, slots=True)
class Posted:
    status: int
    # For how long the host asks us to wait.
    retry_after_s: int


class Poster:
    """`guard` judges where it may go."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._turns = Turns(AT_ONCE)
        # Origins to which the rules do not apply: a test's own, on loopback.
        self.exempt: set[str] = set()

    def judge(self, address: str) -> URL:
        """What to ask for. Raises NotFetched."""
        if self._is_exempt(address):
            return URL(address)
        url = target(address)
        if url.scheme != "https":
            raise NotFetched("blocked", "Only https addresses are posted to")
        return url

    async def post(
        self, address: str, body: bytes, headers: Mapping[str, str], *, within_s: float, holder: str
    ) -> Posted:
        """Send it for `holder`. Raises NotFetched."""
        deadline = asyncio.get_running_loop().time() + within_s
        async with asking(self._turns, holder, deadline, "It was not taken in time") as looking:
            return await self._sent(self.judge(address), body, headers, looking)

    async def _sent(self, url: URL, body: bytes, headers: Mapping[str, str], looking: list[LookUp]) -> Posted:
        connector = TCPConnector() if self._is_exempt(str(url)) else self._guard.connector(looking)
        async with (
            ClientSession(connector=connector, cookie_jar=DummyCookieJar(), trust_env=False) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            return Posted(response.status, _seconds(response.headers.get("Retry-After", "")))

    def _is_exempt(self, address: str) -> bool:
        return any(address.startswith(f"{origin}/") for origin in self.exempt)


def _seconds(text: str) -> int:
    """A date counts as none: its clock may be wrong."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    return min(int(text), MAX_RETRY_AFTER_S) if is_number else 0
