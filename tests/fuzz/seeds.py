"""Generates the initial inputs for fuzzing: real packets, descriptors, answers and files, shortened as
necessary.

`python -m tests.fuzz.seeds TARGET FOLDER` writes the inputs, which are not in the repository. They save the
fuzzer from having to discover the packet formats.
"""

import hashlib
import struct
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from aioice.stun import Class, Message, Method

from svc.sfu.offer import build_offer
from svc.tools.rtpdump import read
from tests.chat.private_conversations import mls_messages
from tests.fuzz.room import AUDIO
from tests.fuzz.targets.engine import STEPS, ask, media, nack, raw_rtcp, raw_rtp, report, wait
from tests.fuzz.targets.sdp import SHORT
from tests.kit import packets
from tests.kit.captures import FOLDER, NAMES, capture
from tests.kit.sdp_answers import FINGERPRINT, AnsweringClient
from tests.sfu.sdp_exchange import ANSWERS, CANDIDATE, ICE

PER_CAPTURE = 20


def header() -> Iterator[bytes]:
    for name in NAMES:
        yield from (packet.data for packet in capture(name).packets[:PER_CAPTURE])
    yield packets.rtp(ssrc=1, sequence=2, payload_type=3, csrcs=[4, 5], payload=b"six", padding=7)


def keyframe() -> Iterator[bytes]:
    for name in NAMES:
        for packet in capture(name).packets[:PER_CAPTURE]:
            yield packet.data[packet.header["payload_offset"] :][:64]


def descriptor() -> Iterator[bytes]:
    for stream in _descriptors():
        yield b"".join(bytes([len(message)]) + message for message in stream)
        yield from stream


def rtcp() -> Iterator[bytes]:
    for path in FOLDER.glob("*.fb.rtpdump"):
        yield from islice(_records(path), PER_CAPTURE)
    for ssrc in (100_002, 200_002, 200_004):
        yield packets.pli(ssrc) + packets.fir(ssrc) + packets.remb(ssrc)
        yield packets.receiver_report(1, ssrc, fraction_lost=90, lsr=1 << 16, dlsr=100)
        yield packets.nack(ssrc, range(5))
    for ssrc in (1000, 1500, 2000, 2500):
        yield packets.sender_report(ssrc, 1 << 32, 90000) + packets.rtcp(203, 1, struct.pack("!I", ssrc))


def twcc() -> Iterator[bytes]:
    for path in FOLDER.glob("*.fb.rtpdump"):
        for compound in islice(_records(path), 10 * PER_CAPTURE):
            packets_of = packets.split_compound(compound)
            yield from (body for kind, form, body in packets_of if (kind, form) == (205, 15))


def bandwidth() -> Iterator[bytes]:
    """Yield twenty rounds of ten packets, each followed by a report that they arrived 20 ms apart."""
    turns = b""
    for turn in range(20):
        turns += b"\3" + b"\x0a" + b"\2" * 10 + b"\x0a"
        for number in range(10 * turn, 10 * turn + 10):
            turns += b"\1" + struct.pack("!iH", 4000 + 80 * number, number)
        turns += (15 + turn).to_bytes(3, "big")
    yield (5_000_000).to_bytes(3, "big") + bytes(2) + turns
    yield bytes(5) + turns


def redundancy() -> Iterator[bytes]:
    """Yield RED payloads with Opus alone, and with one, two and too many earlier packets."""
    for count in (0, 1, 2, 10):
        heads = b"".join(
            bytes([0x80 | AUDIO]) + (960 * n << 10 | 9).to_bytes(3, "big") for n in range(count, 0, -1)
        )
        yield heads + bytes([AUDIO]) + b"redundant" * count + b"primary"


def stun() -> Iterator[bytes]:
    username, priority = b"\0\x06\0\x0cufrag:theirs", b"\0\x24\0\x04\1\2\3\4"
    yield username + priority + b"\x80\x2a\0\x08" + bytes(8) + b"\0\x25\0\0"
    yield username + b"\x80\x29\0\x08" + bytes(8)
    yield b"\0\1\0\x18\x21\x12\xa4\x42transaction." + username + priority
    yield b"\1\1\0\x0c\x21\x12\xa4\x42transaction.\0\x20\0\x08\0\1\x11\x22\x33\x44\x55\x66"
    yield b"\1\x11\0\x0c\x21\x12\xa4\x42transaction.\0\x09\0\x08\0\0\x04\x57conf"


def turn() -> Iterator[bytes]:
    attributes = {"REALM": "example.org", "NONCE": b"0123456789abcdef"}
    refusals = {
        code: Message(Method.ALLOCATE, Class.ERROR, attributes={"ERROR-CODE": (code, "no"), **attributes})
        for code in (401, 438, 441, 486)
    }
    relayed = Message(
        Method.ALLOCATE,
        Class.RESPONSE,
        attributes={"XOR-RELAYED-ADDRESS": ("203.0.113.2", 49152), "LIFETIME": 600},
    )
    permitted = Message(Method.CREATE_PERMISSION, Class.RESPONSE)
    forbidden = Message(Method.CREATE_PERMISSION, Class.ERROR, attributes={"ERROR-CODE": (403, "no")})
    refused = (refusals[401], refusals[438], relayed, permitted, forbidden)
    yield b"".join(_piece(bytes(refusal)) for refusal in refused)
    yield b"".join(_piece(bytes(refusal)) for refusal in (refusals[401], refusals[441]))
    yield _piece(bytes(refusals[486])) + _piece(bytes(refusals[401])[:30])
    # A request with this nonce would not fit in a message.
    refusals[401].attributes["NONCE"] = bytes(65_440)
    yield _piece(bytes(refusals[401]))


