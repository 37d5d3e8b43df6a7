"""The guarded fetcher: one file from an address that a stranger wrote, or why there is none.

Follows redirects by hand, judging each as if it were the first; sends no cookies, no credentials
and no headers of anybody's; uses no proxy, whatever the environment says. Counts the bytes as
they are after decompression. Looks at none of them. Spec: chat document sections 7.3 and 8.1.
"""

import asyncio
from collections.abc import Callable

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
)
from aiohttp.hdrs import CONTENT_ENCODING, LOCATION
from yarl import URL

from svc.chat.fetching.connecting import Guard, Inside
from svc.chat.fetching.targets import MAX_REDIRECTS, NotFetched, redirected, target

# One webhook that posts as fast as it may, to hosts that never answer, takes less than all of these:
# 15 messages at 6 files each.
AT_ONCE = 96
REDIRECTS = (301, 302, 303, 307, 308)
# Pictures are compressed already. Some hosts compress all the same, in ways that need no
# library that may or may not be there.
UNCOMPRESSED = ("", "identity")
ENCODINGS = (*UNCOMPRESSED, "gzip", "deflate")
HEADERS = {"User-Agent": "svc-server (fetches what messages show)", "Accept-Encoding": "identity"}


class Fetcher:
    """`guard` judges where it may go."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def fetch(
        self, address: str, *, max_bytes: int, deadline: float, count: Callable[[int], None]
    ) -> bytes:
        """The file at `address`. Raises NotFetched.

        `deadline` is a time of the running loop's clock. `count` is told of bytes before they are kept,
        and may raise NotFetched too.
        """
        try:
            async with asyncio.timeout_at(deadline), self._turns:
                return await self._follow(target(address), max_bytes, count)
        except TimeoutError:
            raise NotFetched("timeout", "It was not downloaded in time") from None
        except (ClientError, OSError, ValueError) as fault:
            if isinstance(fault, ClientConnectorError) and isinstance(fault.os_error, Inside):
                raise NotFetched("blocked", str(fault.os_error)) from None
            raise NotFetched("fetch_failed", f"Its host cannot be asked ({type(fault).__name__})") from None

    async def _follow(self, url: URL, max_bytes: int, count: Callable[[int], None]) -> bytes:
        session = ClientSession(
            connector=self._guard.connector(),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None, sock_connect=None),
            headers=HEADERS,
            trust_env=False,
        )
        async with session:
            for _ in range(MAX_REDIRECTS + 1):
                async with session.get(url, allow_redirects=False) as response:
                    if response.status not in REDIRECTS:
                        return await _body(response, max_bytes, count)
                    url = redirected(url, _location(response))
        raise NotFetched("blocked", f"It redirects more than {MAX_REDIRECTS} times")


def _location(response: ClientResponse) -> str:
    location = response.headers.get(LOCATION)
    if not location:
        raise NotFetched("fetch_failed", "Its host redirects to nowhere")
    return location


async def _body(response: ClientResponse, max_bytes: int, count: Callable[[int], None]) -> bytes:
    if response.status != 200:
        raise NotFetched("fetch_failed", f"Its host answers {response.status}")
    encoding = response.headers.get(CONTENT_ENCODING, "").lower()
    if encoding not in ENCODINGS:
        raise NotFetched("fetch_failed", "Its host compresses it in a way that was not asked for")
    too_large = NotFetched("too_large", f"It is larger than {max_bytes:,} bytes")
    # What is compressed may have another length than it says.
    if encoding in UNCOMPRESSED and (response.content_length or 0) > max_bytes:
        raise too_large
    body = bytearray()
    try:
        async for piece in response.content.iter_any():
            if len(body) + len(piece) > max_bytes:
                raise too_large
            count(len(piece))
            body += piece
        return bytes(body)
    finally:
        # Tracebacks keep it for longer than anybody wants it.
        body.clear()
