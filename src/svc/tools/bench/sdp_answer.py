"""Writes SDP answers to the SFU's offers, as a client that sends one track and receives all tracks would.

Converts text to text, without network access. See RFC 8829 section 5.3, RFC 9143 (BUNDLE).
"""

from dataclasses import dataclass

from svc.sfu.codecs import AUDIO_LEVEL, MID, TRANSPORT_CC
from svc.sfu.ice import IceCredentials
from svc.sfu.sdp import Attribute, MediaDescription, SessionDescription
from svc.tools.bench.errors import BenchError


@dataclass(frozen=True, slots=True)
class Terms:
    """The offer's payload type and extension ids for our track. An id is 0 if the offer has no such
    extension.
    """

    payload_type: int = 0
    mid_id: int = 0
    twcc_id: int = 0
    level_id: int = 0

    @classmethod
    def of(cls, offer: SessionDescription, mid: str, codec: str) -> "Terms":
        """Return the terms in the offer's media section with this mid."""
        section = next((media for media in offer.media if media.mid == mid), None)
        if section is None:
            raise BenchError(f"the offer has no media section {mid}")
        maps = section.rtpmaps().items()
        number = next((number for number, what in maps if what.name.lower() == codec.lower()), None)
        if number is None:
            raise BenchError(f"the offer has no {codec} in media section {mid}")
        ids = {entry.uri: entry.id for entry in section.extmaps()}
        return cls(number, ids.get(MID.uri, 0), ids.get(TRANSPORT_CC.uri, 0), ids.get(AUDIO_LEVEL.uri, 0))


# The attributes of an offered media section that the answer repeats, to accept every codec and extension.
_KEPT_ATTRIBUTES = frozenset({"mid", "rtcp-mux", "rtcp-rsize", "extmap", "rtpmap", "fmtp", "rtcp-fb"})


def answer(
    offer: SessionDescription, *, ice: IceCredentials, fingerprint: str, sends: str, ssrc: int, name: str
) -> str:
    """Accept everything in the offer, and send in the media section whose mid is `sends`, if any."""
    transport = [
        Attribute("ice-ufrag", ice.ufrag),
        Attribute("ice-pwd", ice.pwd),
        Attribute("fingerprint", f"sha-256 {fingerprint}"),
        Attribute("setup", "active"),
    ]
    description = SessionDescription("- 1 1 IN IP4 127.0.0.1", lines=[("t", "0 0")])
    mids = " ".join(media.mid or "" for media in offer.media)
    description.attributes = [Attribute("group", f"BUNDLE {mids}"), Attribute("extmap-allow-mixed")]
    for offered in offer.media:
        section = MediaDescription(offered.kind, 9, offered.protocol, offered.formats)
        section.lines = [("c", "IN IP4 0.0.0.0")]
        section.attributes = transport + [
            attribute for attribute in offered.attributes if attribute.name in _KEPT_ATTRIBUTES
        ]
        sending = offered.direction == "recvonly" and offered.mid == sends
        section.attributes.append(Attribute(_direction(offered.direction, sending)))
        if sending:
            section.attributes += [
                Attribute("msid", f"{name} {name}"),
                Attribute("ssrc", f"{ssrc} cname:{name}"),
            ]
        description.media.append(section)
    return str(description)


def _direction(offered: str, sending: bool) -> str:
    if offered == "sendonly":
        return "recvonly"
    return "sendonly" if sending else "inactive"
