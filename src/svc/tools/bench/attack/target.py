"""Defines what the attackers know about the instance, and checks that the instance may be attacked.

Contains plain data, which is passed to the attacker processes as JSON, and functions that build requests as
bytes. Opens no connections.
"""

import asyncio
import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from svc.tools.bench.errors import BenchError

# On loopback, every address in 127.0.0.0/8 is ours. The attackers use these in turn, and the honest members
# use the first.
LOOPBACK_SOURCES = ("127.0.0.1", *(f"127.0.1.{number}" for number in range(1, 16)))


@dataclass(frozen=True, slots=True)
class Target:
    """The attacked instance. A field is empty if the instance lacks the feature or no address was given."""

    address: str  # http://host:port or https://host:port
    sources: tuple[str, ...] = ("",)  # addresses from which attackers connect
    tokens: tuple[str, ...] = field(default=(), repr=False)  # access tokens of the attackers' own accounts
    channel_id: str = ""
    webhook: str = field(default="", repr=False)  # path
    webhooks: tuple[str, ...] = field(default=(), repr=False)  # paths of webhooks that the operator created
    # Each endpoint's most expensive body, as `endpoint: name` in `expensive_bodies`.
    expensive: tuple[str, ...] = ()
    media: str = field(default="", repr=False)  # signed path of a large stored file
    folder: str = ""  # data folder, which contains the control socket
    management: str = ""  # http://host:port
    sfu: str = ""  # http://host:port

    @property
    def live(self) -> str:
        return self.address.replace("http", "ws", 1) + "/live"

    @property
    def tls(self) -> bool:
        return self.address.startswith("https:")

    def request(
        self,
        method: str,
        path: str,
        *,
        token: str = "",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return a request as bytes. The body is JSON unless `headers` state another type."""
        lines = {"Host": urlsplit(self.address).netloc}
        if token:
            lines["Authorization"] = f"Bearer {token}"
        if body is not None:
            lines |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines |= headers or {}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")

    def upgrade(self, path: str) -> bytes:
        """Return the request that opens a WebSocket."""
        key = base64.b64encode(os.urandom(16)).decode()
        headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
        headers |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
        return self.request("GET", path, headers=headers)


async def check_address(address: str, *, mine: bool) -> tuple[str, ...]:
    """Return the addresses from which to attack. Raises BenchError if the instance may belong to someone
    else.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise BenchError(f"{address} is not the address of a server. Use one like http://127.0.0.1:5000")
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(parts.hostname, parts.port or 80)
    except OSError as fault:
        raise BenchError(f"{parts.hostname} cannot be looked up: {fault.strerror}") from None
    addresses = [ip_address(entry[4][0]) for entry in infos]
    if not mine and not all(address_.is_private or address_.is_loopback for address_ in addresses):
        raise BenchError(
            f"{parts.hostname} has a public address. Attack only servers of your own: add --mine if it is"
        )
    ipv4_loopback = all(address_.is_loopback and address_.version == 4 for address_ in addresses)
    return LOOPBACK_SOURCES if ipv4_loopback else ("",)
