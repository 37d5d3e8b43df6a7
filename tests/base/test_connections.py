"""The table of open connections decides which connections get a slot, and which lose theirs."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from svc.base.addresses import rate_limit_key
from svc.base.connections import ConnectionTable, Limits, Slot, WaitingQueue, room_for


def filled(table: ConnectionTable, address: str, count: int) -> list[Slot]:
    slots = [table.enter(address) for _ in range(count)]
    assert all(slots)
    return [slot for slot in slots if slot]


def entered(table: ConnectionTable, address: str) -> Slot:
    slot = table.enter(address)
    assert slot is not None
    return slot


def test_a_full_table_closes_the_oldest_connection_of_the_busiest_address() -> None:
    crowd: WaitingQueue[str] = WaitingQueue()
    for item, address in [("a1", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c")]:
        crowd.add(item, address)
    assert crowd.first_to_leave() == "b1"
    assert crowd.first_to_leave("c") == "c1"
    assert crowd.first_to_leave("nobody's") is None
    assert crowd.evict(5) is None
    assert crowd.evict(4) == "b1"
    assert "b1" not in crowd and len(crowd) == 3
    crowd.discard("b1")
    assert len(crowd) == 3


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.sampled_from("abcd"))))
def test_the_table_tracks_which_address_has_the_most_connections(
    steps: list[tuple[bool, int, str]],
) -> None:
    crowd: WaitingQueue[int] = WaitingQueue()
    waiting: dict[int, str] = {}
    for comes, item, address in steps:
        if comes and item not in waiting:
            crowd.add(item, address)
            waiting[item] = address
        elif not comes:
            crowd.discard(item)
            waiting.pop(item, None)
        counts = Counter(waiting.values())
        assert len(crowd) == len(waiting)
        leaving = crowd.first_to_leave()
        if leaving is None:
            assert not waiting
        else:
            maximum = waiting[leaving]
            assert counts[maximum] == max(counts.values()) == crowd.of(maximum)
            assert leaving == next(item for item, address in waiting.items() if address == maximum)


def test_unauthenticated_connections_from_one_address_are_limited_and_the_oldest_is_closed() -> None:
    table = ConnectionTable(Limits(100, of_address=3))
    first, second, *_ = filled(table, "192.0.2.1", 3)
    elsewhere = entered(table, "192.0.2.2")
    newest = entered(table, "192.0.2.1")
    assert [slot.open for slot in (first, second, elsewhere, newest)] == [False, True, True, True]
    assert (len(table), table.closed) == (4, 1)


def test_ipv6_addresses_are_counted_by_network_prefix() -> None:
    assert (
        rate_limit_key("2001:db8:1:2:3::4") == rate_limit_key("2001:db8:1:2::1%eth0") == "2001:db8:1:2::/64"
    )
    assert rate_limit_key("2001:db8:1:3::1") != rate_limit_key("2001:db8:1:2::1")
    assert rate_limit_key("::ffff:192.0.2.1") == rate_limit_key("192.0.2.1") == "192.0.2.1"


def test_a_proxy_on_this_machine_does_not_count_as_one_client() -> None:
    for address in ("127.0.0.1", "::1", ""):
        table = ConnectionTable(Limits(100, of_address=1))
        assert all(slot.open for slot in filled(table, address, 5))


def test_authenticated_connections_survive_a_flood() -> None:
    table = ConnectionTable(Limits(8, of_address=None))
    member = entered(table, "192.0.2.1")
    member.belongs_to("ada")
    flood = filled(table, "192.0.2.1", 100)
    assert member.open and len(table) == 7
    # A quarter of the slots are reserved for members.
    assert sum(slot.open for slot in flood) == table.limits.strangers == 6


def test_a_full_table_makes_room_for_a_new_connection_while_unauthenticated_connections_exist() -> None:
    table = ConnectionTable(Limits(4, of_address=None))
    for number in range(3):
        entered(table, "192.0.2.1").belongs_to(f"member {number}")
    (stranger,) = filled(table, "192.0.2.2", 1)
    closed: list[Slot] = []
    stranger.close = lambda: closed.append(stranger)
    newcomer = entered(table, "192.0.2.3")
    assert closed == [stranger]
    newcomer.belongs_to("member 3")
    assert table.enter("192.0.2.4") is None and table.refused == 1


def test_idle_connections_close_before_busy_ones_starting_at_the_busiest_address() -> None:
    table = ConnectionTable(Limits(4, of_address=None))
    busy, idle, other = [entered(table, address) for address in ("a", "a", "b")]
    busy.set_idle(idle=False)
    entered(table, "c")
    assert not idle.open or not other.open
    assert busy.open
    for slot in (other, idle):
        slot.set_idle(idle=False)
    busy.set_idle(idle=True)
    entered(table, "d")
    assert busy.open


def test_one_member_cannot_take_all_slots() -> None:
    table = ConnectionTable(Limits(8, of_address=None, of_owner=2))
    slots = filled(table, "192.0.2.1", 3)
    for slot in slots:
        slot.belongs_to("mallory")
    assert [slot.owner for slot in slots] == ["mallory", "mallory", None]
    slots[0].leave()
    slots[2].belongs_to("mallory")
    assert slots[2].owner == "mallory"


def test_releasing_a_slot_twice_is_harmless_and_released_connections_are_not_notified() -> None:
    table = ConnectionTable(Limits(4))
    slot = entered(table, "a")
    slot.leave()
    slot.leave()
    slot.set_idle(idle=False)
    slot.belongs_to("ada")
    assert (len(table), table.strangers) == (0, 0)


def test_connections_may_use_only_half_of_the_descriptors() -> None:
    assert room_for(1024) == 512
    assert room_for(65_536) == 8192
    assert room_for(65_536, 32) == 32
