"""Measures a TURN relay in Python, with TLS on one side and UDP on the other. python -m benchmarks.relay
[SECONDS]

The chat server could also relay media to the media service, on its own port, if a relay were cheap enough.
This program does the minimum that such a relay must do with a packet in Python: asyncio's TLS, adding or
removing a ChannelData header (RFC 8656 section 12.4), and one datagram. Permissions, quotas and credentials
would cost more. The relay runs in its own process. The result is the CPU time of that process, including
kernel time, per packet of 1,100 bytes.
"""

import asyncio
import socket
import ssl
import sys
import tempfile
import threading
import time
from asyncio.subprocess import PIPE
from datetime import UTC, datetime
from pathlib import Path

from svc.tools.certificate import read_or_create_certificate

HERE, SIZE, CHANNEL = "127.0.0.1", 1100, 0x4000
RATES = (300, 3000)
ALL_SENT_S = 0.5


class Relay(asyncio.Protocol):
    """A TLS connection, and the UDP socket to which its data is relayed."""

    def __init__(self, beyond: tuple[str, int]) -> None:
        self._beyond = beyond
        self._buffer = bytearray()
        self._datagrams: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._opening = asyncio.ensure_future(self._open(transport))

    async def _open(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._datagrams, _ = await loop.create_datagram_endpoint(
            lambda: Back(transport), remote_addr=self._beyond
        )

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 4 and len(buffer) >= (end := 4 + int.from_bytes(buffer[2:4], "big")):
            if self._datagrams:
                self._datagrams.sendto(buffer[4:end])
            del buffer[:end]


class Back(asyncio.DatagramProtocol):
    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, _from: tuple[str, int]) -> None:
        self._transport.write(CHANNEL.to_bytes(2, "big") + len(data).to_bytes(2, "big") + data)


async def serve(certificate: str, beyond: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.get_running_loop().create_server(
        lambda: Relay((HERE, beyond)), HERE, 0, ssl=context
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def cpu_ns(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


class Ends:
    """The two ends of the relay: a member's TLS connection, and the media service's socket."""

    def __init__(self, port: int, media: socket.socket, certificate: str) -> None:
        context = ssl.create_default_context(cafile=certificate)
        context.check_hostname = False
        self._member = context.wrap_socket(socket.create_connection((HERE, port)))
        self._media = media
        frame = CHANNEL.to_bytes(2, "big") + SIZE.to_bytes(2, "big") + bytes(SIZE)
        while True:  # The first packet reveals the address of the relay's socket, which may not exist yet.
            self._member.sendall(frame)
            media.settimeout(0.2)
            try:
                _, relay = media.recvfrom(2048)
            except TimeoutError:
                continue
            media.connect(relay)
            return

    def send(self, *, up: bool) -> None:
        if up:
            self._member.sendall(CHANNEL.to_bytes(2, "big") + SIZE.to_bytes(2, "big") + bytes(SIZE))
        else:
            self._media.send(bytes(SIZE))

    def take(self, ending: threading.Event, *, up: bool) -> int:
        """Return the number of packets that arrive until `ending` is set."""
        end, came = (self._media if up else self._member), 0
        end.settimeout(0.1)
        while not ending.is_set():
            try:
                came += len(end.recv(65536))
            except TimeoutError:
                continue
        return came // (SIZE if up else SIZE + 4)

    def close(self) -> None:
        self._member.close()


def measure(ends: Ends, pid: int, pps: int, seconds: float, *, up: bool) -> tuple[int, float]:
    """Return the number of packets that arrived, and the CPU time per packet, in µs."""
    ending, came = threading.Event(), [0]

    def take() -> None:
        came[0] = ends.take(ending, up=up)

    taking = threading.Thread(target=take)
    taking.start()
    before, begin = cpu_ns(pid), time.monotonic()
    for number in range(int(pps * seconds)):
        time.sleep(max(0.0, begin + number / pps - time.monotonic()))
        ends.send(up=up)
    time.sleep(ALL_SENT_S)
    spent = cpu_ns(pid) - before
    ending.set()
    taking.join()
    return came[0], spent / 1000 / max(1, came[0])


async def main(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as media:
        media.bind((HERE, 0))
        certificate = str(read_or_create_certificate(Path(folder), [HERE], datetime.now(UTC)))
        relay = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.relay", certificate, str(media.getsockname()[1])), stdout=PIPE
        )
        try:
            assert relay.stdout is not None
            port = int(await relay.stdout.readline())
            ends = await asyncio.to_thread(Ends, port, media, certificate)
            print("| packets/s | direction | came | us CPU per packet |\n|---|---|---|---|")
            for pps in RATES:
                for up in (True, False):
                    came, us = await asyncio.to_thread(measure, ends, relay.pid, pps, seconds, up=up)
                    print(
                        f"| {pps:,} | {'from' if up else 'to'} a member | {came:,} | {us:.1f} |", flush=True
                    )
            ends.close()
        finally:
            relay.kill()
            await relay.wait()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
    else:
        asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0))
