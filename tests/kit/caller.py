"""Lets a member take part in a call without a browser, and rejoin whenever the call breaks.

Grants come from `/live`, signalling uses `/sfu/client`, and aiortc carries the media.
"""

import asyncio

from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.aiortc_client import AiortcClient, ClientOptions, Voice
from tests.kit.aiortc_guests import microphone_and_camera

RETRY_S = 0.1


class Caller:
    """A member in a call. `client` is the participant in the current call."""

    def __init__(self, chat: ChatServer, live: LiveMember, voice: Voice, *, direct: bool = False) -> None:
        self._chat = chat
        # Whether to signal directly to the media service instead of through the chat server.
        self._direct = direct
        self.live = live
        self._voice = voice
        channels = live.welcome["channels"]
        self.channel: str = next(channel["id"] for channel in channels if channel["type"] == "voice")
        self.client: AiortcClient

    async def join(self) -> None:
        """Request a grant and join with it, retrying if necessary."""
        while True:
            reply = await self.live.ask("voice_join", channel_id=self.channel)
            if reply["event"] == "voice_join":
                break
            # On a busy machine, a cluster's owner may not be certain of its lease for a moment.
            assert reply["data"]["error"] in ("voice_unavailable", "server_stopping"), reply
            await asyncio.sleep(RETRY_S)
        url, grant = reply["data"]["urls"][0 if self._direct else -1], reply["data"]["client_join"]
        socket = await self._chat.http.ws_connect(url, max_msg_size=0)
        # In a private network, the media service cannot reach this client on loopback.
        own = ClientOptions(address=socket.get_extra_info("sockname")[0])
        sends = microphone_and_camera(self._voice)
        self.client = AiortcClient(self.live.id, self._voice, socket, sends, own)
        await self.client.send("client_join", grant)

    async def join_again(self) -> None:
        """Wait until the call has ended, then rejoin."""
        await self.client.ending()
        await self.client.leave()
        await self.join()


async def talk(ada: AiortcClient, grace: AiortcClient) -> None:
    """Wait until both participants can see and hear each other."""
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
