"""Real browser streams are sent through the engine to one receiver, and every packet arrives once and
unchanged.
"""

import pytest

from svc._rtp.engine import ManualEngine
from tests.kit.call import header, payload
from tests.kit.captures import NAMES, Capture, Packet, capture
from tests.kit.participant import Participant, deliver

# Simulcast is not offered, so each media section has a single media stream.
VIDEO_CAPTURES = [name for name in NAMES if name != "opus" and "simulcast" not in name]
MID_URI, TWCC_URI = "urn:ietf:params:rtp-hdrext:sdes:mid", "transport-wide-cc-extensions-01"


class Replay:
    """The capture's publisher and one receiver, on an engine with the browser's negotiated codecs."""

    def __init__(self, taken: Capture) -> None:
        self.capture = taken
        codecs = {
            int(payload_type): row
            for payload_type, row in taken.sidecar["payload_types"].items()
            if row["kind"] == "video"
            and any(int(payload_type) == p.header["payload_type"] for p in taken.packets)
        }
        self.rtx = next(pt for pt, row in codecs.items() if row["codec"].startswith("rtx"))
        self.media = next(pt for pt in codecs if pt != self.rtx)
        ids = {uri: int(ext_id) for ext_id, uri in taken.sidecar["header_extensions"]["video"].items()}
        self.forwarded = [taken.descriptor_id] if taken.descriptor_id else []
        engine = self.engine = ManualEngine(seed=1)
        engine.negotiate(
            payloads=[(self.media, "video", codecs[self.media]["codec"].split("/")[0], 90000, self.rtx)],
            mid_id=ids.get(MID_URI, 0),
            twcc_id=next(ext_id for uri, ext_id in ids.items() if uri.endswith(TWCC_URI)),
            level_id=0,
            descriptor_id=taken.descriptor_id or 0,
            forwarded_ids=self.forwarded,
        )
        self.alice, self.bob = Participant(engine, 1001), Participant(engine, 1002)
        ssrcs = [int(ssrc) for ssrc, row in taken.sidecar["ssrcs"].items() if row["pt"] in codecs]
        mids = [packet.extension(ids.get(MID_URI)) for packet in taken.packets if self.is_video(packet)]
        mid = next((mid.decode() for mid in mids if mid), "0")
        forwarder = engine.open_section(self.alice.transport, 0, mid, "video", codecs, ssrcs)
        engine.open_down_track(
            forwarder,
            self.bob.transport,
            mid="4",
            mid_id=0,
            ssrc=5000,
            rtx_ssrc=5001,
            payload_types=codecs,
            extension_ids=self.forwarded,
            mixed=True,
            cname="",
        )

    def is_media(self, packet: Packet) -> bool:
        return packet.header["payload_type"] == self.media and packet.header["payload_length"] > 0

    def is_video(self, packet: Packet) -> bool:
        return packet.header["payload_type"] in (self.media, self.rtx)

    def run(self) -> None:
        dropped = {(row["pt"], row["seq"]) for row in self.capture.sidecar["dropped_by_relay"] or []}
        for packet in self.capture.packets:
            now = 1 + packet.offset_ms / 1000
            if (
                self.is_video(packet)
                and (packet.header["payload_type"], packet.header["sequence"]) not in dropped
            ):
                self.alice.send(packet.data, now)
            self.engine.advance(now)
            deliver(self.engine, self.alice, self.bob)


@pytest.mark.parametrize("name", VIDEO_CAPTURES)
def test_every_packet_from_a_browser_arrives_once_unchanged(name: str) -> None:
    replay = Replay(capture(name))
    replay.run()
    sent = sorted(
        (packet.data for packet in replay.capture.packets if replay.is_media(packet)),
        key=lambda data: header(data)["sequence"],
    )
    got = sorted(replay.bob.media, key=lambda data: header(data)["sequence"])
    first = header(got[0])["sequence"]
    assert [header(data)["sequence"] for data in got] == list(range(first, first + len(sent)))
    for data, original in zip(got, sent, strict=True):
        ours, theirs = header(data), header(original)
        assert (payload(data), ours["timestamp"], ours["marker"]) == (
            payload(original),
            theirs["timestamp"],
            theirs["marker"],
        )
        assert (ours["ssrc"], ours["payload_type"], ours["padding"]) == (
            5000,
            replay.media,
            theirs["padding"],
        )
        forwarded = [element for element in theirs["extensions"] if element[0] in replay.forwarded]
        assert ours["extensions"] == forwarded


@pytest.mark.parametrize("name", VIDEO_CAPTURES)
def test_no_packet_from_a_browser_is_malformed_or_unknown(name: str) -> None:
    replay = Replay(capture(name))
    replay.run()
    counters = replay.engine.counters()
    refused = {name for name, count in counters.items() if count and name.startswith("dropped_")}
    # To probe for bandwidth, copies of received packets are sent on the RTX stream.
    assert refused <= {"dropped_duplicate"}
    assert counters["descriptors_unread"] == 0
    assert counters["packets_received"] > 100
