"""Determines whether another node may have replaced an owner node that cannot renew its lease.

To take the lease, a node needs a majority of the NATS servers. A server that is down cannot be part of that
majority, and neither can a server that responds to this node but has no quorum. A server that this node
cannot reach may be part of it. This module does not act on the result.
"""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.errors import Error as NatsError

_ANSWER_S = 1
_DEFAULT_PORT = 4222


async def can_be_replaced(client: Client, urls: Sequence[str], replicas: int) -> bool:
    """Return whether the NATS servers that this node cannot reach may form a majority.

    Call this when the connected server has rejected a renewal because it has no quorum.
    """
    count = max(len(urls), replicas)
    in_sight = sum(await asyncio.gather(_responds(client), *map(_is_down, urls)))
    return count - in_sight >= count // 2 + 1


async def _responds(client: Client) -> bool:
    try:
        await client.flush(timeout=_ANSWER_S)
    except (NatsError, TimeoutError, OSError):
        return False
    return True


async def _is_down(url: str) -> bool:
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(_ANSWER_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or _DEFAULT_PORT)
    except ConnectionRefusedError:
        return True
    except (OSError, TimeoutError):
        return False
    writer.close()
    return False
