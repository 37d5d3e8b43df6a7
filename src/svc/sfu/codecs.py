"""Lists the codecs and header extensions that this service forwards in every media section.

All sections share one BUNDLE, so a payload type or an extension id has the same meaning in every media
section. Does not choose codecs or inspect payloads.

See the media service specification, section 1 ("Codecs registered at startup"); RFC 6184 (H264), RFC 7587
(Opus), RFC 9628 (VP9), RFC 4588 (RTX), RFC 8285 (extensions).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Codec:
    """A payload type and the payload type of its retransmissions."""

    name: str
    kind: str  # "audio" or "video"
    payload_type: int
    clock_rate: int
    channels: int = 1
    fmtp: str = ""
    feedback: tuple[str, ...] = ()
    rtx_payload_type: int | None = None

    @property
    def rtpmap(self) -> str:
        """The value of a=rtpmap after the payload type."""
        channels = f"/{self.channels}" if self.channels > 1 else ""
        return f"{self.name}/{self.clock_rate}{channels}"


@dataclass(frozen=True, slots=True)
class HeaderExtension:
    """A header extension. A hop-by-hop extension is handled by the SFU and not forwarded."""

    uri: str
    id: int  # from 1 to 14, so that it fits in the one-byte form
    kinds: frozenset[str]
    hop_by_hop: bool = False


def _video(name: str, payload_type: int, fmtp: str = "") -> Codec:
    feedback = ("ccm fir", "nack", "nack pli")
    return Codec(name, "video", payload_type, 90_000, 1, fmtp, feedback, payload_type + 1)


def _h264(payload_type: int, profile: str, packetization_mode: int) -> Codec:
    mode = f"packetization-mode={packetization_mode}"
    return _video("H264", payload_type, f"level-asymmetry-allowed=1;{mode};profile-level-id={profile}")


AUDIO: Final = (
    # With "nack" in the offer, Chromium retransmits Opus and requests retransmissions, although its answers
    # omit "nack".
    Codec("opus", "audio", 111, 48_000, 2, "minptime=10;useinbandfec=1", ("nack",)),
    # G722 samples at 16 kHz but declares 8000 (RFC 3551 section 4.5.2).
    Codec("G722", "audio", 9, 8_000),
    Codec("PCMU", "audio", 0, 8_000),
    Codec("PCMA", "audio", 8, 8_000),
)

# RED (RFC 2198). It is offered only to clients that request it, and always after Opus, because a browser
# sends the codec that is listed first.
RED: Final = Codec("red", "audio", 63, 48_000, 2, "111/111")

# For video, neither RED nor ULPFEC is offered. If an answer contained them, a browser would wrap all VP8 in
# RED.
VIDEO: Final = (
    _h264(96, "42e01f", 1),
    _h264(98, "42001f", 1),
    _h264(100, "64001f", 1),
    _h264(102, "42e01f", 0),
    _h264(104, "42001f", 0),
    _video("VP9", 106, "profile-id=0"),
    _video("VP9", 108, "profile-id=2"),
    _video("VP8", 112),
    _video("AV1", 114, "level-idx=5;profile=0;tier=0"),
)

_BOTH = frozenset({"audio", "video"})
_AUDIO = frozenset({"audio"})
_VIDEO = frozenset({"video"})
_WEBRTC = "http://www.webrtc.org/experiments/rtp-hdrext/"

MID: Final = HeaderExtension("urn:ietf:params:rtp-hdrext:sdes:mid", 1, _BOTH, hop_by_hop=True)
TRANSPORT_CC: Final = HeaderExtension(
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01", 2, _BOTH, hop_by_hop=True
)
DEPENDENCY_DESCRIPTOR: Final = HeaderExtension(
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension", 3, _VIDEO
)
AUDIO_LEVEL: Final = HeaderExtension("urn:ietf:params:rtp-hdrext:ssrc-audio-level", 4, _AUDIO)

EXTENSIONS: Final = (
    MID,
    TRANSPORT_CC,
    DEPENDENCY_DESCRIPTOR,
    AUDIO_LEVEL,
    HeaderExtension("urn:3gpp:video-orientation", 5, _VIDEO),
    HeaderExtension(_WEBRTC + "playout-delay", 6, _VIDEO),
    HeaderExtension(_WEBRTC + "video-content-type", 7, _VIDEO),
    HeaderExtension(_WEBRTC + "color-space", 8, _VIDEO),
    HeaderExtension(_WEBRTC + "abs-capture-time", 9, _BOTH),
)

# These extensions identify the encoding of a packet or a resent packet, for tracks that may have several
# encodings (RFC 8852).
RID: Final = HeaderExtension("urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id", 10, _VIDEO, hop_by_hop=True)
REPAIRED_RID: Final = HeaderExtension(
    "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id", 11, _VIDEO, hop_by_hop=True
)
# The encodings that we request, smallest first: a quarter of the width, half of it, and the full width.
ENCODINGS: Final = ("q", "h", "f")

_CODECS = {"audio": AUDIO, "video": VIDEO}


def codecs(kind: str, *, redundancy: bool = False) -> tuple[Codec, ...]:
    """Return the codecs for audio or video, preferred codec first. With `redundancy`, audio includes RED."""
    return (*_CODECS[kind], RED) if redundancy and kind == RED.kind else _CODECS[kind]


_ALL_VIDEO = frozenset(codec.payload_type for codec in VIDEO)
# Every browser decodes VP8, so it is the fallback if a room's members have no other codec in common.
_FLOOR = frozenset({112})


def for_all(takes: Iterable[frozenset[int]]) -> frozenset[int] | None:
    """Return the payload types of the video codecs that all these receivers accept, or None if every
    receiver accepts every codec.
    """
    common = _ALL_VIDEO.intersection(*takes)
    return None if common == _ALL_VIDEO else common or _FLOOR


def payload_types(kind: str) -> frozenset[int]:
    """Return every payload type that a media section of the given kind may offer, including RTX payload
    types.
    """
    offered = codecs(kind, redundancy=True)
    rtx = {codec.rtx_payload_type for codec in offered if codec.rtx_payload_type is not None}
    return frozenset({codec.payload_type for codec in offered} | rtx)