def framing() -> Iterator[bytes]:
    for size in (0, 2, 99):
        frames = [*stun(), b"", bytes(1500)][: 3 + size % 7]
        yield bytes([size]) + b"".join(struct.pack("!H", len(frame)) + frame for frame in frames)
    yield b"\x07\x00\x03yes\x05\xdd"


def sdp() -> Iterator[bytes]:
    offer = build_offer(
        session_id=1, version=1, ice=ICE, fingerprint=FINGERPRINT, candidates=[CANDIDATE], transceivers=SHORT
    )
    for codec in ("VP8", "H264"):
        others = {"VP8", "VP9", "H264", "AV1", "G722", "PCMU", "PCMA"} - {codec}
        answering = AnsweringClient({"0": "a b"}, {"0": 7}, without_codecs=others, candidates=(CANDIDATE,))
        yield answering.answer(offer).encode()
    for sent in ("q;h;f", "q,~h;f recv x"):
        rids = "\r\n".join(f"a=rid:{rid} send max-width=640" for rid in "qhf")
        answer = AnsweringClient({"1": "a b"}, {"1": 7}, without_codecs={"H264", "VP9", "AV1"}).answer(offer)
        yield f"{answer}{rids}\r\na=simulcast:send {sent}\r\n".encode()
    for path in ANSWERS.glob("*.sdp"):
        yield path.read_bytes()


def rtpdump() -> Iterator[bytes]:
    for path in FOLDER.glob("*.rtpdump"):
        yield path.read_bytes()[:600]


def engine() -> Iterator[bytes]:
    for name in NAMES:
        yield b"".join(_step(raw_rtp, 0, *_piece(p.data)) for p in capture(name).packets[:PER_CAPTURE])
    for codec, stream in enumerate(_descriptors()):
        pictures = [_picture(unit, codec) for unit in stream]
        yield b"".join(pictures) + _step(wait, 5)
        # Bob requests the lowest layer of Alice's camera. Later, every third packet is lost.
        yield _step(ask, 2, 0, 1, 0, 0) + b"".join(pictures)
        lost = [_picture(unit, codec, step=1 + i % 3 // 2) for i, unit in enumerate(stream)]
        yield pictures[0] + _step(ask, 2, 0, 1, 0, 0) + b"".join(lost) if pictures else b""
    for compound in rtcp():
        yield _step(raw_rtcp, 1, *_piece(compound)) * 2
    for step in STEPS:
        yield _picture(b"", 0) * 3 + _step(step, 0, 1, 2, 3, 4, 5, 6)
    # Alice sends RED. Bob loses audio and receives RED from then on.
    red = bytes([0x80 | AUDIO]) + (3000 << 10 | 3).to_bytes(3, "big") + bytes([AUDIO]) + b"onetwo"
    voice = _step(media, 0, 0x34, 1, 0, len(red), *red)
    yield voice * 3 + (_step(report, 1, 0, 0, 255, 0, 0) + voice * 3 + _step(nack, 1, 0, 4, 255, 255)) * 2
    yield _picture(b"", 0) * 3 + (_step(nack, 1, 0, 0, 255, 255) + _step(wait, 9) + _step(report, 1)) * 3


def _descriptors() -> Iterator[list[bytes]]:
    """Yield the first descriptors of each capture."""
    for name in NAMES:
        recorded = capture(name)
        values = [packet.extension(recorded.descriptor_id) for packet in recorded.packets[:PER_CAPTURE]]
        yield [value for value in values if value]


def _records(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for record in read(file):
            yield record.data


def _step(step: Callable[..., None], *arguments: int) -> bytes:
    return bytes([STEPS.index(step), *arguments])


def _piece(data: bytes) -> bytes:
    return struct.pack("!H", len(data)) + data


def _picture(descriptor: bytes, codec: int, step: int = 1) -> bytes:
    """Build a single-packet frame from Alice's camera with all its extensions.

    `step` is the distance from the previous sequence number.
    """
    return _step(media, 0, 0x2D, step, codec, len(descriptor), *descriptor, 3, 0x18, 0x10, 0)


def private() -> Iterator[bytes]:
    package = mls_messages.key_package(bytes(65), "somebody", 2_000_000_000)
    yield mls_messages.private_message("a group", 1, 1)
    yield mls_messages.welcome(package, mls_messages.key_package(bytes(33), "", 0))
    yield package


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "header": header,
    "keyframe": keyframe,
    "descriptor": descriptor,
    "rtcp": rtcp,
    "stun": stun,
    "turn": turn,
    "framing": framing,
    "twcc": twcc,
    "bandwidth": bandwidth,
    "redundancy": redundancy,
    "sdp": sdp,
    "rtpdump": rtpdump,
    "private": private,
    "engine": engine,
}


def main(target: str, folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for seed in SEEDS[target]():
        (Path(folder) / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
