"""Runs a participant that uses aiortc instead of a browser, driven by the events on `/client`.

It joins, answers every offer, publishes tracks in the first four media sections, and decodes the tracks that
it receives in the others. This module works around gaps in aiortc, so that tests exercise the service rather
than aiortc. aiortc omits loopback candidates, ignores the candidates of the first bundled media section,
never ends a remote track, and never accepts new sources in a reused media section.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMsgType
from aioice import Candidate
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.exceptions import InvalidStateError
from aiortc.mediastreams import MediaStreamTrack
from aiortc.rtcdtlstransport import SRTP_PROFILES, RTCDtlsTransport
from aiortc.rtcrtptransceiver import RTCRtpTransceiver

from tests.kit.incoming_track import HEARD_FRAMES, Incoming
from tests.kit.wait import eventually

MIC, CAMERA, SCREEN, SCREEN_AUDIO = "0", "1", "2", "3"
# Codecs change a shade or a pitch by at most this much. The shades and pitches in a test differ by much more.
SHADE_TOLERANCE = 6
PITCH_TOLERANCE = 0.05
DEADLINE_S = 30.0


@dataclass(frozen=True)
class Voice:
    """One person's audio and video."""

    pitch_hz: int
    shade: int

    def darker(self) -> "Voice":
        """Return the same person with a darker video, which a test can distinguish from the original."""
        return replace(self, shade=self.shade - 2 * SHADE_TOLERANCE)


@dataclass(frozen=True)
class ClientOptions:
    """A client's address, its preferences, and the functions that rewrite its session descriptions."""

    address: str = "127.0.0.1"
    codec: str = "VP8"
    srtp_profile: bytes | None = None  # the only profile that the client supports
    dtls_role: str = "auto"  # aiortc answers "active" to "auto", and "passive" to "server"
    # Functions that rewrite the incoming offers and the outgoing answers.
    offered: Callable[[str], str] = str
    answered: Callable[[str], str] = str


