"""Checks that the TURN server in `deploy` relays only for members and only to the SFU."""

import asyncio
import ssl
import time
from pathlib import Path
from typing import Any, cast

import pytest
from aioice.stun import TransactionFailed
from aioice.turn import create_turn_endpoint

from svc.base.turn_server import TurnServer
from tests.kit.coturn import PORT, SECRET, SFU, TLS_PORT, TURN, WITHIN_S, coturn
from tests.kit.external_programs import required
from tests.kit.namespace import in_namespace

ELSEWHERE = "203.0.113.3"
MEDIA_PORT = 3478


class Mirror(asyncio.DatagramProtocol):
    """A stand-in for the SFU that echoes every datagram."""

    transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(b"back: " + data, addr)


class Member(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.received: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.received.put_nowait(data)


async def allocated(
    name: str, password: str, transport: str = "udp", tls: ssl.SSLContext | None = None
) -> tuple[Any, Member]:
    """Allocate a relayed address for a member who connects to coturn over the given transport."""
    server = (TURN, TLS_PORT if tls else PORT)
    async with asyncio.timeout(WITHIN_S):
        return await create_turn_endpoint(Member, server, name, password, ssl=tls, transport=transport)


def test_only_members_can_send_to_the_sfu_over_udp_tcp_and_tls(tmp_path: Path) -> None:
    required("turnserver")

    async def body() -> None:
        credentials = TurnServer([f"turn:{TURN}"], SECRET).ice_server("ada", time.time())
        name, password = str(credentials["username"]), str(credentials["credential"])
        loop = asyncio.get_running_loop()
        mirror, _ = await loop.create_datagram_endpoint(Mirror, (SFU, MEDIA_PORT))
        async with coturn(tmp_path) as trusting:
            for transport, tls in (("udp", None), ("tcp", None), ("tcp", trusting)):
                relay, member = await allocated(name, password, transport, tls)
                assert relay.get_extra_info("sockname")[0] == TURN
                relay.sendto(b"hello", (SFU, MEDIA_PORT))
                async with asyncio.timeout(WITHIN_S):
                    assert await member.received.get() == b"back: hello"
                inner = relay._TurnTransport__inner_protocol
                for forbidden in (ELSEWHERE, TURN, "127.0.0.1", "10.0.0.1"):
                    with pytest.raises(TransactionFailed) as refused:
                        await inner.send_data(b"hello", (forbidden, MEDIA_PORT))
                    assert refused.value.response.attributes["ERROR-CODE"][0] == 403
                relay.close()
            # One credential has expired, and the other is made up.
            old = TurnServer([], SECRET).ice_server("ada", time.time() - 26 * 3600)
            for wrong in ((old["username"], old["credential"]), (name, "made up")):
                with pytest.raises(TransactionFailed) as refused:
                    await allocated(str(wrong[0]), str(wrong[1]))
                assert refused.value.response.attributes["ERROR-CODE"][0] == 401

            mirror.close()

    in_namespace(body, [f"{address}/32" for address in (SFU, TURN, ELSEWHERE)], {})
