"""Converts session descriptions (SDP) to objects and back, without loss and in the same order.

Implements the grammar of lines and of the attributes that this service reads, and limits their size and
number. Keeps every other attribute unchanged. `offer` and `answer` define the required content.

See RFC 8866 (SDP), RFC 8285 section 5 (extmap), RFC 5576 (ssrc, ssrc-group), RFC 5888 (mid, group), RFC 8830
(msid).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

MAX_TEXT = 256 * 1024  # in characters; the same as the size limit of the frame that carries the description
# Parsing a line takes a microsecond. Browsers' lines are 34 characters long on average, so MAX_TEXT is enough
# for 7,700 lines.
MAX_LINES = 10_000
# A browser's longest line lists the 1,024 media sections in a group.
MAX_LINE = 8 * 1024
# Enough for the client's own 4 media sections and 4 from each of 200 peers (MAX_PEERS).
MAX_MEDIA_SECTIONS = 1024

DIRECTIONS = ("sendrecv", "sendonly", "recvonly", "inactive")

# A token's characters (RFC 8866 section 9, token-char).
TOKEN = re.compile(r"[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]+")

_LINE = re.compile(r"([a-z])=([^\0\r\n]*)")
_MEDIA = re.compile(r"(\S+) ([0-9]{1,5}) (\S+)((?: +\S+)+)")
_RTPMAP = re.compile(r"([0-9]{1,3}) ([^/\s]+)/([0-9]{1,9})(?:/([0-9]{1,3}))?")
_EXTMAP = re.compile(r"([0-9]{1,5})(?:/(\w+))? (\S+)(?: .*)?")
_SSRC = re.compile(r"([0-9]{1,10})(?: .*)?")
# Semicolons separate encodings, commas separate alternatives, and ~ marks a paused encoding (RFC 8853 section
# 5.1).
_RIDS = r"~?[A-Za-z0-9_-]+(?:[;,]~?[A-Za-z0-9_-]+)*"
_SIMULCAST = re.compile(rf" *(send|recv) +({_RIDS})(?: +(send|recv) +({_RIDS}))? *")
_RID = re.compile(r"[A-Za-z0-9_-]+")
_SESSION_LETTERS = frozenset("iuepcbtrzk")
_MEDIA_LETTERS = frozenset("icbk")


class SdpError(ValueError):
    """The text is not a valid session description. The message may be sent to the peer."""


class Attribute(NamedTuple):
    """One a= line. A flag has no value."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        return f"a={self.name}" if self.value is None else f"a={self.name}:{self.value}"


class RtpMap(NamedTuple):
    name: str
    clock_rate: int
    channels: int


class ExtMap(NamedTuple):
    id: int
    direction: str | None
    uri: str


class Msid(NamedTuple):
    stream_id: str  # "-" for a track without a stream
    track_id: str | None


