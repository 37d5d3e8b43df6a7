"""The guarded fetcher: one file from an address that a stranger wrote, or why there is none.

Follows redirects by hand, judging each as if it were the first; sends no cookies, no credentials
and no headers of anybody's; uses no proxy, whatever the environment says. Counts the bytes as
they are after decompression. Looks at none of them. docs/webhooks.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

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

from svc.base.shares import Turns
from svc.chat.fetching.connecting import Guard, Inside, LookUp
from svc.chat.fetching.targets import MAX_REDIRECTS, NotFetched, redirected, target

# Shared by those for whom it is fetched: with hosts that never answer, nobody takes more than half.
AT_ONCE = 96
REDIRECTS = (301, 302, 303, 307, 308)
# Pictures are compressed already. Some hosts compress all the same, in ways that need no
# library that may or may not be there.
UNCOMPRESSED = ("", "identity")
ENCODINGS = (*UNCOMPRESSED, "gzip", "deflate")
HEADERS = {"User-Agent": "svc-server (fetches what messages show)", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file, the address that it came from in the end, and what its host says that it is."""

    data: bytes = field(repr=False)
    url: str
    content_type: str
    charset: str


class Fetcher:
    """`guard` judges where it may go."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._turns = Turns(AT_ONCE)

    async def fetch(
        self, address: str, *, max_bytes: int, deadline: float, count: Callable[[int], None], holder: str = ""
    ) -> bytes:
        """The file at `address`, fetched for `holder`. Raises NotFetched.

        `deadline` is a time of the running loop's clock. `count` is told of bytes before they are kept,
        and may raise NotFetched too.
        """
        return (await self._fetch(address, _Bounds(max_bytes, count), deadline, holder)).data

    async def begin(self, address: str, *, max_bytes: int, deadline: float, holder: str = "") -> Fetched:
        """As `fetch`, but of what is longer only the beginning."""
        return await self._fetch(address, _Bounds(max_bytes, lambda size: None, cut=True), deadline, holder)

    async def _fetch(self, address: str, bounds: "_Bounds", deadline: float, holder: str) -> Fetched:
        async with asking(self._turns, holder, deadline, "It was not downloaded in time") as looking:
            return await self._follow(target(address), bounds, looking)

    async def _follow(self, url: URL, bounds: "_Bounds", looking: list[LookUp]) -> Fetched:
        session = ClientSession(
            connector=self._guard.connector(looking),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None, sock_connect=None),
            headers=HEADERS,
            trust_env=False,
        )
        async with session:
            for _ in range(MAX_REDIRECTS + 1):
                async with session.get(url, allow_redirects=False) as response:
                    if response.status not in REDIRECTS:
                        body = await _body(response, bounds)
                        return Fetched(body, str(url), response.content_type, response.charset or "")
                    url = redirected(url, _location(response))
        raise NotFetched("blocked", f"It redirects more than {MAX_REDIRECTS} times")


@asynccontextmanager
async def asking(turns: Turns, holder: str, deadline: float, late: str) -> AsyncIterator[list[LookUp]]:
    """Around what is asked of a stranger's host, in the holder's turn: its faults are NotFetched.

    Yields where look-ups that are made for it are to be noted; `late` says what was not done in time.
    """
    try:
        async with asyncio.timeout_at(deadline):
            await turns.take(holder)
            looking: list[LookUp] = []
            try:
                yield looking
            finally:
                _give_back(turns, holder, looking)
    except TimeoutError:
        raise NotFetched("timeout", late) from None
    except (ClientError, OSError, ValueError) as fault:
        if isinstance(fault, ClientConnectorError) and isinstance(fault.os_error, Inside):
            raise NotFetched("blocked", str(fault.os_error)) from None
        raise NotFetched("fetch_failed", f"Its host cannot be asked ({type(fault).__name__})") from None


def _give_back(turns: Turns, holder: str, looking: Sequence[LookUp]) -> None:
    """Give a place back. A look-up cannot be called off: its thread is the holder's until it ends."""
    unfinished = [look_up for look_up in looking if not look_up.done()]
    if not unfinished:
        turns.give_back(holder)
        return
    loop = asyncio.get_running_loop()

    def ended(_: object) -> None:
        with suppress(RuntimeError):  # The server has stopped meanwhile.
            loop.call_soon_threadsafe(turns.give_back, holder)

    # They run one after the other.
    unfinished[-1].add_done_callback(ended)


def _location(response: ClientResponse) -> str:
    location = response.headers.get(LOCATION)
    if not location:
        raise NotFetched("fetch_failed", "Its host redirects to nowhere")
    return location


@dataclass(frozen=True, slots=True)
class _Bounds:
    max_bytes: int
    count: Callable[[int], None]
    # Whether the beginning will do.
    cut: bool = False


async def _body(response: ClientResponse, bounds: _Bounds) -> bytes:
    if response.status != 200:
        raise NotFetched("fetch_failed", f"Its host answers {response.status}")
    encoding = response.headers.get(CONTENT_ENCODING, "").lower()
    if encoding not in ENCODINGS:
        raise NotFetched("fetch_failed", "Its host compresses it in a way that was not asked for")
    too_large = NotFetched("too_large", f"It is larger than {bounds.max_bytes:,} bytes")
    # What is compressed may have another length than it says.
    if not bounds.cut and encoding in UNCOMPRESSED and (response.content_length or 0) > bounds.max_bytes:
        raise too_large
    body = bytearray()
    try:
        async for piece in response.content.iter_any():
            if len(body) + len(piece) > bounds.max_bytes:
                if bounds.cut:
                    return bytes(body + piece[: bounds.max_bytes - len(body)])
                raise too_large
            bounds.count(len(piece))
            body += piece
        return bytes(body)
    finally:
        # Tracebacks keep it for longer than anybody wants it.
        body.clear()
