"""Writes the answers that a client without media would give to the SFU's offers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from svc.sfu.codecs import ENCODINGS
from svc.sfu.sdp import Attribute, MediaDescription, SessionDescription

FINGERPRINT = ":".join(["AB"] * 32)


@dataclass(slots=True)
class AnsweringClient:
    """A client that answers every offer in the same way, until the test changes its fields."""

    # The mids of the sending media sections, each with its stream and track id, or "" if there is none.
    sends: dict[str, str] = field(default_factory=dict)
    ssrcs: Mapping[str, int] = field(default_factory=dict)
    declines: Collection[str] = ()  # The mids answered as inactive although the offer has a track.
    rejects: Collection[str] = ()  # The mids answered with port 0.
    without_codecs: Collection[str] = ()  # The names of codecs to omit, in upper case.
    ufrag: str = "clientUfrag"
    fingerprint: str = FINGERPRINT
    setup: str = "active"
    candidates: tuple[str, ...] = ()
    mixed: bool = True
    simulcast: bool = False  # Whether to send each video in every encoding that the offer requests.

    def answer(self, offer: str) -> str:
        """Return the session description that answers `offer`."""
        theirs = SessionDescription.parse(offer)
        ours = SessionDescription("- 1 1 IN IP4 127.0.0.1", lines=[("t", "0 0")])
        ours.media = [self._section(media) for media in theirs.media]
        bundled = " ".join(media.mid or "" for media in ours.media if media.port)
        ours.attributes = [Attribute("group", f"BUNDLE {bundled}")]
        if self.mixed:
            ours.attributes.append(Attribute("extmap-allow-mixed"))
        return str(ours)

    def _section(self, offered: MediaDescription) -> MediaDescription:
        mid = offered.mid or ""
        formats = [number for number in offered.formats if self._keeps(offered, number)]
        port = 0 if mid in self.rejects or not formats else 9
        media = MediaDescription(offered.kind, port, offered.protocol, formats or offered.formats)
        media.lines = [("c", "IN IP4 0.0.0.0")]
        media.attributes = [
            Attribute("mid", mid),
            Attribute(self._direction(offered, mid)),
            Attribute("rtcp-mux"),
            Attribute("ice-ufrag", self.ufrag),
            Attribute("ice-pwd", "clientPasswordOf22Characters"),
            Attribute("fingerprint", f"sha-256 {self.fingerprint}"),
            Attribute("setup", self.setup),
            *_kept(offered, lambda attribute: attribute.name == "extmap"),
            *_kept(offered, lambda attribute: _concerns(attribute, formats)),
            *(Attribute("candidate", text.removeprefix("candidate:")) for text in self.candidates),
        ]
        if self.sends.get(mid):
            media.attributes.append(Attribute("msid", self.sends[mid]))
        if self.simulcast and self.sends.get(mid) and offered.has("simulcast"):
            media.attributes += [Attribute("rid", f"{rid} send") for rid in ENCODINGS]
            media.attributes.append(Attribute("simulcast", f"send {';'.join(ENCODINGS)}"))
        if mid in self.ssrcs:
            media.attributes.append(Attribute("ssrc", f"{self.ssrcs[mid]} cname:client"))
        return media

    def _direction(self, offered: MediaDescription, mid: str) -> str:
        if offered.direction == "sendonly" and mid not in self.declines:
            return "recvonly"
        return "sendonly" if offered.direction == "recvonly" and mid in self.sends else "inactive"

    def _keeps(self, offered: MediaDescription, number: str) -> bool:
        maps = offered.rtpmaps()
        repeated = [
            value.split("apt=")[1] for value in offered.values("fmtp") if value.startswith(f"{number} apt=")
        ]
        names = {maps[int(repeat)].name.upper() for repeat in (number, *repeated) if int(repeat) in maps}
        return names.isdisjoint(self.without_codecs)


def _kept(offered: MediaDescription, which: Callable[[Attribute], bool]) -> list[Attribute]:
    return [attribute for attribute in offered.attributes if which(attribute)]


def _concerns(attribute: Attribute, formats: list[str]) -> bool:
    """Return whether the attribute refers to one of the payload types."""
    return (
        attribute.name in ("rtpmap", "fmtp", "rtcp-fb") and (attribute.value or "").split(" ")[0] in formats
    )
