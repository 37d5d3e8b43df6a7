"""Fetches files from untrusted URLs, and posts to untrusted URLs.

The fetcher follows redirects itself and checks each target like the first URL. It sends no cookies,
credentials or personal headers, and ignores proxies from the environment. It requests an uncompressed body,
rejects a compressed one, and does not interpret the content. The poster sends a few bytes to an https URL
under the same rules. It follows no redirects, and reads only the status and the beginning of an error
response. See docs/webhooks.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
from aiohttp.hdrs import CONTENT_ENCODING, CONTENT_TYPE, LOCATION
from yarl import URL

from svc.base.fair_shares import FairQueue
from svc.chat.http import media_type, parameters
from svc.chat.outbound_http.address_checks import MAX_REDIRECTS, FetchError, redirect_target, target
from svc.chat.outbound_http.connector import AddressGuard, LookUp, PrivateAddress

# The maximum number of simultaneous fetches for all holders. No holder gets more than half of them, even if
# its hosts never respond.
AT_ONCE = 96
REDIRECTS = (301, 302, 303, 307, 308)
# The maximum number of bytes to read from an error response. Push services explain errors in a line of text
# or JSON.
MAX_REASON_BYTES = 512
REASON_DEADLINE_S = 1.0
# Requests uncompressed responses, because a few compressed KB can expand to gigabytes, and aiohttp
# decompresses on the event loop.
IDENTITY = {"Accept-Encoding": "identity"}
HEADERS = {"User-Agent": "svc-server (fetches what messages show)", **IDENTITY}
# The maximum number of headers in a response. Large sites send about forty.
MAX_HEADERS = 64


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A fetched file with its final URL, and its content type and charset as declared by the host."""

    data: bytes = field(repr=False)
    url: str
    content_type: str
    charset: str


class Fetcher:
    """A fetcher for files from untrusted hosts. `guard` decides which IP addresses it may connect to."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._turns = FairQueue(AT_ONCE)

    async def fetch(
        self, address: str, *, max_bytes: int, deadline: float, count: Callable[[int], None], holder: str = ""
    ) -> bytes:
        """Fetch the file at `address` for `holder`. Raises FetchError.

        `deadline` is a time on the event loop's clock. `count` is called with the number of received bytes
        before they are stored, and may raise FetchError.
        """
        return (await self._fetch(address, _Bounds(max_bytes, count), deadline, holder)).data

    async def begin(self, address: str, *, max_bytes: int, deadline: float, holder: str = "") -> FetchedFile:
        """Fetch like `fetch`, but truncate a file that is longer than `max_bytes`."""
        return await self._fetch(address, _Bounds(max_bytes, lambda size: None, cut=True), deadline, holder)

    async def _fetch(self, address: str, bounds: "_Bounds", deadline: float, holder: str) -> FetchedFile:
        async with guarded_lookups(self._turns, holder, deadline, "It was not downloaded in time") as looking:
            return await self._follow(target(address), bounds, looking)

    async def _follow(self, url: URL, bounds: "_Bounds", looking: list[LookUp]) -> FetchedFile:
        async with _session(self._guard.connector(looking), HEADERS) as session:
            for _ in range(MAX_REDIRECTS + 1):
                async with session.get(url, allow_redirects=False) as response:
                    if response.status not in REDIRECTS:
                        body = await _body(response, bounds)
                        described = response.headers.get(CONTENT_TYPE, "")
                        charset = parameters(described).get("charset", "")
                        return FetchedFile(body, str(url), media_type(described), charset)
                    if not (location := response.headers.get(LOCATION)):
                        raise FetchError("fetch_failed", "Its host sends a redirect without an address")
                    url = redirect_target(url, location)
        raise FetchError("blocked", f"It redirects more than {MAX_REDIRECTS} times")


class _NoCookies(DummyCookieJar):
    """A cookie jar that ignores cookies without parsing them. aiohttp's dummy jar parses them first."""

    def update_cookies_from_headers(self, headers: Sequence[str], response_url: URL) -> None:
        pass


def _session(connector: TCPConnector, headers: Mapping[str, str]) -> ClientSession:
    """Create a session that does as little as possible with responses from an untrusted host."""
    return ClientSession(
        connector=connector,
        cookie_jar=_NoCookies(),
        timeout=ClientTimeout(total=None, sock_connect=None),
        headers=headers,
        trust_env=False,
        auto_decompress=False,
        max_headers=MAX_HEADERS,
    )


