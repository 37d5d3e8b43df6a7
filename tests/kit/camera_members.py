"""Adds members who send only a small camera video, to test calls with many cameras on a small machine.

The members send no audio and pause all video that they are offered. They are aiortc clients that all send the
same encoded video, which takes far less CPU time than a browser does.

`python -m tests.kit.camera_members URL COUNT` runs such members in another network namespace. The program
prints a line once all have joined, and ends when its input ends.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import numpy as np
from aiohttp import ClientSession
from aiortc.mediastreams import MediaStreamTrack
from av import Packet, VideoCodecContext, VideoFrame

from svc.base.signalling_codec import serialise
from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.aiortc_client import CAMERA, AiortcClient, ClientOptions, Voice
from tests.kit.synthetic_media import Paced
from tests.kit.wait import eventually

WIDTH, HEIGHT, FRAME_RATE = 160, 90, 12
# The bit rate to which a page limits its camera when all tiles are small.
BPS = 150_000
FRAMES = 4 * FRAME_RATE
JOIN_DEADLINE_S = 30.0


def moving_texture() -> list[bytes]:
    """Encode a few seconds of video in VP8, with a keyframe each second."""
    encoder = VideoCodecContext.create("libvpx", "w")
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuv420p"
    encoder.framerate, encoder.time_base = Fraction(FRAME_RATE), Fraction(1, FRAME_RATE)
    encoder.bit_rate, encoder.gop_size = BPS, FRAME_RATE
    encoder.options = {"deadline": "realtime", "lag-in-frames": "0"}
    coarse = np.random.default_rng(1).integers(0, 255, (HEIGHT // 6, WIDTH // 8, 3), np.uint8)
    picture = np.kron(coarse, np.ones((6, 8, 1), np.uint8))
    video: list[bytes] = []
    for number in range(FRAMES):
        frame = VideoFrame.from_ndarray(np.roll(picture, (2 * number, number), (0, 1)), "rgb24")
        frame = frame.reformat(format="yuv420p")
        frame.pts = number
        video += [bytes(packet) for packet in encoder.encode(frame)]
    return video


class Recording(Paced):
    """A source that repeats encoded video."""

    kind = "video"

    def __init__(self, video: Sequence[bytes]) -> None:
        super().__init__(1 / FRAME_RATE)
        self._video = video

    async def recv(self) -> "Packet[Any]":
        number = await self.next_number()
        packet = Packet(self._video[number % len(self._video)])
        packet.pts, packet.time_base = number, Fraction(1, FRAME_RATE)
        return packet


@dataclass
class CameraMember(AiortcClient):
    """A client that pauses all video that it is offered."""

    paused: set[str] = field(default_factory=set)

    async def send(self, event: str, data: object) -> None:
        await super().send(event, data)
        if event == "answer":
            offered = {section.track_id for section in self.incoming.values()}
            for track_id in offered - self.paused:
                await super().send(
                    "set_layer", {"track_id": track_id, "max_temporal_layer": 0, "paused": True}
                )
            self.paused = offered


async def main(url: str, count: int) -> None:
    parts = urlsplit(url)
    address, (invite,) = f"{parts.scheme}://{parts.netloc}", parse_qs(parts.fragment)["invite"]
    video = moving_texture()
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession(address))
        chat = ChatServer(address, http, invite)
        readers = [
            await joined(stack, chat, http, number, parts.hostname or "", video)
            for number in range(1, count + 1)
        ]
        sys.stdout.write("\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        for reader in readers:
            reader.cancel()


async def joined(
    stack: AsyncExitStack,
    chat: ChatServer,
    http: ClientSession,
    number: int,
    host: str,
    video: Sequence[bytes],
) -> asyncio.Task[None]:
    """Have a member join the first voice channel. Return the task that reads the member's events."""
    member = await stack.enter_async_context(chat.member(f"Camera {number}"))
    voice = next(channel["id"] for channel in member.welcome["channels"] if channel["type"] == "voice")
    grant: dict[str, Any] = (await member.ask("voice_join", channel_id=voice))["data"]
    socket = await chat.http.ws_connect(urljoin(chat.address, grant["urls"][0]), max_msg_size=0)
    sends: dict[str, MediaStreamTrack] = {CAMERA: Recording(video)}
    options = ClientOptions(address=host)
    client = CameraMember(grant["client_join"]["user_id"], Voice(0, 0), socket, sends, options)
    await socket.send_str(serialise("client_join", grant["client_join"]))
    stack.push_async_callback(client.leave)
    await eventually(f"{client.user_id} has joined", lambda: client.offers, within_s=JOIN_DEADLINE_S)
    return asyncio.create_task(_read(member))


async def _read(member: LiveMember) -> None:
    async for _ in member.ws:
        pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
