"""Sends traffic through the limit program instead of a media service, with the same generator and
measurements.
"""

import asyncio
import json
import secrets
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from svc._rtp.srtp import SrtpKeys
from svc.tools.bench.cores import on_first_core, on_other_cores
from svc.tools.bench.media_connection import SO_TIMESTAMPNS, SOCKET_BUFFER_BYTES
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import new_traffic
from svc.tools.bench.scenario import Scenario

PROFILE = "AEAD_AES_128_GCM"
KEY_BYTES = 28
# The limit program sends no consent checks.
NO_PASSWORD = "none"


@asynccontextmanager
async def limit(scenario: Scenario) -> AsyncIterator[Meter]:
    """Run the limit program on the first core and the generator on the others, as for the real service."""
    sockets = [_socket() for _ in range(scenario.clients)]
    keys = [(secrets.token_bytes(KEY_BYTES), secrets.token_bytes(KEY_BYTES)) for _ in sockets]
    ssrcs = [number + 1 if number < scenario.publishers else 0 for number in range(scenario.clients)]
    clients = [
        (sock.getsockname()[1], ssrc, ours.hex(), theirs.hex())
        for sock, ssrc, (ours, theirs) in zip(sockets, ssrcs, keys, strict=True)
    ]
    with on_first_core():
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.limit.server", stdin=PIPE, stdout=PIPE
        )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(clients).encode() + b"\n")
    port = int(await process.stdout.readline())
    traffic = new_traffic(scenario)
    for sock, ssrc, (ours, theirs) in zip(sockets, ssrcs, keys, strict=True):
        sock.connect(("127.0.0.1", port))
        traffic.add(
            sock.fileno(),
            SrtpKeys(PROFILE, ours, theirs),
            NO_PASSWORD,
            ("127.0.0.1", port),
            payload_type=scenario.codec.payload_type,
            streams=scenario.publishers,
            mid=scenario.mid if ssrc else "",
            ssrc=ssrc,
        )
    try:
        with on_other_cores():
            traffic.start()
            yield Meter(scenario, traffic, lambda: sockets, process.pid)
    finally:
        traffic.stop()
        for sock in sockets:
            sock.close()
        process.stdin.close()
        await process.wait()


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.bind(("127.0.0.1", 0))
    return made