@asynccontextmanager
async def guarded_lookups(
    turns: FairQueue, holder: str, deadline: float, late: str
) -> AsyncIterator[list[LookUp]]:
    """Wait for the holder's turn in the fair queue, run the block, and convert the request's errors to
    FetchError.

    Yields a list to which the request must add its look-ups. `late` is the error message after the deadline.
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
        raise FetchError("timeout", late) from None
    except (ClientError, OSError, ValueError) as fault:
        if isinstance(fault, ClientConnectorError) and isinstance(fault.os_error, PrivateAddress):
            raise FetchError("blocked", str(fault.os_error)) from None
        raise FetchError("fetch_failed", f"Its host cannot be reached ({type(fault).__name__})") from None


def _give_back(turns: FairQueue, holder: str, looking: Sequence[LookUp]) -> None:
    """Release the holder's slot in `turns`.

    Look-ups cannot be cancelled, so the holder keeps the slot until they end.
    """
    unfinished = [look_up for look_up in looking if not look_up.done()]
    if not unfinished:
        turns.give_back(holder)
        return
    loop = asyncio.get_running_loop()

    def ended(_: object) -> None:
        with suppress(RuntimeError):  # The server has stopped.
            loop.call_soon_threadsafe(turns.give_back, holder)

    # The look-ups run one after another, so the last one in the list ends last.
    unfinished[-1].add_done_callback(ended)


@dataclass(frozen=True, slots=True)
class _Bounds:
    max_bytes: int
    count: Callable[[int], None]
    # Whether a longer file is truncated rather than rejected.
    cut: bool = False


async def _body(response: ClientResponse, bounds: _Bounds) -> bytes:
    if response.status != 200:
        raise FetchError("fetch_failed", f"Its host responded with {response.status}")
    if response.headers.get(CONTENT_ENCODING, "").strip().lower() not in ("", "identity"):
        raise FetchError("fetch_failed", "Its host sent it compressed, which was not requested")
    too_large = FetchError("too_large", f"It is larger than {bounds.max_bytes:,} bytes")
    if not bounds.cut and (response.content_length or 0) > bounds.max_bytes:
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
        # Otherwise, a traceback could keep the body in memory.
        body.clear()


# The maximum number of simultaneous posts for all holders. No holder gets more than half of them, even if its
# hosts never respond.
POSTS_AT_ONCE = 32
# The maximum wait before the next attempt, even if a host requests more.
MAX_RETRY_AFTER_S = 3600


@dataclass(frozen=True, slots=True)
class PostResult:
    status: int
    # The wait before the next attempt in seconds, as requested by the host.
    retry_after_s: int
    # The beginning of the response body if the host rejected the POST.
    body: bytes = field(default=b"", repr=False)


class Poster:
    """A client that posts to untrusted hosts. `guard` decides which IP addresses it may connect to."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._turns = FairQueue(POSTS_AT_ONCE)
        # Origins that are exempt from the rules. Set only by tests, for their servers on loopback.
        self.exempt: set[str] = set()

    def judge(self, address: str) -> URL:
        """Parse and return the URL to post to. Raises FetchError if posting to it is not permitted."""
        if self._is_exempt(address):
            return URL(address)
        url = target(address)
        if url.scheme != "https":
            raise FetchError("blocked", "Notifications are sent only to https addresses")
        return url

    async def post(
        self, address: str, body: bytes, headers: Mapping[str, str], *, within_s: float, holder: str
    ) -> PostResult:
        deadline = asyncio.get_running_loop().time() + within_s
        async with guarded_lookups(self._turns, holder, deadline, "It was not taken in time") as looking:
            return await self._send(self.judge(address), body, headers, looking)

    async def _send(
        self, url: URL, body: bytes, headers: Mapping[str, str], looking: list[LookUp]
    ) -> PostResult:
        connector = TCPConnector() if self._is_exempt(str(url)) else self._guard.connector(looking)
        async with (
            _session(connector, IDENTITY) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            reason = b"" if response.ok else await _first_bytes(response)
            return PostResult(response.status, _seconds(response.headers.get("Retry-After", "")), reason)

    def _is_exempt(self, address: str) -> bool:
        return any(address.startswith(f"{origin}/") for origin in self.exempt)


async def _first_bytes(response: ClientResponse) -> bytes:
    """Return the first bytes of an error response, or `b""` if they do not arrive soon."""
    try:
        async with asyncio.timeout(REASON_DEADLINE_S):
            return await response.content.read(MAX_REASON_BYTES)
    except (TimeoutError, ClientError):
        return b""


def _seconds(text: str) -> int:
    """Parse a Retry-After value. Return 0 for a date, because the host's clock may be wrong."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    return min(int(text), MAX_RETRY_AFTER_S) if is_number else 0
