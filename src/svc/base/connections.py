"""Tracks a program's open connections, and decides which of them get or lose a slot.

Unauthenticated connections share some of the slots, and one address may occupy only a few of them. An
authenticated connection keeps its slot. When the table is full, a new connection replaces the longest-idle
unauthenticated connection from the address with the most such connections. If there is none, the new
connection is refused. A client with a valid token therefore gets in even from an attacker's address, provided
that it presents the token soon.

In names, a stranger is an unauthenticated connection. The table neither opens connections nor reads a clock.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from svc.base.addresses import is_this_machine

# The maximum number of connections. Together they use about 200 MB (20 KB each, and more with TLS).
MAX_CONNECTIONS = 8192
# A school or an office behind one address may open this many connections before its users sign in; see
# `ConnectionTable`.
MAX_PER_ADDRESS = 256
# Enough for a member's open tabs, their signalling, and extra connections that browsers open. Further
# connections from the member count as unauthenticated.
MAX_PER_OWNER = 64

T = TypeVar("T", bound=Hashable)


class WaitingQueue(Generic[T]):
    """A queue of items grouped by address, in order of arrival. Every operation takes constant time."""

    def __init__(self) -> None:
        self._from: dict[T, str] = {}
        self._of: dict[str, dict[T, None]] = {}
        # The addresses grouped by their number of items, and the largest number of items from one address.
        self._having: dict[int, dict[str, None]] = {}
        self._maximum = 0

    def __len__(self) -> int:
        return len(self._from)

    def __contains__(self, item: T) -> bool:
        return item in self._from

    def of(self, address: str) -> int:
        """Return the number of waiting items from an address."""
        return len(self._of.get(address, ()))

    def add(self, item: T, address: str) -> None:
        """Add an item at the end. The item must not be waiting already."""
        assert item not in self._from, "an item is added only once"
        self._from[item] = address
        waiting = self._of.setdefault(address, {})
        waiting[item] = None
        self._resized(address, len(waiting) - 1, len(waiting))

    def discard(self, item: T) -> None:
        """Remove an item. Do nothing if it is absent."""
        address = self._from.pop(item, None)
        if address is None:
            return
        waiting = self._of[address]
        del waiting[item]
        self._resized(address, len(waiting) + 1, len(waiting))
        if not waiting:
            del self._of[address]

    def first_to_leave(self, address: str | None = None) -> T | None:
        """Return the oldest item from the given address, or else from the address with the most items."""
        if address is None:
            if not self._from:
                return None
            address = next(iter(self._having[self._maximum]))
        return next(iter(self._of.get(address, ())), None)

    def evict(self, maximum: int) -> T | None:
        """Remove and return an item to make room, if the queue already has `maximum` items."""
        leaving = self.first_to_leave() if len(self) >= maximum else None
        if leaving is not None:
            self.discard(leaving)
        return leaving

    def _resized(self, address: str, before: int, after: int) -> None:
        if before:
            having = self._having[before]
            del having[address]
            if not having:
                del self._having[before]
        if after:
            self._having.setdefault(after, {})[address] = None
        if after > self._maximum or self._maximum not in self._having:
            self._maximum = after


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum number of connections, in total, per address and per member. `of_address` limits only
    unauthenticated connections, and is None behind a proxy.
    """

    maximum: int
    of_address: int | None = MAX_PER_ADDRESS
    of_owner: int = MAX_PER_OWNER
    # Whether a connection may carry the requests of many members, as behind a proxy that reuses connections.
    shared: bool = False

    @property
    def strangers(self) -> int:
        """The number of slots for unauthenticated connections. A quarter of all slots is reserved for
        authenticated connections.
        """
        return max(1, self.maximum * 3 // 4)


def room_for(descriptors: int, maximum: int = MAX_CONNECTIONS) -> int:
    """Return the number of connections that the descriptor limit allows, up to `maximum`. Half of the
    descriptors are reserved for the database, files and other services.

    A participant whose signalling passes through this program needs two connections.
    """
    return max(1, min(maximum, descriptors // 2))


def _do_nothing() -> None:
    pass


class Slot:
    """A connection's slot in the table. The code that serves the connection sets `close`, which ends the
    connection immediately.
    """

    __slots__ = ("_table", "address", "check", "close", "idle", "next_check", "on_settled", "open", "owner")

    def __init__(self, table: "ConnectionTable", address: str, close: Callable[[], object]) -> None:
        self._table = table
        self.address = address
        self.close = close
        # Called when the connection is authenticated, and again when it ends.
        self.on_settled: Callable[[], object] = _do_nothing
        # The function that checks the connection's deadlines and returns the time of the next check.
        self.check: Callable[[float], float] | None = None
        self.next_check = 0.0
        self.idle = True
        self.open = True
        # The authenticated user, or None.
        self.owner: str | None = None

    def watch(self, check: Callable[[float], float]) -> None:
        """Set the function that checks the connection's deadlines, and call it soon."""
        self.check = check
        self.check_soon()

    def check_soon(self) -> None:
        """Check the connection at the next sweep, because its deadline may be earlier than before."""
        self.next_check = 0.0
        self._table.on_check_due()

    def set_idle(self, *, idle: bool) -> None:
        """Set whether the connection is idle."""
        if self.open and idle is not self.idle:
            self._table.moved(self, idle=idle)

    def belongs_to(self, owner: str) -> None:
        """Assign the connection to an authenticated user."""
        if self.open and self.owner is None:
            self._table.assign_owner(self, owner)

    def leave(self) -> None:
        """Give up the slot, because the connection has closed."""
        if self.open:
            self._table.left(self)


class ConnectionTable:
    """The open connections.

    Unauthenticated connections from a loopback address are exempt from the per-address limit, because they
    may come from a local reverse proxy.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        # The number of connections closed to make room, and the number refused, since the start.
        self.closed = 0
        self.refused = 0
        # Called when a slot must be checked at the next sweep.
        self.on_check_due: Callable[[], object] = _do_nothing
        self._slots: dict[Slot, None] = {}
        self._idle: WaitingQueue[Slot] = WaitingQueue()
        self._busy: WaitingQueue[Slot] = WaitingQueue()
        self._owners: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def strangers(self) -> int:
        return len(self._idle) + len(self._busy)

    def enter(self, address: str, close: Callable[[], object] = lambda: None) -> Slot | None:
        """Return a slot for a new connection, evicting another connection if necessary. Return None if there
        is no room.
        """
        limits = self.limits
        crowded = limits.of_address is not None and self._strangers_of(address) >= limits.of_address
        if crowded and not is_this_machine(address):
            self._make_room(address)
        if self.strangers >= limits.strangers or len(self) >= limits.maximum:
            self._make_room(None)
        if len(self) >= limits.maximum:
            self.refused += 1
            return None
        slot = Slot(self, address, close)
        self._slots[slot] = None
        self._idle.add(slot, address)
        return slot

    def make_room(self) -> None:
        """Close the unauthenticated connection with the lowest priority, if there is one."""
        self._make_room(None)

    def sweep(self, now: float) -> float | None:
        """End connections that have missed a deadline. Return the time of the next check, or None."""
        for slot in list(self._slots):
            if now >= slot.next_check and slot.check is not None:
                slot.next_check = slot.check(now)
        return min((slot.next_check for slot in self._slots if slot.check is not None), default=None)

    def moved(self, slot: Slot, *, idle: bool) -> None:
        """Update the table when `Slot.set_idle` is called."""
        if slot.owner is None:
            self._crowd(slot).discard(slot)
            slot.idle = idle
            self._crowd(slot).add(slot, slot.address)
        else:
            slot.idle = idle

    def assign_owner(self, slot: Slot, owner: str) -> None:
        """Update the table when `Slot.belongs_to` is called."""
        held = self._owners.get(owner, 0)
        if held >= self.limits.of_owner:
            return
        self._owners[owner] = held + 1
        self._crowd(slot).discard(slot)
        slot.owner = owner
        slot.on_settled()

    def left(self, slot: Slot) -> None:
        """Update the table when `Slot.leave` is called."""
        slot.open = False
        slot.check = None
        slot.on_settled()
        # The callback refers back to the slot, and the reference cycle would stay in memory for a long time.
        slot.on_settled = _do_nothing
        del self._slots[slot]
        if slot.owner is None:
            self._crowd(slot).discard(slot)
        elif self._owners[slot.owner] > 1:
            self._owners[slot.owner] -= 1
        else:
            del self._owners[slot.owner]

    def _strangers_of(self, address: str) -> int:
        return self._idle.of(address) + self._busy.of(address)

    def _crowd(self, slot: Slot) -> WaitingQueue[Slot]:
        return self._idle if slot.idle else self._busy

    def _make_room(self, address: str | None) -> None:
        leaving = self._idle.first_to_leave(address) or self._busy.first_to_leave(address)
        if leaving is None:
            return
        self.closed += 1
        # The slot is now free, even if closing the connection takes a moment.
        self.left(leaving)
        leaving.close()
