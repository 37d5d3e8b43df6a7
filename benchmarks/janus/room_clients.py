"""Runs the clients in one of Janus's video rooms.

A participant has one connection for the media that it sends and another for all media that it receives.

The participant sends the offer for the first connection, and Janus sends the offer for the second, as on
Janus's own page. Traffic generates the media, so that packets and results can be compared with those of every
other service. https://janus.conf.meetecho.com/docs/videoroom.html
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from benchmarks.janus.program import program
from benchmarks.janus.session import Message, Session, connected
from svc.base.tasks import until_first_ends
from svc.sfu.codecs import TRANSPORT_CC, Codec
from svc.sfu.dtls import Certificate
from svc.sfu.ice import IceCredentials
from svc.sfu.offer import IceParameters, Transceiver, build_offer
from svc.sfu.sdp import Attribute, SessionDescription
from svc.tools.bench.errors import BenchError
from svc.tools.bench.media_connection import Connecting
from svc.tools.bench.meter import Meter
from svc.tools.bench.room_clients import (
    ENTERING_DEADLINE_S,
    FIRST_PPS,
    FLOWING_DEADLINE_S,
    JOINING_AT_ONCE,
    new_traffic,
    run_all,
)
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.sdp_answer import Terms, answer

ROOM = 1
# The only media section of a publisher's offer.
MID = "0"
NAME = "bench"
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Receiver:
    number: int  # the client's number in Traffic
    tracks: int  # number of subscribed tracks


class RoomClients:
    """The clients in one video room. Create an instance with `janus`."""

    def __init__(self, session: Session, scenario: Scenario, pid: int) -> None:
        self.traffic = new_traffic(scenario)
        self.meter = Meter(scenario, self.traffic, self._sockets, pid)
        self._session = session
        self._scenario = scenario
        self._certificate = Certificate.generate(datetime.now(UTC))
        self._connections: list[Connecting] = []
        self._receivers: list[Receiver] = []
        self._pace = asyncio.Semaphore(JOINING_AT_ONCE)

    async def assemble(self) -> None:
        """Make all clients join, and wait until each of them receives every track."""
        await self._session.create()
        await self._open_room()
        self.traffic.set_rate(FIRST_PPS)
        feeds = range(1, self._scenario.publishers + 1)
        await run_all(self._publish(feed) for feed in feeds)
        wanted = [[feed for feed in feeds if feed != own] for own in feeds]
        wanted += [list(feeds)] * self._scenario.receivers
        await run_all(self._subscribe(feeds) for feeds in wanted if feeds)
        await self._flowing()

    async def close(self) -> None:
        """Close the clients' connections without notifying Janus, which will be stopped next."""
        await asyncio.to_thread(self.traffic.stop)
        for media in self._sockets():
            media.close()

    async def _open_room(self) -> None:
        handle, codec = await self._session.attach(), self._scenario.codec
        await handle.ask(
            {
                "request": "create",
                "room": ROOM,
                "publishers": self._scenario.publishers,
                "bitrate": 0,
                f"{codec.kind}codec": codec.name.lower(),
            }
        )

    async def _publish(self, feed: int) -> None:
        async with self._entering():
            handle, connecting = await self._session.attach(), self._connecting(controlling=True)
            codec, ssrc = self._scenario.codec, secrets.randbits(31) + 1
            sdp = offer(codec, ice=connecting.local, fingerprint=self._certificate.fingerprint, ssrc=ssrc)
            request = {"request": "joinandconfigure", "ptype": "publisher", "room": ROOM, "id": feed}
            description = _description(await handle.ask(request, {"type": "offer", "sdp": sdp}))
            connecting.set_remote(description)
            terms = Terms.of(description, MID, codec.name)
            await connecting.enter(self.traffic, terms, streams=0, mid=MID, ssrc=ssrc)
            # Clients cannot subscribe to a publisher before this event.
            await handle.up.wait()

    async def _subscribe(self, feeds: Sequence[int]) -> None:
        async with self._entering():
            handle, connecting = await self._session.attach(), self._connecting()
            streams = [{"feed": feed} for feed in feeds]
            request = {"request": "join", "ptype": "subscriber", "room": ROOM, "streams": streams}
            description = _description(await handle.ask(request))
            connecting.set_remote(description)
            sdp = answer(
                description,
                ice=connecting.local,
                fingerprint=self._certificate.fingerprint,
                sends="",
                ssrc=0,
                name=NAME,
            )
            await handle.ask({"request": "start"}, {"type": "answer", "sdp": sdp})
            # The value is the same in all media sections.
            terms = Terms.of(description, description.media[0].mid or "", self._scenario.codec.name)
            number = await connecting.enter(self.traffic, terms, streams=len(feeds))
            self._receivers.append(Receiver(number, len(feeds)))

    @asynccontextmanager
    async def _entering(self) -> AsyncIterator[None]:
        """Limit the number of clients that enter at the same time, and the time that each may take."""
        async with self._pace:
            try:
                async with asyncio.timeout(ENTERING_DEADLINE_S):
                    yield
            except TimeoutError:
                raise BenchError("a client has no media connection after 20 s") from None

    def _connecting(self, *, controlling: bool = False) -> Connecting:
        connecting = Connecting(self._certificate, controlling=controlling)
        self._connections.append(connecting)
        return connecting

    async def _flowing(self) -> None:
        try:
            async with asyncio.timeout(FLOWING_DEADLINE_S):
                # A native thread counts the packets, so there is no event to wait for.
                while self._lacking():  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise BenchError(f"{self._lacking()} clients do not receive every track after 20 s") from None

    def _lacking(self) -> int:
        return sum(self.traffic.sources(receiver.number) < receiver.tracks for receiver in self._receivers)

    def _sockets(self) -> Iterable[socket.socket]:
        return [connection.socket for connection in self._connections if connection.socket]


def offer(codec: Codec, *, ice: IceCredentials, fingerprint: str, ssrc: int) -> str:
    """Return an offer to send one track. Like a browser's, it requests feedback for bandwidth estimation."""
    number = codec.payload_type
    track = Transceiver(MID, codec.kind, "sendonly", NAME, NAME, NAME, ssrc, first_codec=number)
    text = build_offer(
        session_id=1,
        version=1,
        ice=IceParameters(ice.ufrag, ice.pwd),
        fingerprint=fingerprint,
        candidates=(),
        transceivers=[track],
    )
    description = SessionDescription.parse(text)
    description.media[0].attributes += [
        Attribute("extmap", f"{TRANSPORT_CC.id} {TRANSPORT_CC.uri}"),
        Attribute("rtcp-fb", f"{number} transport-cc"),
    ]
    return str(description)


def _description(message: Message) -> SessionDescription:
    return SessionDescription.parse(message["jsep"]["sdp"])


@asynccontextmanager
async def janus(scenario: Scenario) -> AsyncIterator[Meter]:
    """Run a room in a separate Janus process while the block runs."""
    async with program() as (url, pid), connected(url) as (session, listening):
        everybody = RoomClients(session, scenario, pid)
        everybody.traffic.start()
        try:
            await until_first_ends(everybody.assemble(), _end_of(listening))
            yield everybody.meter
        finally:
            await everybody.close()


async def _end_of(task: asyncio.Task[None]) -> None:
    await asyncio.shield(task)
