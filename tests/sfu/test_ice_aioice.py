"""The ICE agent connects to a second implementation, aioice's Connection, over loopback."""

import asyncio
import os
import random
from collections.abc import Callable
from typing import cast

import aioice
import pytest
from aioice.stun import Class

from svc.sfu.candidates import Candidate, host_candidates
from svc.sfu.ice import IceAgent, IceCredentials
from svc.sfu.network_path import BindingCheck, Path, Selected
from svc.sfu.stun import read_message, success_response

LOCALHOST = "127.0.0.1"


class LoopbackPeer(asyncio.DatagramProtocol):
    """An agent on a real socket, which responds to checks like the native core."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._timer: asyncio.TimerHandle | None = None
        self.selected: asyncio.Future[Path] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        port = transport.get_extra_info("sockname")[1]
        self.candidates = host_candidates(port=port, interfaces=(LOCALHOST,), bound=(LOCALHOST,))
        self.agent = IceAgent(
            local=IceCredentials.generate(os.urandom),
            local_candidates=self.candidates,
            transaction_id=lambda: os.urandom(12),
            tie_breaker=2**64 - 1,
            random=random.random,
        )

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        path, message = Path(addr[:2], LOCALHOST), read_message(data)
        assert message is not None
        if message.message_class is not Class.REQUEST or "ICE-CONTROLLING" in message.attributes:
            self.call(lambda now: self.agent.stun_received(data, path, now))
            return
        assert message.check_message_integrity(self.agent.local.pwd.encode())
        self._transport.sendto(success_response(message, path, self.agent.local.pwd), addr)
        check = BindingCheck(path, message.attributes["PRIORITY"], "USE-CANDIDATE" in message.attributes)
        self.call(lambda now: self.agent.check_received(check, now))

    def call(self, function: Callable[[float], None]) -> None:
        """Call the agent once. Then send its messages and handle its events."""
        function(self._clock())
        for data, path in self.agent.transmits:
            self._transport.sendto(data, path.remote)
        self.agent.transmits.clear()
        for event in self.agent.events:
            if isinstance(event, Selected):
                self.selected.set_result(event.path)
        self.agent.events.clear()
        if self._timer:
            self._timer.cancel()
        deadline = self.agent.next_deadline()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(deadline, self.call, self.agent.advance) if deadline else None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()


@pytest.mark.parametrize("aioice_controlling", [False, True], ids=["controlled", "role conflict"])
async def test_aioice_and_the_agent_select_a_path(
    aioice_controlling: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: [LOCALHOST])
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(LoopbackPeer, local_addr=(LOCALHOST, 0))
    other = aioice.Connection(ice_controlling=aioice_controlling, stun_server=None)
    await other.gather_candidates()
    other.remote_username, other.remote_password = peer.agent.local.ufrag, peer.agent.local.pwd
    for ours in peer.candidates:
        await other.add_remote_candidate(aioice.Candidate.from_sdp(str(ours).removeprefix("candidate:")))
    await other.add_remote_candidate(None)

    peer.call(lambda now: peer.agent.set_remote(other.local_username, other.local_password, now))
    [theirs] = other.local_candidates
    candidate = Candidate.parse(theirs.to_sdp())
    assert candidate is not None
    peer.call(lambda now: peer.agent.add_remote_candidate(candidate, now))
    async with asyncio.timeout(30):
        await asyncio.gather(other.connect(), peer.selected)
    assert peer.agent.controlling
    await other.close()
    transport.close()
