"""Reads a client's answer and checks each media section against the offer.

Does not apply the answer: ICE, DTLS and the forwarders do. Considers only one offer and its answer. Accepts
everything that Chromium accepts, even where the standards are stricter.

See RFC 8829 section 5.3 (answers), RFC 9143 (BUNDLE), RFC 8839 (ICE), RFC 8122 (fingerprint), RFC 8842
(setup), RFC 8285 (extmap), RFC 8830 (msid).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from svc.sfu.codecs import ENCODINGS, EXTENSIONS, Codec, codecs
from svc.sfu.offer import IceParameters, Transceiver, is_msid_token
from svc.sfu.sdp import MediaDescription, RtpMap, SdpError, Section, SessionDescription

# The directions that an answer may contain for each offered direction (RFC 8829 section 5.3.1).
_ANSWERS = {
    "recvonly": ("sendonly", "inactive"),
    "sendonly": ("recvonly", "inactive"),
    "inactive": ("inactive",),
}

# Media is encrypted with keys from DTLS, regardless of which of these protocols the m-line states (RFC 8829
# section 5.1.2).
_PROTOCOLS = frozenset(
    under + profile
    for under in ("UDP/TLS/", "TCP/TLS/", "TCP/DTLS/", "")
    for profile in ("RTP/SAVPF", "RTP/SAVP", "RTP/AVPF", "RTP/AVP")
)

# RFC 8122 section 5. SHA-1 is not accepted, because a certificate with the same SHA-1 fingerprint can be
# forged.
_FINGERPRINT = re.compile(r"[0-9A-F]{2}(?::[0-9A-F]{2})*")
_HASH_BYTES = {"sha-256": 32, "sha-384": 48, "sha-512": 64}


class AnswerError(SdpError):
    """The answer does not fit the offer. The message may be sent to the peer."""


@dataclass(frozen=True, slots=True)
class AnsweredSection:
    """One media section of the answer. Directions are from the client's point of view.

    A rejected section (port 0, or no codec in common) has no payload types. When sending, a browser may use
    any offered payload type, even one that its answer omits (`codecs.payload_types`).
    """

    mid: str
    kind: str
    sending: bool
    receiving: bool
    payload_types: frozenset[int]  # includes RTX payload types
    extension_ids: frozenset[int]
    ssrcs: tuple[int, ...]  # empty unless the client sends; includes RTX SSRCs
    stream_id: str | None  # None if the client does not send, or if the id is absent, "-" or not a token
    track_id: str | None
    rids: tuple[str, ...] = ()  # the encodings, smallest first, if the track has more than one

    @property
    def rejected(self) -> bool:
        return not self.payload_types


@dataclass(frozen=True, slots=True)
class AnswerTerms:
    """The values from an answer that the SFU uses."""

    ice: IceParameters
    fingerprints: tuple[tuple[str, str], ...]  # (algorithm in lower case, value in upper case)
    setup: str  # the client's role: "active" or "passive"
    mixed: bool  # one- and two-byte extensions may be mixed (RFC 8285 section 4.1.2)
    sections: tuple[AnsweredSection, ...]
    candidates: tuple[str, ...]  # "candidate:…", as in an RTCIceCandidateInit


def read_answer(text: str, transceivers: Sequence[Transceiver]) -> AnswerTerms:
    """Read the answer to the offer of these sections. Raises SdpError with a readable reason."""
    answer = SessionDescription.parse(text)
    if len(answer.media) != len(transceivers):
        raise AnswerError(f"The offer has {len(transceivers)} media sections, the answer {len(answer.media)}")
    answered = tuple(map(_read_section, answer.media, transceivers))
    accepted = [media for media in answer.media if media.port]
    if not accepted:
        raise AnswerError("The answer rejects every media section")
    sections = _transport_sections(answer, accepted)
    return AnswerTerms(
        ice=IceParameters(_one("ice-ufrag", sections), _one("ice-pwd", sections)),
        fingerprints=_fingerprints(_transport_values("fingerprint", sections)),
        setup=_setup(sections),
        mixed=_allows_mixed_extmap(answer, accepted),
        sections=answered,
        candidates=_candidates(accepted),
    )


def _read_section(media: MediaDescription, offered: Transceiver) -> AnsweredSection:
    """Check one section of the answer against the offer. A rejected section may omit all attributes."""
    nameless = not media.port and media.mid is None
    if media.kind != offered.kind or not (nameless or media.mid == offered.mid):
        raise AnswerError(
            f"Section {offered.mid} of the answer is not the {offered.kind} section of the offer"
        )
    if not media.port:
        return AnsweredSection(
            offered.mid, offered.kind, False, False, frozenset(), frozenset(), (), None, None
        )
    if media.protocol not in _PROTOCOLS:
        raise AnswerError(f"Section {offered.mid} of the answer does not use RTP")
    if media.direction not in _ANSWERS[offered.direction]:
        raise AnswerError(
            f"Section {offered.mid} of the answer is {media.direction}; to {offered.direction} "
            f"it can be {' or '.join(_ANSWERS[offered.direction])}"
        )
    payload_types = _common_payload_types(media, redundancy=offered.redundancy)
    sending = media.direction == "sendonly" and bool(payload_types)
    # Some peers announce a track even if they send nothing in the media section.
    stream_id, track_id = _msid(media) if sending else (None, None)
    return AnsweredSection(
        mid=offered.mid,
        kind=offered.kind,
        sending=sending,
        receiving=media.direction == "recvonly" and bool(payload_types),
        payload_types=payload_types,
        extension_ids=_common_extensions(media),
        ssrcs=media.ssrcs() if sending else (),
        stream_id=stream_id,
        track_id=track_id,
        rids=_rids(media) if sending and offered.simulcast else (),
    )


def _rids(media: MediaDescription) -> tuple[str, ...]:
    """Return the rids of the offered encodings that the client sends, or an empty tuple if it sends only one.

    Packets with other rids are dropped.
    """
    sent = media.sent_rids()
    rids = tuple(rid for rid in ENCODINGS if rid in sent)
    return rids if len(rids) > 1 else ()


def _common_payload_types(media: MediaDescription, *, redundancy: bool) -> frozenset[int]:
    """Return our payload types that the answer lists with the same meaning. An RTX type is included only if
    its codec is.
    """
    maps, formats = media.rtpmaps(), frozenset(media.formats)
    common: set[int] = set()
    for codec in codecs(media.kind, redundancy=redundancy):
        if str(codec.payload_type) not in formats or not _means(maps.get(codec.payload_type), codec):
            continue
        common.add(codec.payload_type)
        rtx = codec.rtx_payload_type
        if rtx is not None and str(rtx) in formats and rtx in maps and maps[rtx].name.lower() == "rtx":
            common.add(rtx)
    return frozenset(common)


def _means(mapping: RtpMap | None, codec: Codec) -> bool:
    if mapping is None:  # Only a static payload type may omit the mapping (RFC 3551 section 6).
        return codec.payload_type < 35
    return mapping.name.lower() == codec.name.lower() and mapping.clock_rate == codec.clock_rate


def _common_extensions(media: MediaDescription) -> frozenset[int]:
    """Return our extension ids that the answer keeps with the same meaning (RFC 8285 section 6)."""
    table = {(extension.id, extension.uri) for extension in EXTENSIONS}
    kept = [entry for entry in media.extmaps() if entry.direction != "inactive"]
    return frozenset(entry.id for entry in kept if (entry.id, entry.uri) in table)


def _msid(media: MediaDescription) -> tuple[str | None, str | None]:
    msid = media.msid()
    if msid is None:
        return None, None
    stream_id = msid.stream_id if msid.stream_id != "-" and is_msid_token(msid.stream_id) else None
    track_id = msid.track_id if msid.track_id is not None and is_msid_token(msid.track_id) else None
    return stream_id, track_id


def _transport_sections(answer: SessionDescription, accepted: list[MediaDescription]) -> list[Section]:
    """Return the parts of the answer that can describe the single transport, in order of precedence.

    Attributes are read from the other media sections only if the bundle's first accepted section omits them
    (RFC 9143 section 7.1.3).
    """
    groups = answer.groups("BUNDLE")
    by_mid = {media.mid or "": media for media in accepted}
    offered = {media.mid or "" for media in answer.media}
    if len(groups) != 1 or not by_mid.keys() <= set(groups[0]) <= offered:
        raise AnswerError("The answer does not bundle all its media sections into one transport")
    if not all(media.has("rtcp-mux") for media in accepted):
        raise AnswerError("The answer needs a=rtcp-mux in every media section")
    bundled = [by_mid[mid] for mid in groups[0] if mid in by_mid]
    return [bundled[0], answer, *bundled[1:]]


def _transport_values(name: str, sections: Sequence[Section]) -> list[str]:
    return next((values for section in sections if (values := section.values(name))), [])


def _one(name: str, sections: Sequence[Section]) -> str:
    values = _transport_values(name, sections)
    if len(values) != 1:
        raise AnswerError(f"The answer needs one a={name}")
    return values[0]


def _fingerprints(values: list[str]) -> tuple[tuple[str, str], ...]:
    fingerprints: list[tuple[str, str]] = []
    for text in values:
        algorithm, _, value = text.partition(" ")
        algorithm, value = algorithm.lower(), value.upper()
        if algorithm not in _HASH_BYTES:
            continue
        if not _FINGERPRINT.fullmatch(value) or len(value) != 3 * _HASH_BYTES[algorithm] - 1:
            raise AnswerError(f"The {algorithm} fingerprint of the answer is malformed")
        fingerprints.append((algorithm, value))
    if not fingerprints:
        raise AnswerError(f"The answer needs a fingerprint of one of these kinds: {', '.join(_HASH_BYTES)}")
    return tuple(fingerprints)


def _setup(sections: Sequence[Section]) -> str:
    """Return the client's DTLS role. If the answer does not state a role, the client is the DTLS client, as
    in libwebrtc.
    """
    setup = _transport_values("setup", sections)
    if setup not in ([], ["active"], ["passive"]):
        raise AnswerError("The answer needs a=setup:active or a=setup:passive")
    return setup[0] if setup else "active"


def _allows_mixed_extmap(answer: SessionDescription, accepted: list[MediaDescription]) -> bool:
    return answer.has("extmap-allow-mixed") or all(media.has("extmap-allow-mixed") for media in accepted)


def _candidates(accepted: list[MediaDescription]) -> tuple[str, ...]:
    """Return the candidates from all media sections without duplicates, because bundled sections may repeat
    them.
    """
    values = [value for media in accepted for value in media.values("candidate")]
    return tuple(f"candidate:{value}" for value in dict.fromkeys(values))
