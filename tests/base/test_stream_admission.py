"""A new reader replaces the slowest reader of the holder with the most streams."""

from contextlib import ExitStack

import pytest

from svc.base.stream_admission import STALLED_AFTER_S, Reader, Readers


class Scene:
    """Readers, a clock, and the names of closed readers."""

    def __init__(self, maximum: int) -> None:
        self.now = 0.0
        self.closed: list[str] = []
        self._maximum = maximum
        self._readers = Readers(lambda: self.now)
        self._taking = ExitStack()

    def begins(self, name: str, holder: str, *, takes: bool = False) -> bool:
        """Admit a reader that either accepts all data or stalls from now on."""
        reader = self._readers.admit(holder, self._maximum, lambda: self.closed.append(name))
        if reader is not None and not takes:
            self._stalls(reader)
        return reader is not None

    def _stalls(self, reader: Reader) -> None:
        self._taking.enter_context(reader.taking())


def test_a_holder_with_half_of_the_slots_replaces_its_own_slowest_stream() -> None:
    scene = Scene(maximum=8)
    for n in range(4):
        assert scene.begins(f"greedy {n}", "greedy")
        scene.now += 1
    scene.now += STALLED_AFTER_S
    assert scene.begins("greedy 4", "greedy")
    assert scene.closed == ["greedy 0"]
    assert scene.begins("other", "other") and scene.closed == ["greedy 0"]


def test_in_a_full_table_the_stream_that_has_stalled_longest_is_replaced() -> None:
    scene = Scene(maximum=3)
    for n in range(3):
        assert scene.begins(f"reader {n}", f"holder {n}")
        scene.now += 1
    scene.now += STALLED_AFTER_S
    assert scene.begins("newcomer", "newcomer", takes=True)
    assert scene.closed == ["reader 0"]


def test_the_holder_with_the_most_streams_loses_one_first() -> None:
    scene = Scene(maximum=9)
    assert scene.begins("first", "first")
    for n in range(4):
        assert scene.begins(f"greedy {n}", "greedy")
    for n in range(3):
        assert scene.begins(f"holder {n}", f"holder {n}", takes=True)
    scene.now += STALLED_AFTER_S
    assert scene.begins("second", "first")
    assert [name.startswith("greedy") for name in scene.closed] == [True]


def test_a_holder_that_reads_loses_no_stream_to_a_holder_that_would_then_have_as_many_streams() -> None:
    scene = Scene(maximum=2)
    assert scene.begins("one", "one", takes=True) and scene.begins("two", "two", takes=True)
    assert not scene.begins("three", "three")
    assert scene.closed == []


def test_a_holder_with_two_more_streams_than_the_new_holder_loses_one_no_matter_how_fast_it_reads() -> None:
    scene = Scene(maximum=5)
    for n in range(2):
        assert scene.begins(f"greedy {n}", "greedy", takes=True)
    for n in range(3):
        assert scene.begins(f"holder {n}", f"holder {n}", takes=True)
    assert scene.begins("newcomer", "newcomer")
    assert [name.startswith("greedy") for name in scene.closed] == [True]


@pytest.mark.parametrize("holders", [1, 2, 10, 300])
def test_a_new_reader_always_gets_a_slot_when_all_readers_have_stalled(holders: int) -> None:
    scene = Scene(maximum=256)
    for n in range(2_000):
        scene.begins(f"{n}", f"holder {n % holders}")
        scene.now += 0.001
    scene.now += STALLED_AFTER_S
    assert scene.begins("newcomer", "newcomer")
