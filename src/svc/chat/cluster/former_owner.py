"""Handles the requests that still reach a former owner after a handover.

Load balancers take a moment to notice the new owner. In the meantime, the former owner holds requests until
it knows the new owner. `owner_proxy` then passes them on.
"""

import asyncio
import time
from collections.abc import Callable

from aiohttp import ClientError, ClientSession

from svc.chat.cluster.membership import Owner
from svc.chat.cluster.owner_proxy import NO_OWNER, OWNER_WITHIN_S
from svc.chat.errors import ChatError

# The health check for load balancers. Returns 200 if the node accepts requests, 404 if it passes requests on
# but should get no new ones, and 503 otherwise.
READY_PATH = "/cluster/ready"
READY, LEAVING, UNAVAILABLE = 200, 404, 503
# How long a former owner stays ready after the new owner has begun to serve the community, and how long it
# passes requests on after that. Both are several times a load balancer's health-check interval.
_READY_S = 3.0
_LEAVING_S = 3.0
_LOOK_S = 0.1
_ANSWER_S = 1.0


class Handover:
    """The forwarding of requests from a former owner to the new owner. `owner` returns the lease as it was
    last read.
    """

    def __init__(self, owner: Callable[[], Owner], http: ClientSession) -> None:
        self._owner, self._http = owner, http
        # When this node stopped serving the community, and when it first found the new owner serving it.
        self._began_at: float | None = None
        self._found_at: float | None = None
        self._url = ""
        self._finding: asyncio.Task[None] | None = None

    def begin(self, epoch: int) -> None:
        """Start passing requests on. `epoch` is this node's epoch."""
        self.end()
        self._began_at, self._found_at, self._url = time.monotonic(), None, ""
        self._finding = asyncio.create_task(self._find(epoch))

    def end(self) -> None:
        """Stop passing requests on, and reject them."""
        self._began_at = None
        if self._finding is not None:
            self._finding.cancel()
            self._finding = None

    @property
    def readiness(self) -> int:
        now = time.monotonic()
        if self._began_at is None:
            return UNAVAILABLE
        if self._found_at is None:
            return READY if now - self._began_at < OWNER_WITHIN_S else UNAVAILABLE
        since = now - self._found_at
        return READY if since < _READY_S else LEAVING if since < _READY_S + _LEAVING_S else UNAVAILABLE

    async def next_url(self) -> str:
        """Wait until the new owner serves the community and return its URL. Raises ChatError."""
        give_up_at = time.monotonic() + OWNER_WITHIN_S
        while not self._url:
            if time.monotonic() > give_up_at:
                raise ChatError("server_stopping", NO_OWNER)
            await asyncio.sleep(_LOOK_S)
        return self._url

    async def _find(self, epoch: int) -> None:
        """Wait until an owner with a later epoch serves the community."""
        while not self._url:
            owner = self._owner()
            if owner.session and owner.epoch > epoch and await self._serves(owner.url):
                self._url, self._found_at = owner.url, time.monotonic()
            await asyncio.sleep(_LOOK_S)

    async def _serves(self, url: str) -> bool:
        try:
            async with asyncio.timeout(_ANSWER_S), self._http.get(url + READY_PATH) as response:
                return response.status == READY
        except (ClientError, OSError, TimeoutError):
            return False
