"""Measures how long clients at relays wait for their state after a takeover.

    python -m benchmarks.takeovers --pages 2500 10000 [--relays 5] [--channels 12]

A new database owner serves a community in which every member has a client connected to a relay. Simulated
relays attach to the owner and request the state of each client, as real relays do. Clients get no events
before their state. The relays run in a separate process. There is no NATS server, because the owner sends
states over the relays' links. `attached` is the time until all relays have the directory, and `states` is the
time from then until they have all states. The CPU time is that of the owner. With `--whole`, the states
include the online members.
"""

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from unittest.mock import patch

from aiohttp import ClientSession, ClientWebSocketResponse, web

from svc.base.garbage_collector import collect_rarely
from svc.chat import app
from svc.chat.access.directory import TEXT, Channel, Member
from svc.chat.cluster.relay_feed import Feed, ReplicatedHub
from svc.chat.cluster.relay_links import Facts, RelayLinks
from svc.chat.cluster.relay_protocol import (
    LINK_PATH,
    PROTOCOL,
    AttachedClient,
    AttachRequest,
    DirectoryPart,
    PresenceRecord,
    SessionRecord,
    StateRequest,
    StateResponse,
    decode_from_owner,
    encode,
)
from svc.chat.community import Community
from tests.chat.chat_server import chat_server

# The number of state requests that a relay has in progress.
AT_ONCE = 16
EPOCH = 2
_KEY = "the key of the lease"
_SESSION = "the session of every member"
_LIFETIME_S = 900.0


@dataclass(frozen=True, slots=True)
class Options:
    pages: int
    relays: int
    channels: int
    whole: bool


class Relay:
    """A relay that was attached to the previous owner, with connected clients."""

    def __init__(self, name: str, ws: ClientWebSocketResponse, opened: Sequence[AttachedClient]) -> None:
        self._name, self._ws, self._opened = name, ws, opened
        self.bytes = 0

    async def attach(self, online: Sequence[PresenceRecord]) -> None:
        """Attach to the owner, and wait for the directory."""
        attach = AttachRequest(PROTOCOL, self._name, self._name, "", EPOCH - 1, 0, self._opened, online)
        await self._ws.send_bytes(encode(attach))
        while True:
            part = decode_from_owner(await self._ws.receive_bytes())
            if isinstance(part, DirectoryPart) and part.is_last:
                return

    async def fetch_states(self, *, with_online: bool) -> None:
        numbers = iter([opened.page for opened in self._opened])
        for _ in range(AT_ONCE):
            await self._request(numbers, with_online)
        missing = len(self._opened)
        while missing:
            state = decode_from_owner(await self._ws.receive_bytes())
            if isinstance(state, StateResponse):
                missing -= 1
                self.bytes += len(state.frame)
                await self._request(numbers, with_online)

    async def _request(self, numbers: Iterator[int], with_online: bool) -> None:
        if (number := next(numbers, None)) is not None:
            await self._ws.send_bytes(encode(StateRequest(0, number, with_online)))


def member_ids(count: int) -> list[str]:
    return [f"01JDZ{number:021d}" for number in range(count)]


async def run_relays(address: str, options: Options) -> tuple[float, float, int]:
    """Return the seconds until all relays are attached, the seconds until they have all states, and the
    number of bytes of a state.
    """
    ids, expires_at = member_ids(options.pages), time.time() + _LIFETIME_S
    online = [PresenceRecord(id_, is_online=True, idle=False, do_not_disturb=False) for id_ in ids]
    opened = [
        AttachedClient(
            number, SessionRecord(id_, _SESSION, expires_at, 0, lasting=False), in_sight=True, idle=False
        )
        for number, id_ in enumerate(ids)
    ]
    async with ClientSession(headers={"Authorization": f"Bearer {_KEY}"}) as http:
        relays = [
            Relay(
                f"relay {number}",
                await http.ws_connect(address + LINK_PATH, max_msg_size=0),
                opened[number :: options.relays],
            )
            for number in range(options.relays)
        ]
        started = time.perf_counter()
        await asyncio.gather(*(relay.attach(online) for relay in relays))
        attached = time.perf_counter()
        await asyncio.gather(*(relay.fetch_states(with_online=options.whole) for relay in relays))
        ended = time.perf_counter()
    return attached - started, ended - attached, sum(relay.bytes for relay in relays) // options.pages


def in_a_process(address: str, options: Options, results: Connection) -> None:
    results.send(asyncio.run(run_relays(address, options)))


async def measure(options: Options) -> str:
    """Return a row of the table."""
    hub = ReplicatedHub(Feed([], "benchmark", EPOCH))
    links, built = RelayLinks(hub, _KEY), []

    class Owned(Community):
        def __init__(self, *arguments: object, **named: object) -> None:
            super().__init__(*arguments, **{**named, "hub": hub})  # type: ignore[arg-type]
            built.append(self)

        async def load(self) -> None:
            await super().load()
            self.directory.may_change = lambda: True

        def routes(self) -> list[web.RouteDef]:
            return [*super().routes(), *links.routes(self, Facts("", [], [], 0))]

    with tempfile.TemporaryDirectory() as top, patch.object(app, "Community", Owned):
        async with chat_server(variables_of(Path(top))) as server:
            fill(built[0], options)
            context = multiprocessing.get_context("spawn")
            results, sending = context.Pipe(duplex=False)
            process = context.Process(target=in_a_process, args=(server.address, options, sending))
            before = time.process_time()
            process.start()
            collect_rarely()
            attached_s, states_s, size = await asyncio.to_thread(results.recv)
            owner_us = (time.process_time() - before) * 1e6 / options.pages
            await asyncio.to_thread(process.join)
    return f"| {options.pages:,} | {attached_s:.2f} | {states_s:.2f} | {owner_us:,.0f} | {size:,} |"


def variables_of(folder: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "DATA_DIR": str(folder / "data"),
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "SVC_LINK_PREVIEWS": "false",
        "DISABLE_STUN": "true",
        "DISABLE_S3": "true",
    }


def fill(community: Community, options: Options) -> None:
    directory = community.directory
    for number in range(options.channels):
        directory.put_channel(Channel(f"channel-{number}", f"Channel {number}", TEXT, number))
    for number, id_ in enumerate(member_ids(options.pages)):
        directory.put_member(Member(id_, f"Member {number}"))
        directory.sessions[id_] = frozenset([_SESSION])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[2500, 10_000])
    parser.add_argument("--relays", type=int, default=5)
    parser.add_argument("--channels", type=int, default=12)
    parser.add_argument("--whole", action="store_true", help="include the online members")
    options = parser.parse_args()
    print("| pages | attached, s | states, s | owner: us CPU a page | bytes a state |")
    print("|---|---|---|---|---|", flush=True)
    for pages in options.pages:
        print(
            asyncio.run(measure(Options(pages, options.relays, options.channels, options.whole))), flush=True
        )


if __name__ == "__main__":
    main()
