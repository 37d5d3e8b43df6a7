"""Decides how a node treats the requests that still reach it after another node has taken over.

Load balancers take a moment to notice the next owner. Until then, requests wait at the former owner for the
next one and are passed on to it. This module does not transfer anything.
"""

import asyncio
import time
from collections.abc import Callable

from svc.chat.cluster.membership import Owner
from svc.chat.cluster.owner_proxy import NO_OWNER, OWNER_WITHIN_S
from svc.chat.errors import ChatError

# GET on this path returns the state of a node for load balancers: 200 if it takes requests, 404 if it still
# passes requests on but should get no new ones, and 503 otherwise.
READY_PATH = "/cluster/ready"
READY, LEAVING, UNAVAILABLE = 200, 404, 503
# How long the former owner still takes requests once there is a next owner, and how long after that it still
# passes requests on. Each is several intervals between two health checks.
_READY_S = 3.0
_LEAVING_S = 3.0
_LOOK_S = 0.1


class Handover:
    """The requests of a former owner. `owner` returns the lease as it was last read."""

    def __init__(self, owner: Callable[[], Owner]) -> None:
        self._owner = owner
        self._epoch = 0
        # When this node stopped serving the community, and when the next owner was first seen after that.
        self._began_at: float | None = None
        self._found_at: float | None = None

    def begin(self, epoch: int) -> None:
        """Pass requests on from now on. `epoch` is the epoch of this node."""
        self._epoch, self._began_at, self._found_at = epoch, time.monotonic(), None

    def end(self) -> None:
        """Refuse requests from now on."""
        self._began_at = None

    @property
    def readiness(self) -> int:
        now = time.monotonic()
        if self._began_at is None:
            return UNAVAILABLE
        if self._found_at is None and self._next_url():
            self._found_at = now
        if self._found_at is None:
            return READY if now - self._began_at < OWNER_WITHIN_S else UNAVAILABLE
        since = now - self._found_at
        return READY if since < _READY_S else LEAVING if since < _READY_S + _LEAVING_S else UNAVAILABLE

    async def next_url(self) -> str:
        """Wait for the next owner and return its URL. Raises ChatError."""
        give_up_at = time.monotonic() + OWNER_WITHIN_S
        while not (url := self._next_url()):
            if time.monotonic() > give_up_at:
                raise ChatError("server_stopping", NO_OWNER)
            await asyncio.sleep(_LOOK_S)
        return url

    def _next_url(self) -> str:
        """Return the URL of the next owner, or "" until it has begun its epoch."""
        owner = self._owner()
        return owner.url if owner.session and owner.epoch > self._epoch else ""
