"""Adds members to a call who only receive media, to test large calls on a small machine.

Each member has an account and a media connection, like a user of the web client. Received media is counted,
not decoded.

`python -m tests.kit.silent_members URL COUNT` runs such members in another network namespace. The program
prints a line once all have joined, and then, for each line of its input, a line with the number of packets
that each member has received so far. It ends when its input ends.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qs, urljoin, urlsplit

from aiohttp import ClientSession

from svc.base.signalling_codec import serialise
from svc.sfu.dtls import Certificate
from svc.tools.bench.client import Client, Room
from svc.tools.bench.room_clients import new_traffic
from svc.tools.bench.scenario import Scenario
from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember

# The maximum number of tracks whose packets are counted.
LISTENING = Scenario(publishers=32)


class _Silent(Client):
    """A media client whose room the chat server chooses."""

    def __init__(
        self, http: ClientSession, url: str, grant: Mapping[str, object], certificate: Certificate
    ) -> None:
        super().__init__(http, Room(url, "", "", ""), str(grant["user_id"]), LISTENING, certificate)
        self._grant = grant

    async def join(self) -> None:
        self._socket = await self._http.ws_connect(self._room.url, max_msg_size=0)
        await self._socket.send_str(serialise("client_join", self._grant))


@asynccontextmanager
async def silent_people(url: str, names: Sequence[str]) -> AsyncIterator[Callable[[], list[int]]]:
    """Have members join the first voice channel with the invite in `url` and stay for the duration of the
    block.

    Yield a function that returns the number of packets that each member has received.
    """
    parts = urlsplit(url)
    address, (invite,) = f"{parts.scheme}://{parts.netloc}", parse_qs(parts.fragment)["invite"]
    certificate = Certificate.generate(datetime.now(UTC))
    traffic = new_traffic(LISTENING)
    traffic.start()
    tasks: list[asyncio.Task[None]] = []
    clients: list[_Silent] = []

    async def end() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, traffic.stop)
        http = await stack.enter_async_context(ClientSession(address))
        chat = ChatServer(address, http, invite)
        for name in names:
            member = await stack.enter_async_context(chat.member(name))
            voice = next(
                channel["id"] for channel in member.welcome["channels"] if channel["type"] == "voice"
            )
            grant = (await member.ask("voice_join", channel_id=voice))["data"]
            signalling = urljoin(address, grant["urls"][0])
            client = _Silent(http, signalling, grant["client_join"], certificate)
            await client.join()
            stack.push_async_callback(client.close)
            stack.push_async_callback(end)
            tasks += [asyncio.create_task(client.listen()), asyncio.create_task(_read(member))]
            await client.enter(traffic)
            clients.append(client)
        yield lambda: [traffic.received(client.number) for client in clients]


async def _read(member: LiveMember) -> None:
    async for _ in member.ws:
        pass


async def main(url: str, count: int) -> None:
    async with silent_people(url, [f"Silent {number}" for number in range(count)]) as received:
        while True:
            sys.stdout.write(json.dumps(received()) + "\n")
            sys.stdout.flush()
            if not await asyncio.to_thread(sys.stdin.readline):
                return


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
