"""Many participants together cannot exhaust the packet pool, libsrtp's tables or the event rings."""

from svc._rtp.engine import ManualEngine
from tests.kit import packets
from tests.kit.call import Call, sequences
from tests.kit.participant import SERVER, Participant, video

HISTORY = 1024
SLOTS = 65536


def crowd(engine: ManualEngine) -> list[Participant]:
    """Return as many publishers as would fill the pool if every packet history were full."""
    publishers = [Participant(engine, 2001 + n) for n in range(SLOTS // HISTORY + 2)]
    for publisher in publishers:
        publisher.publish("1", "video")
    return publishers


def test_slow_publishers_packet_histories_do_not_displace_other_histories() -> None:
    call = Call()
    publishers = crowd(call.engine)
    # Half a minute of video from each publisher's slow camera.
    for sequence in range(HISTORY):
        now = 1 + sequence / 33
        for publisher in publishers:
            publisher.send(video(sequence), now)
        call.engine.advance(now)
        call.engine.take_datagrams()
    call.send(1, now)
    call.bob.send_rtcp(packets.nack(5000, sequences(call.bob)), now)
    call.deliver()
    assert len(call.bob.media) == 2


def test_a_burst_that_fills_the_pool_is_forwarded_without_history() -> None:
    call = Call()
    publishers = crowd(call.engine)
    for sequence in range(HISTORY):
        for publisher in publishers:
            publisher.send(video(sequence), 1.0)
        call.send(sequence, 1.0)
    assert call.engine.counters()["dropped_pool_exhausted"] == 0
    assert len(call.bob.media) == HISTORY


def test_a_flood_of_handshakes_does_not_hide_the_start_of_media() -> None:
    call = Call()
    for length in [1400] * 800 + [10] * 800:
        call.engine.receive(b"\x16\xfe\xfd" + bytes(length), call.alice.address, SERVER, 1.0)
    call.send(1, 1.0)
    call.engine.close_transport(call.bob.transport)
    call.engine.advance(1.1)
    kinds = [event[0] for event in call.engine.take_events()]
    assert kinds[-2:] == ["track", "closed"]
    assert call.engine.counters()["dropped_ring_full"] > 0
