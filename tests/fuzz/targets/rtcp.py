"""Compound packets are either parsed to the end or rejected, and never affect calls."""

from svc._rtp.rtcp import parse_compound
from tests.fuzz.room import Room

IN_PYTHON = False


def run(data: bytes) -> None:
    packets = parse_compound(data)
    if packets is None:
        # The engine's fuzz target covers the packets before the malformed one.
        return
    assert sum(4 + len(body) for _, _, body in packets) <= len(data)
    with Room() as room:
        room.talk()
        for peer in room.peers:
            room.send_rtcp(peer, data)
        room.wait(1.0)
