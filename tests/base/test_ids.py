"""Ids sort by creation time, even within a millisecond or when the clock steps back."""

import random
import uuid

import pytest

from svc.base.ids import BufferedBits, Ids, time_ms


def test_ids_increase_regardless_of_the_clock() -> None:
    clock = iter([1.0, 1.0, 1.0, 0.5, 0.5, 2.0, 1.999])
    ids = Ids(lambda: next(clock), random.Random(1).getrandbits)
    made = [ids.new() for _ in range(7)]
    assert made == sorted(made) and len(set(made)) == 7


def test_ids_still_increase_when_the_counter_for_a_millisecond_overflows() -> None:
    ids = Ids(lambda: 1.0, random.Random(1).getrandbits)
    made = [ids.new() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_an_id_is_a_version_7_uuid_that_contains_its_time() -> None:
    made = Ids(lambda: 1_800_000_000.123, random.Random(1).getrandbits).new()
    assert (uuid.UUID(made).version, uuid.UUID(made).variant) == (7, uuid.RFC_4122)
    assert time_ms(made) == 1_800_000_000_123


def test_random_bits_are_fetched_in_batches_and_never_repeat() -> None:
    fetched = [bytes([255, 254, 1, 0]), bytes([2, 8])]
    bits = BufferedBits(lambda _: fetched.pop(0))
    # The first 15 bits take two bytes, of which one bit is discarded. The 16 bits need a second fetch,
    # because only one byte of the first is left.
    assert [bits(15), bits(8), bits(16)] == [0x7FFF, 1, 0x0208]


@pytest.mark.parametrize("text", ["", "x", str(uuid.UUID(int=0)), "a" * 36])
def test_strings_that_are_not_ids_have_no_timestamp(text: str) -> None:
    with pytest.raises(ValueError):
        time_ms(text)