@dataclass
class AiortcClient:
    """One participant. `sends` maps mids to the tracks to send. After changing it, send `renegotiate`."""

    user_id: str
    voice: Voice
    socket: ClientWebSocketResponse
    sends: dict[str, MediaStreamTrack]
    means: ClientOptions = field(default_factory=ClientOptions)
    welcome: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    closed: tuple[int | None, str] | None = None
    offers: int = 0
    directions: dict[str, str] = field(default_factory=dict)
    incoming: dict[str, Incoming] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All media sections share one transport, so it can be set up before the first offer.
        self._pc = RTCPeerConnection(RTCConfiguration(bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self._pc.addTransceiver("audio", direction="inactive")  # will be mid 0
        camera = self._pc.addTransceiver("video", direction="inactive")  # will be mid 1
        capabilities = RTCRtpReceiver.getCapabilities("video")
        assert capabilities is not None
        wanted = {f"video/{self.means.codec}", "video/rtx"}
        camera.setCodecPreferences([codec for codec in capabilities.codecs if codec.mimeType in wanted])
        self._transport: RTCDtlsTransport = camera.receiver.transport
        self._prepare_transport()
        self._listening = asyncio.create_task(self._listen())

    @property
    def srtp_profile(self) -> bytes:
        """Return the SRTP profile that the handshake agreed on."""
        assert self._transport._ssl is not None
        return self._transport._ssl.get_selected_srtp_profile()

    @property
    def remote_address(self) -> tuple[str, int]:
        """The address to which media is sent."""
        (pair,) = self._transport.transport._connection._nominated.values()
        return pair.remote_addr

    def section(self, other: "AiortcClient", source: str = "camera") -> Incoming | None:
        """Return the media section in which the other person's track currently arrives."""
        wanted = other.user_id, source
        return next(
            (section for section in self.incoming.values() if (section.user_id, section.source) == wanted),
            None,
        )

    async def send(self, event: str, data: object) -> None:
        await self.socket.send_str(json.dumps({"event": event, "data": json.dumps(data)}))

    async def sees(
        self,
        other: "AiortcClient",
        *,
        frames: int = 10,
        source: str = "camera",
        within_s: float = DEADLINE_S,
    ) -> Incoming:
        """Wait until the given number of new frames with the sender's shade have arrived."""
        section = await self._arriving(other, source)
        enough = section.frames + frames

        def seen() -> bool:
            shade = section.shade is not None and abs(section.shade - other.voice.shade) <= SHADE_TOLERANCE
            return shade and section.frames >= enough

        await eventually(f"{self.user_id} sees {source} of {other.user_id}", seen, within_s=within_s)
        return section

    async def hears(self, other: "AiortcClient") -> Incoming:
        """Wait until another 200 ms of audio with the sender's pitch has arrived."""
        section = await self._arriving(other, "mic")
        enough, pitch_hz = section.frames + HEARD_FRAMES, other.voice.pitch_hz

        def receives_sound() -> bool:
            return section.frames >= enough and abs(section.pitch_hz - pitch_hz) <= PITCH_TOLERANCE * pitch_hz

        await eventually(f"{self.user_id} hears {other.user_id}", receives_sound, within_s=DEADLINE_S)
        return section

    async def lost(self, other: "AiortcClient", source: str = "camera") -> None:
        """Wait until this client has noticed the end of the track."""
        text = f"{source} of {other.user_id} ends for {self.user_id}"
        await eventually(text, lambda: not self.section(other, source), within_s=DEADLINE_S)

    async def _arriving(self, other: "AiortcClient", source: str) -> Incoming:
        text = f"{source} of {other.user_id} is offered to {self.user_id}"
        await eventually(text, lambda: self.section(other, source), within_s=DEADLINE_S)
        section = self.section(other, source)
        assert section is not None
        return section

    async def send_datagram(self, data: bytes) -> None:
        """Send arbitrary bytes on the media path."""
        await self._transport.transport._connection.send(data)

    async def ending(self) -> tuple[int | None, str]:
        """Wait until the service closes the connection. Return its code and reason."""
        await eventually(f"{self.user_id} is closed", lambda: self.closed, within_s=DEADLINE_S)
        assert self.closed is not None
        return self.closed

    async def leave(self) -> None:
        """Disconnect, as a web client does when it is closed. Raises any error that occurred in this client's
        own tasks.
        """
        async with asyncio.timeout(DEADLINE_S):
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
            await self.socket.close()
            await self._pc.close()
            for section in self.incoming.values():
                await section.stop()

    def _prepare_transport(self) -> None:
        """Set the addresses to gather and the parameters to accept. Call this before any negotiation."""
        connection = self._transport.transport._connection
        gather = connection.get_component_candidates

        async def gather_here(component: int, addresses: list[str]) -> list[Candidate]:
            return await gather(component, [self.means.address])

        connection.get_component_candidates = gather_here  # type: ignore[method-assign,assignment]
        self._transport._set_role(self.means.dtls_role)
        if only := self.means.srtp_profile:
            self._transport._srtp_profiles = [
                profile for profile in SRTP_PROFILES if profile.openssl_profile == only
            ]

    async def _listen(self) -> None:
        while (message := await self.socket.receive()).type is WSMsgType.TEXT:
            frame = json.loads(message.data)
            match frame["event"]:
                case "room_joined":
                    self.welcome = json.loads(frame["data"])
                case "room_error":
                    self.errors.append(frame["data"])
                case "offer":
                    await self._try_to_answer(json.loads(frame["data"]))
        # aiohttp sets its own close_code to 1006 if its reply came too late.
        code = message.data if message.type is WSMsgType.CLOSE else self.socket.close_code
        self.closed = code, message.extra or ""

    async def _try_to_answer(self, offer: Mapping[str, Any]) -> None:
        try:
            await self._answer(offer)
        except InvalidStateError:
            # The service may close everything at the same time, and aiortc closes itself after DTLS.
            if self._transport.state != "closed":
                raise
        except ConnectionError:
            # The WebSocket is already closed. The next received message contains the reason.
            return

    async def _answer(self, offer: Mapping[str, Any]) -> None:
        pc, sdp = self._pc, _candidates_in_every_section(self.means.offered(offer["sdp"]))
        await pc.setRemoteDescription(RTCSessionDescription(sdp, offer["type"]))
        self._place_tracks()
        await pc.setLocalDescription(await pc.createAnswer())
        for transceiver in pc.getTransceivers():
            await self._follow(transceiver, offer["tracks"].get(transceiver.mid))
        await self.send("answer", {"type": "answer", "sdp": self.means.answered(pc.localDescription.sdp)})
        self.offers += 1

    def _place_tracks(self) -> None:
        for transceiver in self._pc.getTransceivers():
            if transceiver.mid not in (MIC, CAMERA, SCREEN, SCREEN_AUDIO):
                continue
            track = self.sends.get(transceiver.mid)
            if track is not transceiver.sender.track:
                transceiver.sender.replaceTrack(track)
            transceiver.direction = "sendonly" if track else "inactive"

    async def _follow(self, transceiver: RTCRtpTransceiver, track: Mapping[str, str] | None) -> None:
        """Start or stop receiving in each media section, as the offer requires."""
        mid, section = transceiver.mid or "", self.incoming.get(transceiver.mid or "")
        self.directions[mid] = transceiver.currentDirection or ""
        if track and section is None:
            self.incoming[mid] = Incoming(transceiver, mid, track)
        elif track and section:
            assert section.track_id == track["track_id"], "a section is inactive before it is used again"
        elif section:
            del self.incoming[mid]
            await transceiver.receiver.stop()
            await section.stop()
            receiver = RTCRtpReceiver(transceiver.kind, self._transport)
            receiver._set_rtcp_ssrc(transceiver.sender._ssrc)
            transceiver._RTCRtpTransceiver__receiver = receiver  # type: ignore[attr-defined]


def _candidates_in_every_section(offer: str) -> str:
    """Copy the candidates from the first media section to the others.

    aiortc reads them from the last section of a bundle, whereas the service writes them in the first (RFC
    9143).
    """
    first, *others = offer.split("m=")[1:]
    candidates = "".join(line for line in first.splitlines(keepends=True) if line.startswith("a=candidate:"))
    return "m=".join([offer.split("m=")[0], first, *(other + candidates for other in others)])
