"""Writes the SFU's offers: four recvonly media sections, then a sendonly section for each forwarded track.

The first four are for microphone, camera, screen and screen audio. Takes a list of transceivers. Does not
choose the sections, keep state between offers, or read answers (`answer` does).

See RFC 8829 section 5.2 (offers), RFC 9143 (BUNDLE), RFC 8839 (ICE), RFC 8842 (DTLS), RFC 8285 (extmap), RFC
8830 (msid), RFC 5576 and RFC 4588 (sources, RTX), RFC 8853 (simulcast).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from svc.sfu.codecs import ENCODINGS, EXTENSIONS, REPAIRED_RID, RID, Codec, codecs
from svc.sfu.sdp import TOKEN, Attribute, MediaDescription, SdpError, SessionDescription

PROTOCOL = "UDP/TLS/RTP/SAVPF"

_DIRECTIONS = ("recvonly", "sendonly", "inactive")

# Characters and lengths as in RFC 8839 section 5.4 (ice-char).
_UFRAG = re.compile(r"[A-Za-z0-9+/]{4,256}")
_PWD = re.compile(r"[A-Za-z0-9+/]{22,256}")
# Stream and track ids as in RFC 8830 section 2 (msid-id = 1*64token-char).
_MAX_MSID = 64
_CNAME = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class IceParameters:
    """One side's ICE credentials. Raises SdpError unless they are well-formed."""

    ufrag: str
    pwd: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _UFRAG.fullmatch(self.ufrag):
            raise SdpError("An ice-ufrag has 4 to 256 letters, digits, + or /")
        if not _PWD.fullmatch(self.pwd):
            raise SdpError("An ice-pwd has 22 to 256 letters, digits, + or /")


@dataclass(slots=True)
class Transceiver:
    """One media section of the SFU's offer.

    The fields from `stream_id` to `first_codec` apply to sendonly sections, `wanted` and `simulcast` to
    recvonly sections, and `redundancy` to all audio sections.
    """

    mid: str
    kind: str  # "audio" or "video"
    direction: str  # "recvonly", "sendonly" or "inactive"
    stream_id: str = "-"
    track_id: str = ""
    cname: str = ""
    ssrc: int = 0
    rtx_ssrc: int | None = None
    first_codec: int | None = None  # the payload type that the publisher uses
    # The preferred payload types in a recvonly section. None if there is no preference.
    wanted: frozenset[int] | None = None
    simulcast: bool = False  # Whether the track in a recvonly video section may have several encodings.
    redundancy: bool = False  # Whether RED is offered in an audio section.


def set_redundancy(transceivers: Iterable[Transceiver], redundancy: bool) -> None:
    """Offer RED in all audio sections, or in none."""
    for transceiver in transceivers:
        transceiver.redundancy = redundancy and transceiver.kind == "audio"


def is_msid_token(text: str) -> bool:
    """Return whether the string is valid in a=msid as a stream id or track id."""
    return len(text) <= _MAX_MSID and TOKEN.fullmatch(text) is not None


def build_offer(
    *,
    session_id: int,
    version: int,
    ice: IceParameters,
    fingerprint: str,
    candidates: Sequence[str],
    transceivers: Sequence[Transceiver],
) -> str:
    """Write the offer for these media sections.

    `fingerprint` is the certificate's SHA-256 ("AA:BB…"). A candidate is "candidate:…". Raises SdpError if a
    value is not valid on its line, or is repeated where it must be unique.
    """
    _check_unique(transceivers)
    transport = [
        Attribute("ice-ufrag", ice.ufrag),
        Attribute("ice-pwd", ice.pwd),
        Attribute("ice-options", "trickle"),
        Attribute("fingerprint", f"sha-256 {fingerprint}"),
        Attribute("setup", "actpass"),
    ]
    session = SessionDescription(f"- {session_id} {version} IN IP4 127.0.0.1", lines=[("t", "0 0")])
    session.attributes = [
        Attribute("group", " ".join(["BUNDLE", *(transceiver.mid for transceiver in transceivers)])),
        # Without this attribute, a browser negotiates the Dependency Descriptor but does not send it.
        Attribute("extmap-allow-mixed"),
        Attribute("msid-semantic", "WMS *"),
    ]
    session.media = [_offer_section(transceiver, transport) for transceiver in transceivers]
    for media in session.media[:1]:  # The first section's values apply to all (RFC 9143 section 7.1.3).
        media.attributes += [Attribute("candidate", text.removeprefix("candidate:")) for text in candidates]
    return str(session)


def _check_unique(transceivers: Sequence[Transceiver]) -> None:
    """Reject a mid, source or msid that occurs in two media sections, because a browser would reject the
    whole offer.
    """
    sending = [transceiver for transceiver in transceivers if transceiver.direction == "sendonly"]
    sources = [transceiver.ssrc for transceiver in sending]
    sources += [transceiver.rtx_ssrc for transceiver in sending if transceiver.rtx_ssrc is not None]
    _refuse_repeated("mid", (transceiver.mid for transceiver in transceivers))
    _refuse_repeated("source", sources)
    _refuse_repeated("track", ((transceiver.stream_id, transceiver.track_id) for transceiver in sending))


