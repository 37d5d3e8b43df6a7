"""The parts of the simulation behave as the engine's tests assume."""

from itertools import pairwise
from random import Random

import pytest

from tests.kit.simulation.frames import Frame, Part, payload, read
from tests.kit.simulation.invariant import EncryptionInvariant
from tests.kit.simulation.link import Conditions, Link


def arrivals(conditions: Conditions, *, packets: int = 20_000, seed: int = 1) -> list[list[float]]:
    """Return the arrival times of packets of 1000 bytes, sent every millisecond."""
    link = Link(conditions, Random(seed))
    return [link.send(1000, number / 1000) for number in range(packets)]


def lost(fates: list[list[float]]) -> float:
    return sum(not fate for fate in fates) / len(fates)


def test_a_link_without_faults_only_delays_packets() -> None:
    assert arrivals(Conditions(delay_s=0.02), packets=3) == [[0.02], [0.021], [0.022]]


def test_the_same_seed_gives_the_same_losses_and_delays() -> None:
    conditions = Conditions(jitter_s=0.02, loss=0.1, reorder=0.1, duplicate=0.1)
    assert arrivals(conditions) == arrivals(conditions)
    assert arrivals(conditions) != arrivals(conditions, seed=2)


@pytest.mark.parametrize("burst", [1, 5])
def test_the_loss_rate_and_burst_length_are_as_configured(burst: int) -> None:
    fates = arrivals(Conditions(loss=0.1, burst=burst), packets=100_000)
    assert lost(fates) == pytest.approx(0.1, rel=0.1)
    begun = sum(bool(before) and not fate for before, fate in pairwise(fates))
    assert lost(fates) * len(fates) / begun == pytest.approx(burst if burst > 1 else 1 / 0.9, rel=0.1)


def test_jitter_preserves_the_order_except_for_chosen_packets() -> None:
    times = [fate[0] for fate in arrivals(Conditions(jitter_s=0.05))]
    assert times == sorted(times)
    times = [fate[0] for fate in arrivals(Conditions(reorder=0.05))]
    overtaken = sum(any(later < time for later in times[i + 1 : i + 30]) for i, time in enumerate(times))
    assert overtaken / len(times) == pytest.approx(0.05, rel=0.1)


def test_a_duplicate_arrives_after_its_original() -> None:
    twice = [fate for fate in arrivals(Conditions(duplicate=0.1)) if len(fate) == 2]
    assert len(twice) == pytest.approx(2000, rel=0.1)
    assert all(first < second for first, second in twice)


def test_a_rate_limit_drops_packets_that_do_not_fit_in_its_queue() -> None:
    # The sender offers 8 Mbit/s.
    fates = arrivals(Conditions(rate_bps=6_000_000))
    assert lost(fates) == pytest.approx(0.25, rel=0.05)
    assert max(fate[0] - number / 1000 for number, fate in enumerate(fates) if fate) < 0.13


def test_the_invariant_allows_a_repeated_number_only_with_the_same_bytes() -> None:
    invariant = EncryptionInvariant()
    packet = bytes([0x80, 96]) + (7).to_bytes(2, "big") + bytes(4) + b"ssrc" + b"payload"
    invariant.check(packet)
    invariant.check(packet)
    with pytest.raises(AssertionError, match="index 7"):
        invariant.check(packet + b"!")


def test_the_invariant_distinguishes_repeated_numbers_after_a_rollover() -> None:
    invariant = EncryptionInvariant()
    for nth, number in enumerate((65534, 0, 65535, 2, 30000, 60000, 65534)):
        invariant.check(bytes([0x80, 96]) + number.to_bytes(2, "big") + bytes(8) + bytes([nth]))
    assert sorted(invariant.media[0])[:4] == [65534, 65535, 65536, 65538]
    assert max(invariant.media[0]) == 65534 + 65536
    assert invariant.numbers_left_out(0) == 65537 - 7


def test_the_invariant_allows_each_srtcp_index_only_once() -> None:
    invariant = EncryptionInvariant()
    report = bytes([0x80, 200]) + bytes(2) + b"ssrc" + bytes(20) + b"\x80\0\0\1"
    invariant.check(report)
    with pytest.raises(AssertionError, match="SRTCP"):
        invariant.check(report)


def test_a_payload_reveals_its_position_and_any_damage() -> None:
    frame = Frame(number=5, captured=1.0, packets=3, keyframe=True)
    data = payload(frame, 2, 200)
    assert read(data) == Part(frame=5, index=2, count=3, keyframe=True)
    with pytest.raises(AssertionError, match="damaged"):
        read(data[:-1] + b"?")
