"""Measures how long two members in a call do not hear each other while parts of a cluster fail."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer
from tests.kit.aiortc_client import CAMERA, AiortcClient
from tests.kit.aiortc_guests import ADA, GRACE
from tests.kit.caller import Caller
from tests.kit.chat_nodes import ChatNode, token_of
from tests.kit.incoming_track import Incoming
from tests.kit.sfu_process import SECRET, SfuProcess
from tests.kit.wait import eventually

JOINED_WITHIN_S = 30.0
# The interval at which arriving audio is counted. A packet holds 20 ms of audio.
_LOOK_S = 0.05
# A silence of this length, beyond the pauses of this process itself, counts as an interruption.
MAX_SILENCE_S = 1.0


def calls_at(*sfus: SfuProcess) -> dict[str, str]:
    """Return the environment variables for a node that uses the given SFUs."""
    addresses = [sfu.url.removeprefix("http://") for sfu in sfus]
    return {
        "SFU_WS_HOST": ",".join(addresses),
        "SFU_PUBLIC_HOST": ",".join(f"ws://{address}" for address in addresses),
        "SERVER_ID": "home",
        "SERVER_PASSWORD": SECRET,
        "DISABLE_STUN": "true",
    }


class Call:
    """An ongoing call. The measured times are in seconds."""

    def __init__(self, clients: Sequence[AiortcClient], heard: Mapping[str, Incoming]) -> None:
        self._clients, self._heard = clients, heard
        # The longest time without audio that either member has heard.
        self.longest_silence = 0.0
        # The longest time for which this process itself was stalled and could not measure.
        self.longest_pause = 0.0
        self._counting = asyncio.create_task(self._count())

    async def _count(self) -> None:
        now = asyncio.get_running_loop().time
        looked = now()
        frames = {name: track.frames for name, track in self._heard.items()}
        since = dict.fromkeys(self._heard, looked)
        while True:
            await asyncio.sleep(_LOOK_S)
            before, looked = looked, now()
            self.longest_pause = max(self.longest_pause, looked - before)
            for name, track in self._heard.items():
                self.longest_silence = max(self.longest_silence, looked - since[name])
                if track.frames != frames[name]:
                    frames[name], since[name] = track.frames, looked

    async def end(self) -> None:
        self._counting.cancel()
        await asyncio.gather(self._counting, return_exceptions=True)

    def faults(self) -> list[str]:
        """Return the interruptions of the call."""
        faults = [f"{client.user_id} left the call" for client in self._clients if client.closed is not None]
        if self.longest_silence > MAX_SILENCE_S + self.longest_pause:
            faults.append(f"the call was silent for {self.longest_silence:.2f} s")
        return faults


@asynccontextmanager
async def call_of_two(node: ChatNode) -> AsyncIterator[Call]:
    """Let two members call each other with their microphones."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession(node.address))
        chat = ChatServer(node.address, http, "")
        clients: list[AiortcClient] = []
        for name, voice in (("Caller one", ADA), ("Caller two", GRACE)):
            member = await stack.enter_async_context(chat.member(name, await token_of(node, name)))
            caller = Caller(chat, member, voice, direct=True)
            await caller.join()
            client = caller.client
            stack.push_async_callback(client.leave)
            await eventually(f"{name} joined", lambda: client.offers, within_s=JOINED_WITHIN_S)  # noqa: B023
            del client.sends[CAMERA]
            await client.send("renegotiate", {})
            clients.append(client)
        one, other = clients
        heard = {one.user_id: await one.hears(other), other.user_id: await other.hears(one)}
        for client, peer in ((one, other), (other, one)):
            await client.lost(peer)
        call = Call(clients, heard)
        try:
            yield call
        finally:
            await call.end()
