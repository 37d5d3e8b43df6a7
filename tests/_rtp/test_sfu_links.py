"""Each track from another SFU has a link with its own keys. All links from one SFU share an address."""

import secrets

from svc._rtp.engine import ManualEngine
from tests.kit.participant import (
    SERVER,
    VIDEO,
    VIDEO_RTX,
    Participant,
    deliver,
    new_engine,
    srtp_session,
    video,
)

OTHER_SFU = ("198.51.100.99", 3478)
STRANGER = ("203.0.113.5", 3478)
PROFILE = "AEAD_AES_128_GCM"


class Link:
    """One track's link on the receiving SFU, and the SFU that sends over it."""

    def __init__(self, engine: ManualEngine, ssrc: int) -> None:
        self.engine, self.ssrc = engine, ssrc
        ours, theirs = secrets.token_bytes(28), secrets.token_bytes(28)
        self.outbound = srtp_session(PROFILE, theirs, outbound=True)
        self.transport = engine.open_transport(rtcp_ssrc=ssrc + 9)
        engine.select(self.transport, OTHER_SFU, SERVER, [ssrc, ssrc + 1])
        engine.set_keys(self.transport, PROFILE, ours, theirs)
        self.forwarder = engine.open_section(
            self.transport, 0, "0", "video", [VIDEO, VIDEO_RTX], [ssrc, ssrc + 1]
        )
        engine.advance(0.0)

    def send(self, sequence: int, *, source: tuple[str, int] = OTHER_SFU, keys: "Link | None" = None) -> None:
        packet = video(sequence, ssrc=self.ssrc, mid=None)
        session = (keys or self).outbound
        self.engine.receive(session.protect(packet), source, SERVER, 1.0)

    def close(self) -> None:
        self.engine.close_transport(self.transport)
        self.engine.advance(1.0)


class TwoLinks:
    """Two links from the same SFU. Bob receives the track from one, and Carol the track from the other."""

    def __init__(self, *, ssrcs: tuple[int, int] = (70_000, 80_000)) -> None:
        self.engine = new_engine()
        self.bob, self.carol = Participant(self.engine, 1002), Participant(self.engine, 1003)
        self.first, self.second = (Link(self.engine, ssrc) for ssrc in ssrcs)
        self.bob.subscribe(self.first.forwarder, 5000)
        self.carol.subscribe(self.second.forwarder, 6000)

    def received(self) -> tuple[int, int]:
        deliver(self.engine, self.bob, self.carol)
        return len(self.bob.media), len(self.carol.media)


def test_every_track_from_an_sfu_arrives_from_the_same_address() -> None:
    links = TwoLinks()
    links.first.send(1)
    links.second.send(1)
    links.second.send(2)
    assert links.received() == (1, 2)


def test_a_genuine_packet_from_an_sfu_is_dropped_if_it_comes_from_another_address() -> None:
    # Unlike a participant, an SFU must not change its address, so a copied packet has no effect.
    links = TwoLinks()
    links.first.send(1, source=STRANGER)
    assert links.received() == (0, 0)
    assert links.engine.counters()["dropped_unknown_source"] == 1
    links.first.send(2)
    assert links.received() == (1, 0)


def test_a_packet_encrypted_with_the_keys_of_another_link_is_dropped() -> None:
    links = TwoLinks()
    links.first.send(1, keys=links.second)
    assert links.received() == (0, 0)
    assert links.engine.counters()["dropped_unauthenticated"] == 1
    links.first.send(1)
    links.second.send(1)
    assert links.received() == (1, 1)


def test_a_participant_with_a_links_ssrc_does_not_affect_the_link() -> None:
    links = TwoLinks()
    dave = Participant(links.engine, 1004)
    links.carol.subscribe(dave.publish("1", "video"), 7000)
    dave.send(video(1, ssrc=links.first.ssrc), 1.0)
    links.first.send(1)
    assert links.received() == (1, 1)
    links.engine.close_transport(dave.transport)
    links.first.send(2)
    assert links.received() == (2, 1)


def test_a_link_with_a_participants_ssrc_does_not_affect_the_participant() -> None:
    engine = new_engine()
    bob, dave = Participant(engine, 1002), Participant(engine, 1004)
    bob.subscribe(dave.publish("1", "video"), 5000)
    dave.send(video(1, ssrc=70_000), 1.0)
    link = Link(engine, 70_000)
    dave.send(video(2, ssrc=70_000), 1.0)
    link.close()
    dave.send(video(3, ssrc=70_000), 1.0)
    deliver(engine, bob)
    assert len(bob.media) == 3


def test_closing_a_link_keeps_a_newer_link_with_the_same_ssrcs() -> None:
    # A relay that is created again may be given the SSRCs of an earlier relay.
    links = TwoLinks(ssrcs=(70_000, 70_000))
    links.first.close()
    links.second.send(1)
    assert links.received() == (0, 1)
    links.second.close()
    links.second.send(2)
    assert links.received() == (0, 1)
    assert links.engine.counters()["dropped_unknown_source"] == 1
