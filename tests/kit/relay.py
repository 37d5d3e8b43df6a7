"""Relays packets between a client and the media service, and simulates a lossy link.

Neither side can bypass it, because the client is given the relay's address instead of the service's, and the
service learns the client's address from arriving packets. A seeded generator for each direction decides which
packets are lost. Packets are never reordered.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from svc.sfu.network_path import Address

_CANDIDATE = re.compile(r"^(a=candidate:\S+ 1 udp \d+) (\S+) (\d+)", re.MULTILINE | re.IGNORECASE)
_TCP_CANDIDATE_LINE = re.compile(r"^a=candidate:\S+ 1 tcp .*\r?\n", re.MULTILINE)
_AUDIO_NACK_LINE = re.compile(r"^a=rtcp-fb:111 nack\r?\n", re.MULTILINE)
_CANDIDATE_LINE = re.compile(r"^a=candidate:.*\r?\n", re.MULTILINE)
# Packets that start with one of these bytes are SRTP or SRTCP (RFC 7983).
_MEDIA = range(128, 192)
_RTCP = range(192, 224)  # The second byte of RTCP packets (RFC 5761).
# The payload type of RED is 63 (see sfu/codecs).
_RED_LINE = re.compile(r"^a=(?:rtpmap|fmtp|rtcp-fb):63 .*\r\n", re.MULTILINE)
_RED_TYPE = re.compile(r"^(m=audio .*) 63\b", re.MULTILINE)
# A client tries all its addresses within this time after its first packet.
_TRIES_S = 5.0
_IP_AND_UDP = 28  # bytes of IP and UDP headers


class _Side(asyncio.DatagramProtocol):
    """One of the relay's two sockets."""

    transport: asyncio.DatagramTransport

    def __init__(self, received: Callable[[bytes, Address], None]) -> None:
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._received(data, addr[:2])

    @property
    def address(self) -> Address:
        host, port = self.transport.get_extra_info("sockname")[:2]
        return host, port


class Relay:
    """A relay that loses a fraction of the packets, `loss`.

    `lost` counts, by direction, the media packets that never arrived.

    `burst` is the mean number of packets lost in a row. If it is None, packets are lost independently.
    `delay_s` is the one-way delay. `octets` counts the bytes of sent media, lost or not, including IP and UDP
    headers, and has a separate key for RTCP. Without `repeats_sound` the client does not support NACK for
    audio, and without `takes_red` it does not support RED.
    """

    def __init__(
        self, *, loss: float, seed: int, repeats_sound: bool, takes_red: bool, delay_s: float
    ) -> None:
        self.lost: Counter[str] = Counter()
        self.carried: Counter[str] = Counter()
        self.octets: Counter[str] = Counter()
        self.loss = loss
        self.burst: float | None = None
        self.delay_s = delay_s
        self._in_burst = {"up": False, "down": False}
        self._repeats_sound, self._takes_red = repeats_sound, takes_red
        self._random = {"up": random.Random(seed), "down": random.Random(seed + 1)}
        self._client: Address | None = None
        self._sources: dict[Address, float] = {}  # when the first packet from each address arrived
        self._sfu: Address | None = None
        self.to_client = _Side(self._from_client)
        self.to_sfu = _Side(self._from_sfu)

    def offered(self, sdp: str) -> str:
        """Return the service's offer as the client receives it, with the relay's address."""
        sdp, self._sfu = _readdressed(sdp, self.to_client.address)
        if not self._takes_red:
            sdp = _RED_TYPE.sub(r"\1", _RED_LINE.sub("", sdp))
        return sdp if self._repeats_sound else _AUDIO_NACK_LINE.sub("", sdp)

    def leads_to(self, service: Address) -> None:
        """Set the service's address, for a client whose offers are rewritten by other code."""
        self._sfu = service

    def answered(self, sdp: str) -> str:
        """Return the client's answer as the service receives it, without the client's addresses."""
        return _CANDIDATE_LINE.sub("", sdp)

    def _from_client(self, data: bytes, source: Address) -> None:
        # A client tries several addresses at first, and the relay uses the first address. A later address
        # belongs to an ICE restart or another session, and replaces it.
        now = asyncio.get_running_loop().time()
        if source not in self._sources:
            self._sources[source] = now
            if now - next(iter(self._sources.values())) > _TRIES_S:
                self._client = source
        self._client = self._client or source
        if self._sfu and source == self._client and self._arrives("up", data):
            self._pass_on(self.to_sfu, data, self._sfu)

    def _from_sfu(self, data: bytes, source: Address) -> None:
        if self._client and self._arrives("down", data):
            self._pass_on(self.to_client, data, self._client)

    def _pass_on(self, side: _Side, data: bytes, address: Address) -> None:
        if self.delay_s:
            asyncio.get_running_loop().call_later(self.delay_s, _send, side, data, address)
        else:
            side.transport.sendto(data, address)

    def _arrives(self, direction: str, data: bytes) -> bool:
        arrives = not self._loses(direction)
        if data and data[0] in _MEDIA:
            (self.carried if arrives else self.lost)[direction] += 1
            is_rtcp = len(data) > 1 and data[1] in _RTCP
            self.octets[f"{direction} rtcp" if is_rtcp else direction] += len(data) + _IP_AND_UDP
        return arrives

    def _loses(self, direction: str) -> bool:
        """Decide randomly whether the next packet is lost.

        Bursts follow a Gilbert model with this mean length.
        """
        drawn = self._random[direction].random()
        if self.burst is None:
            return drawn < self.loss
        stays = 1 - 1 / self.burst
        begins = self.loss / (self.burst * (1 - self.loss))
        self._in_burst[direction] = drawn < (stays if self._in_burst[direction] else begins)
        return self._in_burst[direction]


def _send(side: _Side, data: bytes, address: Address) -> None:
    if not side.transport.is_closing():
        side.transport.sendto(data, address)


@asynccontextmanager
async def relay(
    *,
    loss: float,
    seed: int,
    host: str = "127.0.0.1",
    repeats_sound: bool = True,
    takes_red: bool = True,
    delay_s: float = 0.0,
) -> AsyncIterator[Relay]:
    loop = asyncio.get_running_loop()
    link = Relay(loss=loss, seed=seed, repeats_sound=repeats_sound, takes_red=takes_red, delay_s=delay_s)
    sides = (link.to_client, link.to_sfu)
    for side in sides:
        await loop.create_datagram_endpoint(lambda side=side: side, local_addr=(host, 0))  # type: ignore[misc]
    try:
        yield link
    finally:
        for side in sides:
            side.transport.close()


def _readdressed(sdp: str, address: Address) -> tuple[str, Address]:
    """Replace the description's single candidate address and keep only UDP. Return the old address."""
    sdp = _TCP_CANDIDATE_LINE.sub("", sdp)
    candidates = {(host, int(port)) for _, host, port in _CANDIDATE.findall(sdp)}
    assert len(candidates) == 1, f"a relay serves one address, not {candidates}"
    return _CANDIDATE.sub(rf"\1 {address[0]} {address[1]}", sdp), candidates.pop()