def _refuse_repeated(what: str, values: Iterable[object]) -> None:
    repeated = [value for value, times in Counter(values).items() if times > 1]
    if repeated:
        raise SdpError(f"two sections of the offer have the same {what}: {repeated[0]!r}")


def _offer_section(transceiver: Transceiver, transport: list[Attribute]) -> MediaDescription:
    if not TOKEN.fullmatch(transceiver.mid) or transceiver.direction not in _DIRECTIONS:
        raise SdpError(f"{transceiver.mid!r} {transceiver.direction!r} is not a section of an offer")
    receiving = transceiver.direction == "recvonly"
    simulcast = receiving and transceiver.simulcast and transceiver.kind == "video"
    offered = _preferred_codecs(
        transceiver.kind, transceiver.first_codec, transceiver.wanted, transceiver.redundancy
    )
    media = MediaDescription(transceiver.kind, 9, PROTOCOL, _formats(offered))
    media.lines = [("c", "IN IP4 0.0.0.0")]
    media.attributes = [
        *transport,
        Attribute("mid", transceiver.mid),
        *_extmaps(transceiver.kind),
        *(_RID_EXTMAPS if simulcast else ()),
        Attribute(transceiver.direction),
        Attribute("rtcp-mux"),
        Attribute("rtcp-rsize"),
        *_codec_attributes(offered, receiving),
        *(_SIMULCAST if simulcast else ()),
    ]
    if transceiver.direction == "sendonly":
        media.attributes += _sources(transceiver)
    return media


@cache
def _preferred_codecs(
    kind: str, first_codec: int | None, wanted: frozenset[int] | None, redundancy: bool
) -> tuple[Codec, ...]:
    """Return the codecs for audio or video: first the publisher's codec, then the codecs that receivers
    prefer.
    """

    def rank(codec: Codec) -> tuple[bool, bool]:
        number = codec.payload_type
        return number != first_codec, wanted is not None and number not in wanted

    return tuple(sorted(codecs(kind, redundancy=redundancy), key=rank))


def _formats(offered: tuple[Codec, ...]) -> list[str]:
    pairs = [(codec.payload_type, codec.rtx_payload_type) for codec in offered]
    return [str(number) for pair in pairs for number in pair if number is not None]


@cache
def _extmaps(kind: str) -> tuple[Attribute, ...]:
    """Return the header extensions for one media section. Transport-wide sequence numbers allow feedback in
    both directions.
    """
    return tuple(
        Attribute("extmap", f"{extension.id} {extension.uri}")
        for extension in EXTENSIONS
        if kind in extension.kinds
    )


_RID_EXTMAPS = tuple(
    Attribute("extmap", f"{extension.id} {extension.uri}") for extension in (RID, REPAIRED_RID)
)
# RFC 8851 and RFC 8853. Browsers set up their encodings in this order, each twice as wide as the one before.
_SIMULCAST = (
    *(Attribute("rid", f"{rid} recv") for rid in ENCODINGS),
    Attribute("simulcast", f"recv {';'.join(ENCODINGS)}"),
)


@cache
def _codec_attributes(offered: tuple[Codec, ...], receiving: bool) -> tuple[Attribute, ...]:
    attributes = [attribute for codec in offered for attribute in _codec(codec, receiving)]
    if not receiving:
        # One line for all codecs saves space. There are many media sections, and an offer must fit in one
        # message.
        attributes.append(Attribute("rtcp-fb", "* transport-cc"))
    return tuple(attributes)


def _codec(codec: Codec, receiving: bool) -> list[Attribute]:
    number = codec.payload_type
    feedback = ("transport-cc", *codec.feedback) if receiving else codec.feedback
    attributes = [Attribute("rtpmap", f"{number} {codec.rtpmap}")]
    attributes += [Attribute("rtcp-fb", f"{number} {kind}") for kind in feedback]
    if codec.fmtp:
        attributes.append(Attribute("fmtp", f"{number} {codec.fmtp}"))
    if codec.rtx_payload_type is not None:
        attributes.append(Attribute("rtpmap", f"{codec.rtx_payload_type} rtx/{codec.clock_rate}"))
        attributes.append(Attribute("fmtp", f"{codec.rtx_payload_type} apt={number}"))
    return attributes


def _sources(transceiver: Transceiver) -> list[Attribute]:
    """Return the attributes for a sending section's msid, its source and its retransmission source."""
    stream_id, track_id, cname = transceiver.stream_id, transceiver.track_id, transceiver.cname
    if not (is_msid_token(stream_id) and is_msid_token(track_id) and _CNAME.fullmatch(cname)):
        raise SdpError(f"the ids of the track in section {transceiver.mid} are not tokens")
    attributes = [Attribute("msid", f"{stream_id} {track_id}")]
    if transceiver.rtx_ssrc is not None:
        attributes.append(Attribute("ssrc-group", f"FID {transceiver.ssrc} {transceiver.rtx_ssrc}"))
    attributes.append(Attribute("ssrc", f"{transceiver.ssrc} cname:{cname}"))
    if transceiver.rtx_ssrc is not None:
        attributes.append(Attribute("ssrc", f"{transceiver.rtx_ssrc} cname:{cname}"))
    return attributes
