"""Uses aiortc to join participants to a media service, and disconnects them at the end of the test."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiortc.mediastreams import MediaStreamTrack

from tests.kit.aiortc_client import CAMERA, MIC, AiortcClient, ClientOptions, Voice
from tests.kit.sfu_process import SECRET, SfuProcess
from tests.kit.synthetic_media import Picture, Tone

ADA, GRACE, EDSGER, BARBARA = Voice(440, 70), Voice(660, 120), Voice(880, 170), Voice(1100, 220)
VOICES = {"ada": ADA, "grace": GRACE, "edsger": EDSGER, "barbara": BARBARA}


class Guests:
    """The guests who have arrived."""

    def __init__(self, sfu: SfuProcess) -> None:
        self._sfu = sfu
        self._all: list[AiortcClient] = []

    async def arrive(
        self,
        user_id: str,
        *,
        voice: Voice | None = None,
        sends: Mapping[str, MediaStreamTrack] | None = None,
        means: ClientOptions | None = None,
        **join: str,
    ) -> AiortcClient:
        """Join, by default sending audio and video."""
        voice = voice or VOICES[user_id]
        request = {"room_id": "lobby", "server_id": "home", "server_password": SECRET, "user_token": ""}
        sends = microphone_and_camera(voice) if sends is None else sends
        client = AiortcClient(
            user_id, voice, await self._sfu.connect(), dict(sends), means or ClientOptions()
        )
        self._all.append(client)
        await client.send("client_join", request | {"user_id": user_id} | join)
        return client

    async def leave(self) -> None:
        """Disconnect all guests who are still connected."""
        results = await asyncio.gather(*(client.leave() for client in self._all), return_exceptions=True)
        if faults := [result for result in results if isinstance(result, Exception)]:
            raise ExceptionGroup("clients failed", faults)


def microphone_and_camera(voice: Voice, *, rich: bool = False) -> dict[str, MediaStreamTrack]:
    return {MIC: Tone(voice.pitch_hz), CAMERA: Picture(voice.shade, rich=rich)}


@asynccontextmanager
async def guests_of(sfu: SfuProcess) -> AsyncIterator[Guests]:
    guests = Guests(sfu)
    try:
        yield guests
    finally:
        await guests.leave()
