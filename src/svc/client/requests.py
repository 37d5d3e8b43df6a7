"""Sends HTTP requests with timeouts and retries, and obeys rate limits.

Contains no endpoints. After a 429, all requests wait for the time in `Retry-After`. A request without a
response is retried only if it is repeatable.
"""

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, FormData

from svc.base.backoff import Backoff

# The timeouts for one attempt. The second is long enough for a file of 256 MiB at 4 Mbit/s.
DEADLINE_S, UPLOAD_DEADLINE_S = 30.0, 600.0
# The longest time that a request waits in total, for the rate limit or for the server to come back, before it
# fails.
PATIENCE_S = 120.0
FIRST_WAIT_S, MAX_WAIT_S = 0.25, 8.0
# The maximum size of a response: many times the size of the largest page of history.
MAX_ANSWER_BYTES = 16 * 1024 * 1024


class Refused(Exception):
    """The server rejected a request. `/reference` on the server lists the values of `code`."""

    def __init__(
        self, code: str, message: str = "", *, status: int = 0, retry_after_s: float | None = None
    ) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.status = status
        # How long to wait before repeating the request. None if the server gave no time.
        self.retry_after_s = retry_after_s


class Unreachable(Exception):
    """The server could not be reached, or did not respond in time."""


class Requests:
    """Sends requests to the server at `http`'s base URL."""

    def __init__(self, http: ClientSession, token: str) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {token}"}
        self._not_before = 0.0

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        repeatable: bool,
        query: Mapping[str, str | int] | None = None,
        form: Callable[[], FormData] | None = None,
    ) -> Any:
        """Send a request.

        Return the response's JSON, or None if it has no body. Raises Refused or Unreachable.
        """
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + PATIENCE_S
        waits = Backoff(FIRST_WAIT_S, MAX_WAIT_S, jitter=random.random)
        while True:
            problem: Refused | Unreachable
            await asyncio.sleep(self._not_before - loop.time())
            try:
                return await self._attempt(method, path, body, query, form() if form else None)
            except Refused as refused:
                problem, wait_s = refused, refused.retry_after_s
                if refused.code == "rate_limited" and wait_s is not None:
                    self._not_before = loop.time() + wait_s
                if wait_s is None and not (repeatable and refused.status >= 500):
                    raise
            except (ClientError, OSError, TimeoutError) as error:
                problem, wait_s = Unreachable(f"{method} {path}: {error or type(error).__name__}"), None
                if not repeatable:
                    raise problem from error
            if wait_s is None:
                wait_s = waits.next_delay()
            if loop.time() + wait_s > give_up_at:
                raise problem
            await asyncio.sleep(wait_s)

    async def _attempt(
        self,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, str | int] | None,
        form: FormData | None,
    ) -> Any:
        sent: dict[str, Any] = {"data": form} if form else {} if body is None else {"json": body}
        timeout = ClientTimeout(total=UPLOAD_DEADLINE_S if form else DEADLINE_S)
        request = self._http.request(
            method,
            path,
            params=query,
            headers=self._headers,
            timeout=timeout,
            # The token must be sent only to this server.
            allow_redirects=False,
            **sent,
        )
        async with request as response:
            answer = _parse_body(await _body(response))
            if response.status < 300:
                return answer
            raise _refusal(response, answer)


async def _body(response: ClientResponse) -> bytes:
    held = bytearray()
    async for piece in response.content.iter_any():
        held += piece
        if len(held) > MAX_ANSWER_BYTES:
            raise Unreachable("the response is larger than any that the server sends")
    return bytes(held)


def _parse_body(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:  # The body is missing, or is a proxy's error page.
        return None


def _refusal(response: ClientResponse, answer: object) -> Refused:
    body = answer if isinstance(answer, Mapping) else {}
    header = response.headers.get("Retry-After", "")
    wait_s = float(header) if header.isdecimal() else None
    if isinstance(wait_ms := body.get("retry_after_ms"), int):
        wait_s = wait_ms / 1000
    code, message = body.get("error", f"http_{response.status}"), body.get("message", response.reason)
    # A response about a pending approval also states a time, but a bot does not wait for approval.
    retry_after_s = wait_s if response.status in (429, 503) else None
    return Refused(str(code), str(message or ""), status=response.status, retry_after_s=retry_after_s)