@dataclass(slots=True, kw_only=True)
class Section:
    """The lines after v= or after one m= line. `lines` contains the lines that are not attributes."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)

    def values(self, name: str) -> list[str]:
        """Return the values of all attributes with the given name, in order."""
        return [value for key, value in self.attributes if key == name and value is not None]

    def value(self, name: str) -> str | None:
        """Return the value of the first attribute with the given name."""
        return next((value for key, value in self.attributes if key == name), None)

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self.attributes)

    def _lines(self) -> Iterator[str]:
        yield from (f"{letter}={value}" for letter, value in self.lines)
        yield from map(str, self.attributes)

    def _take(self, letter: str, value: str, allowed: frozenset[str]) -> None:
        if letter == "a":
            name, colon, rest = value.partition(":")
            if not TOKEN.fullmatch(name):
                raise SdpError(f"{_quote(name)} is not an attribute name")
            self.attributes.append(Attribute(name, rest if colon else None))
        elif letter in allowed:
            self.lines.append((letter, value))
        else:
            raise SdpError(f"a {letter}= line is not allowed here")


@dataclass(slots=True)
class MediaDescription(Section):
    """One m= line and the lines that follow it."""

    kind: str
    port: int
    protocol: str
    formats: list[str]

    @classmethod
    def parse(cls, value: str) -> Self:
        """Parse the text after m=."""
        match = _MEDIA.fullmatch(value)
        if match is None or int(match[2]) > 0xFFFF:
            raise SdpError(f"{_quote(value)} is not a media section")
        return cls(match[1], int(match[2]), match[3], match[4].split())

    @property
    def mid(self) -> str | None:
        return self.value("mid")

    @property
    def direction(self) -> str:
        """The direction attribute, or else sendrecv (RFC 8866 section 6.7)."""
        return next((name for name, _ in self.attributes if name in DIRECTIONS), "sendrecv")

    def rtpmaps(self) -> dict[int, RtpMap]:
        """Return the codec (a=rtpmap) of each payload type."""
        maps: dict[int, RtpMap] = {}
        for value in self.values("rtpmap"):
            match = _RTPMAP.fullmatch(value)
            if match is None or int(match[1]) > 127:
                raise SdpError(f"a=rtpmap:{_quote(value)} is not a payload type mapping")
            maps[int(match[1])] = RtpMap(match[2], int(match[3]), int(match[4] or 1))
        return maps

    def extmaps(self) -> list[ExtMap]:
        maps: list[ExtMap] = []
        for value in self.values("extmap"):
            match = _EXTMAP.fullmatch(value)
            if match is None or (match[2] is not None and match[2] not in DIRECTIONS):
                raise SdpError(f"a=extmap:{_quote(value)} is not a header extension")
            maps.append(ExtMap(int(match[1]), match[2], match[3]))
        return maps

    def ssrcs(self) -> tuple[int, ...]:
        """Return the sources that the media section announces, in order and without duplicates."""
        ssrcs: dict[int, None] = {}
        for value in self.values("ssrc"):
            match = _SSRC.fullmatch(value)
            if match is None or int(match[1]) > 0xFFFFFFFF:
                raise SdpError(f"a=ssrc:{_quote(value)} is not a source")
            ssrcs[int(match[1])] = None
        return tuple(ssrcs)

    def sent_rids(self) -> frozenset[str]:
        """Return the encodings that the media section sends. Both a=rid and a=simulcast must list them (RFC
        8853 section 5.2).
        """
        value = self.value("simulcast")
        if value is None:
            return frozenset()
        match = _SIMULCAST.fullmatch(value)
        if match is None or match[1] == match[3]:
            raise SdpError(f"a=simulcast:{_quote(value)} is not a list of encodings")
        streams = {match[1]: match[2], match[3]: match[4]}.get("send", "")
        described = [text.split(" ", 2) for text in self.values("rid")]
        sending = {words[0] for words in described if words[1:2] == ["send"]}
        return frozenset(_RID.findall(streams)) & sending

    def msid(self) -> Msid | None:
        """Return the stream and track that the media section announces."""
        value = self.value("msid")
        if value is None:
            return None
        stream_id, _, track_id = value.partition(" ")
        return Msid(stream_id, track_id or None)

    def _lines(self) -> Iterator[str]:
        yield f"m={self.kind} {self.port} {self.protocol} {' '.join(self.formats)}"
        yield from Section._lines(self)


@dataclass(slots=True)
class SessionDescription(Section):
    """A complete session description. `origin` is the text after o=, and `name` is the text after s=."""

    origin: str
    name: str = "-"
    media: list[MediaDescription] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a description. Raises SdpError with a readable reason."""
        lines = _split(text)
        if [letter for letter, _ in lines[:3]] != ["v", "o", "s"] or lines[0] != ("v", "0"):
            raise SdpError("a session description begins with v=0, o= and s=")
        session = cls(lines[1][1], lines[2][1])
        section: Section = session
        allowed = _SESSION_LETTERS
        for letter, value in lines[3:]:
            if letter == "m":
                section, allowed = MediaDescription.parse(value), _MEDIA_LETTERS
                session.media.append(section)
            else:
                section._take(letter, value, allowed)
        if len(session.media) > MAX_MEDIA_SECTIONS:
            raise SdpError(f"more than {MAX_MEDIA_SECTIONS} media sections")
        return session

    def groups(self, semantics: str) -> list[list[str]]:
        """Return the mids of every group with the given semantics."""
        return [words[1:] for value in self.values("group") if (words := value.split())[:1] == [semantics]]

    def __str__(self) -> str:
        lines = [*self._lines()]
        for media in self.media:
            lines.extend(media._lines())
        return _join(lines)

    def _lines(self) -> Iterator[str]:
        yield from ("v=0", f"o={self.origin}", f"s={self.name}")
        yield from Section._lines(self)


def _split(text: str) -> list[tuple[str, str]]:
    if len(text) > MAX_TEXT:
        raise SdpError(f"a session description has at most {MAX_TEXT} characters")
    if text.count("\n") > MAX_LINES:
        raise SdpError(f"a session description has at most {MAX_LINES} lines")
    # splitlines() would also split at characters that values may contain. Some clients leave a space at the
    # end of a line, or an empty line at the end of the text. Both are ignored.
    lines = [line.rstrip(" ") for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]
    matches = [_LINE.fullmatch(line) for line in lines]
    for line, match in zip(lines, matches, strict=True):
        if match is None:
            raise SdpError(f"{_quote(line)} is not a line of a session description")
        if len(line) > MAX_LINE:
            raise SdpError(f"{_quote(line)} has more than {MAX_LINE} characters")
    return [(match[1], match[2]) for match in matches if match is not None]


def _join(lines: Iterable[str]) -> str:
    """Join lines into a description. Reject a value that contains a line break."""
    lines = [*lines, ""]
    text = "\r\n".join(lines)
    breaks = len(lines) - 1
    if text.count("\r") != breaks or text.count("\n") != breaks or "\0" in text:
        raise SdpError("a value contains a line break")
    return text


def _quote(text: str) -> str:
    """Return a peer's text in quotes, shortened for an error message."""
    return repr(text if len(text) <= 40 else text[:40] + "…")
