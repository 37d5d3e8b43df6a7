"""Opens and closes connections to the NATS servers of a cluster, and logs their outages.

Connections reconnect automatically. An outage is logged when it begins, then once a minute, and when it ends.
The loss of one server is logged once.
This module is independent of subjects and streams.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import UnexpectedEOF
from nats.js.errors import APIError, ServiceUnavailableError

from svc.base.logs import Outage

_ATTEMPT_S = 2.0
_PAUSE_S = 0.1
_CONNECT_S = 5.0
_CLOSE_S = 2.0
# How long to wait during startup while NATS is slow or electing a leader.
START_S = 30.0
# A connection finds another available server within this time, so shorter outages are not logged.
_QUIET_S = 1.0
_MAX_FAULTS = 100

logger = logging.getLogger(__name__)

T = TypeVar("T")


class ClusterError(Exception):
    """The cluster cannot be used. The message tells the operator why."""


class NatsSlow(ClusterError):
    """NATS did not respond in time. It may respond later."""


def fault_of(what: str, fault: Exception) -> ClusterError:
    """Return the error for a failed request: ClusterError if NATS rejected it, otherwise NatsSlow."""
    if isinstance(fault, APIError) and not isinstance(fault, ServiceUnavailableError):
        return ClusterError(f"{what}: {fault.description or type(fault).__name__}")
    return NatsSlow(f"{what}: {type(fault).__name__}")


def retry_at_start(ask: Callable[[], T], is_given_up: Callable[[], bool] = lambda: False) -> T:
    """Repeat a request during startup while NATS is slow. Raises ClusterError."""
    give_up_at = time.monotonic() + START_S
    outage = _outage_at_start()
    while True:
        try:
            return ask()
        except NatsSlow as fault:
            if time.monotonic() > give_up_at or is_given_up():
                raise
            outage.failed(str(fault))
            time.sleep(_PAUSE_S)


async def connect(servers: Sequence[str], *, reports: bool = True) -> Client:
    """Return a connection that reconnects automatically. Raises ClusterError.

    If all servers refuse the connection, the URL is probably wrong, so there is no retry. Slow servers get
    more time. If `reports` is False, nothing is logged, because another connection to the same servers logs
    outages.
    """
    give_up_at = time.monotonic() + START_S
    outage = _outage_at_start()
    while True:
        faults: list[Exception] = []
        try:
            return await _connect(servers, faults, reports)
        except ClusterError as fault:
            are_slow = not faults or any(isinstance(fault, TimeoutError) for fault in faults)
            if not are_slow or time.monotonic() > give_up_at:
                raise
            if reports:
                outage.failed(str(fault))


async def flush(client: Client) -> None:
    """Wait until the servers have received all subscriptions. Raises ClusterError."""
    give_up_at = time.monotonic() + START_S
    outage = _outage_at_start()
    while True:
        try:
            # The response is lost if the client reconnects, so the request is repeated.
            await client.flush(timeout=int(_ATTEMPT_S))
        except (NatsError, TimeoutError) as fault:
            if time.monotonic() > give_up_at:
                raise ClusterError(f"NATS does not answer: {type(fault).__name__}") from None
            outage.failed(type(fault).__name__)
            await asyncio.sleep(_PAUSE_S)
        else:
            return


async def disconnect(client: Client) -> None:
    """Close a connection, regardless of the state of NATS. Does not raise network errors."""
    with suppress(NatsError, OSError, TimeoutError):
        await asyncio.wait_for(client.close(), _CLOSE_S)


def _outage_at_start() -> Outage:
    return Outage(logger, "NATS does not answer yet")


async def _connect(servers: Sequence[str], faults: list[Exception], reports: bool) -> Client:
    """Connect, and add the errors that prevent this to `faults`. Raises ClusterError."""
    client = Client()
    outage = Outage(logger, "NATS cannot be reached", "NATS can be reached again", quiet_s=_QUIET_S)
    was_connected = False

    async def note(fault: Exception) -> None:
        if not was_connected:
            faults.append(fault)
            del faults[:-_MAX_FAULTS]
        elif not reports:
            pass
        elif client.is_connected and not isinstance(fault, UnexpectedEOF):
            logger.warning("NATS reported an error", extra={"fault": type(fault).__name__})
        else:
            outage.failed(type(fault).__name__)

    async def reconnected() -> None:
        if reports and not outage.is_logged and client.connected_url:
            server = f"{client.connected_url.hostname}:{client.connected_url.port}"
            logger.warning("Connected to NATS again after losing a server", extra={"server": server})
        outage.ended()

    try:
        # Without this limit, the client would try a wrong URL forever.
        async with asyncio.timeout(_CONNECT_S):
            await client.connect(
                list(servers),
                connect_timeout=2,
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.2,  # type: ignore[arg-type]
                ping_interval=2,
                max_outstanding_pings=2,
                error_cb=note,
                reconnected_cb=reconnected,
            )
            was_connected = True
            return client
    except (NatsError, OSError, TimeoutError) as fault:
        await disconnect(client)
        raise ClusterError(f"NATS cannot be reached ({type(fault).__name__}): check its URL") from None
