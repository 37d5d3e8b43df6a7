"""The hash table behaves like a dictionary, even if its keys collide."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from svc._rtp.table import Map

# Many keys have the same low bits, which determine the slot at which a search starts.
KEYS = st.one_of(
    st.integers(1, 200),
    st.integers(1, 40).map(lambda n: n * 64),
    st.integers(0, 20).map(lambda n: 63 + 64 * n),
    st.integers(1, 2**64 - 1),
)


class TableAgainstDictionary(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.table = Map()
        self.model: dict[int, int] = {}

    @rule(key=KEYS, value=st.integers(1, 2**32))
    def insert(self, key: int, value: int) -> None:
        self.table.insert(key, value)
        self.model[key] = value

    @rule(first=st.integers(1, 2**20), step=st.sampled_from([1, 63, 64, 128]), count=st.integers(1, 60))
    def insert_a_run(self, first: int, step: int, count: int) -> None:
        for n in range(count):
            self.insert(first + n * step, n + 1)

    @rule(key=KEYS)
    def remove(self, key: int) -> None:
        self.table.remove(key)
        self.model.pop(key, None)

    @rule(data=st.data())
    def remove_existing(self, data: st.DataObject) -> None:
        if self.model:
            self.remove(data.draw(st.sampled_from(sorted(self.model))))

    @rule(key=KEYS)
    def look_up(self, key: int) -> None:
        assert self.table.lookup(key) == self.model.get(key, 0)

    @invariant()
    def everything_put_in_is_found(self) -> None:
        assert {key: self.table.lookup(key) for key in self.model} == self.model


TestTableAgainstDictionary = TableAgainstDictionary.TestCase
TestTableAgainstDictionary.settings = settings(max_examples=60, stateful_step_count=40)


@pytest.mark.parametrize("count", [31, 32, 33, 5000])
def test_the_table_keeps_all_entries_when_it_grows(count: int) -> None:
    table = Map()
    for key in range(1, count + 1):
        table.insert(key * 64, key)
    assert [table.lookup(key * 64) for key in range(1, count + 1)] == list(range(1, count + 1))


def test_removing_an_entry_from_a_wrapped_run_keeps_the_others() -> None:
    table = Map()
    run = [63, 127, 191, 64, 128]  # home slots 63, 63, 63, 0, 0 of 64
    for key in run:
        table.insert(key, key)
    table.remove(63)
    assert [table.lookup(key) for key in run] == [0, 127, 191, 64, 128]
