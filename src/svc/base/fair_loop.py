"""An event loop that serves unauthenticated connections last.

The usual loop handles every ready connection in each iteration, so a thousand unauthenticated connections
would make an iteration last a second, and a member's request needs several iterations. This loop first
handles everything else, and then a few unauthenticated connections. The others stay ready, and the kernel
reports them again. Before the loop serves the next unauthenticated connections, everything else gets three
times as much time as the previous ones took.

A member who sends a flood of requests is served alongside the unauthenticated connections for the rest of the
second. Otherwise one account could use more of the loop than hundreds of others.

If connections are accepted faster than they are served, new connections queue up, thousands of them during an
attack. Inspecting the first bytes of a connection costs a hundredth as much as a response, so the loop
inspects every connection once. A connection that presents a token skips the queue, up to the table's limit of
connections for one member. Behind TLS nothing can be inspected, so no connection skips the queue.

In names, a stranger is an unauthenticated connection, a newcomer is a stranger that has just connected, and a
turn is one occasion on which the loop serves a connection. The loop only handles descriptors. `acceptor` and
its table decide which connections are authenticated. Needs epoll.
"""

import asyncio
import selectors
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeAlias

# The maximum number of unauthenticated connections served in one batch. Reading and answering a small request
# takes 0.4 ms.
STRANGERS_AT_ONCE = 16
# The maximum number of new connections among them, so that a stream of new connections cannot block the
# others.
NEWCOMERS_AT_ONCE = 12
# The maximum number of pipelined requests served in one batch, that is, requests that were read together with
# an earlier request.
READ_BEFORE_AT_ONCE = 4
# A connection counts as new until it has been served this many times: for its first byte, a request, and a
# token on a live socket.
NEWCOMER_TURNS = 4
# The maximum number of connections whose first bytes are inspected in one iteration: twice the number that a
# listener accepts in one iteration.
LOOKED_AT_ONCE = 128
# The number of first bytes to inspect, enough for a browser's request line and headers.
LOOKED_AT_BYTES = 2048
# The pause after serving unauthenticated connections, as a multiple of the time that serving them took, and
# the longest pause. With a multiple of 1, members waited half a second on a slow core shared with the SFU.
PAUSE_PER_TURN = 3.0
MAX_PAUSE_S = 0.1
# The number of events on one member's connections that are served first in each interval. Opening a page with
# fifty images causes about this many events. The limit does not apply to a connection that may carry many
# members' requests.
MEMBER_EVENTS = 64
MEMBER_INTERVAL_S = 1.0
# The maximum number of events beyond that limit that are served together with the unauthenticated
# connections.
BEYOND_AT_ONCE = 4


# Called with a connection's authenticated user. Gives the connection priority unless the user already has the
# maximum number of priority connections.
Recognise = Callable[[str], object]
# Descriptors with their events.
Events: TypeAlias = list[tuple[int, int]]


def no_owner(_: bytes) -> str | None:
    """Return None, because the bytes never contain a member's token."""
    return None


if sys.platform == "linux":
    import select

    class _Arrival(NamedTuple):
        connection: socket.socket
        recognise: Recognise
        begin: Callable[[], object]

    class FairPoll:
        """An epoll instance for all descriptors that reports unauthenticated connections last, a few at a
        time.

        The kernel first reports the unauthenticated connections that have waited longest. The cost of a poll
        depends on the number of reported connections, so thousands of other ready connections do not slow it
        down. A new connection may belong to a member who is about to present a token, so new connections come
        before floods on older connections.
        """

        def __init__(self) -> None:
            self._everything = select.epoll()
            self._unseen = select.epoll()
            self._newcomers = select.epoll()
            self._regulars = select.epoll()
            self._behind = (self._unseen, self._newcomers, self._regulars)
            self._crowds = {poller.fileno() for poller in self._behind}
            for crowd in self._crowds:
                self._everything.register(crowd, select.EPOLLIN)
            # A monotonic clock, in seconds.
            self.clock = time.monotonic
            # When the loop began to serve the current unauthenticated connections, and when it may serve the
            # next ones.
            self._served_at: float | None = None
            self._not_before = 0.0
            # Callbacks for unauthenticated connections whose next request has already been read, to be called
            # in order.
            self.waiting: deque[Callable[[], object]] = deque()
            # Returns the member whose token is in these first bytes, if any.
            self.owner_of: Callable[[bytes], str | None] = no_owner
            # Connections whose first bytes have not been inspected, and inspected connections that have not
            # been served.
            self._arrived: dict[int, _Arrival] = {}
            self._inspected: dict[int, _Arrival] = {}
            # The connection of each descriptor. A closed TLS connection is forgotten so late that its
            # descriptor may already belong to a new connection, which must not be affected.
            self._connections: dict[int, socket.socket] = {}
            # The number of times that the loop has served each unauthenticated connection's descriptor.
            self.turns: dict[int, int] = {}
            # The events awaited on unauthenticated connections' descriptors.
            self._awaited: dict[int, int] = {}
            # The member to whom a descriptor's connection belongs, and the number of each member's events in
            # this interval.
            self._owners: dict[int, str] = {}
            self._events_of: Counter[str] = Counter()
            self._interval_ends = 0.0
            # The position, among the events beyond the limit, at which the next iteration begins.
            self._beyond_at = 0

        def register(self, fd: int, events: int) -> None:
            self._poll_of(fd).register(fd, events)
            if fd in self.turns:
                self._awaited[fd] = events

        def modify(self, fd: int, events: int) -> None:
            self._poll_of(fd).modify(fd, events)
            if fd in self.turns:
                self._awaited[fd] = events

        def unregister(self, fd: int) -> None:
            self._awaited.pop(fd, None)
            self._poll_of(fd).unregister(fd)

        def poll(self, timeout: float, maximum: int) -> list[tuple[int, int]]:
            if self._served_at is not None:
                ended = self.clock()
                self._not_before = ended + min(PAUSE_PER_TURN * (ended - self._served_at), MAX_PAUSE_S)
                self._served_at = None
            ready = self._everything.poll(0 if self.waiting else timeout, maximum + len(self._crowds))
            now = self.clock()
            first, beyond = self._by_priority(ready, now)
            if len(first) == len(ready) and not self.waiting:
                return ready
            passed = sum([self._inspect(fd) for fd, _ in self._unseen.poll(0, LOOKED_AT_ONCE)])
            if now < self._not_before and (first or passed or timeout == 0):
                return first
            self._served_at = now
            newcomers = self._newcomers.poll(0, NEWCOMERS_AT_ONCE)
            regulars = self._regulars.poll(0, STRANGERS_AT_ONCE - len(newcomers))
            reported = first + self._few(beyond)
            reported += [event for event in newcomers if not self._begin(event[0])]
            for _ in range(min(len(self.waiting), READ_BEFORE_AT_ONCE)):
                self.waiting.popleft()()
            return reported + regulars

        def put_last(
            self, connection: socket.socket, recognise: Recognise, begin: Callable[[], object]
        ) -> None:
            """Treat a connection as unauthenticated, and call `begin` when it is first served. The connection
            must not be registered before then.
            """
            fd = connection.fileno()
            self._connections[fd] = connection
            self._owners.pop(fd, None)
            self._arrived[fd] = _Arrival(connection, recognise, begin)
            self.turns[fd] = 0
            self._unseen.register(fd, select.EPOLLIN)

        def put_first(self, fd: int, connection: socket.socket, owner: str | None) -> None:
            if self._connections.get(fd) is not connection:
                return
            if owner is not None:
                self._owners[fd] = owner
                self._events_of[owner] += 1
            before = self._poll_of(fd)
            if self.turns.pop(fd, None) is not None:
                self._move(fd, before)

        def forget(self, fd: int, connection: socket.socket) -> None:
            if self._connections.get(fd) is not connection:
                return
            del self._connections[fd]
            self._owners.pop(fd, None)
            before = self._poll_of(fd)
            self.turns.pop(fd, None)
            if self._arrived.pop(fd, None) is not None:
                self._unseen.unregister(fd)
            elif self._inspected.pop(fd, None) is not None:
                self._newcomers.unregister(fd)
            else:
                self._move(fd, before)

        def fileno(self) -> int:
            return self._everything.fileno()

        def close(self) -> None:
            for poller in (self._everything, *self._behind):
                poller.close()

        def _by_priority(self, ready: Events, now: float) -> tuple[Events, Events]:
            """Return the events to serve first, and the events of members who have exceeded their limit.
            Count the events to serve first.
            """
            if now >= self._interval_ends:
                self._events_of.clear()
                self._interval_ends = now + MEMBER_INTERVAL_S
            first, beyond = list[tuple[int, int]](), list[tuple[int, int]]()
            for event in ready:
                owner = self._owners.get(event[0])
                if owner is None:
                    if event[0] not in self._crowds:
                        first.append(event)
                elif self._events_of[owner] < MEMBER_EVENTS:
                    self._events_of[owner] += 1
                    first.append(event)
                else:
                    beyond.append(event)
            return first, beyond

        def _few(self, beyond: Events) -> Events:
            """Return the next few of the given events. Each call continues where the previous call stopped,
            because the system always reports permanently ready events in the same order.
            """
            if len(beyond) <= BEYOND_AT_ONCE:
                return beyond
            self._beyond_at = (self._beyond_at + BEYOND_AT_ONCE) % len(beyond)
            return (beyond + beyond)[self._beyond_at :][:BEYOND_AT_ONCE]

        def _inspect(self, fd: int) -> bool:
            """Return whether a connection skips the queue. If not, queue it with the new connections."""
            arrival = self._arrived[fd]
            try:
                owner = self.owner_of(arrival.connection.recv(LOOKED_AT_BYTES, socket.MSG_PEEK))
            except OSError:
                owner = None  # The connection has closed. Its next reader will notice.
            if owner is not None:
                arrival.recognise(owner)
            self._unseen.unregister(fd)
            del self._arrived[fd]
            passes = fd not in self.turns
            if passes:
                arrival.begin()
            else:
                self._inspected[fd] = arrival
                self._newcomers.register(fd, select.EPOLLIN)
            return passes

        def _begin(self, fd: int) -> bool:
            """Record that a new connection is being served. The first time, begin the connection and return
            True.
            """
            before = self._poll_of(fd)
            if fd in self.turns:
                self.turns[fd] += 1
            arrival = self._inspected.pop(fd, None)
            if arrival is not None:
                self._newcomers.unregister(fd)
                arrival.begin()
            elif self._poll_of(fd) is not before:
                self._move(fd, before)
            return arrival is not None

        def _move(self, fd: int, before: select.epoll) -> None:
            events = self._awaited.get(fd)
            if events is None:
                return
            # A closed descriptor is no longer registered.
            with suppress(OSError):
                before.unregister(fd)
                self._poll_of(fd).register(fd, events)
            if fd not in self.turns:
                del self._awaited[fd]

        def _poll_of(self, fd: int) -> select.epoll:
            turns = self.turns.get(fd)
            if turns is None:
                return self._everything
            return self._newcomers if turns < NEWCOMER_TURNS else self._regulars

    class FairSelector(selectors.EpollSelector):
        """The usual selector, but based on FairPoll."""

        _selector_cls = FairPoll
        _selector: FairPoll

        @property
        def fair(self) -> FairPoll:
            return self._selector


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop that serves the connections passed to `put_last` after all others."""

    def __init__(self) -> None:
        selector = FairSelector()
        self._fair = selector.fair
        super().__init__(selector)

    @property
    def strangers(self) -> set[int]:
        """The descriptors of unauthenticated connections."""
        return set(self._fair.turns)

    @property
    def owner_of(self) -> Callable[[bytes], str | None]:
        """The function that returns the member whose token is in a connection's first bytes."""
        return self._fair.owner_of

    @owner_of.setter
    def owner_of(self, owner_of: Callable[[bytes], str | None]) -> None:
        self._fair.owner_of = owner_of

    def put_last(self, connection: socket.socket, recognise: Recognise, begin: Callable[[], object]) -> None:
        """Treat a connection as unauthenticated until `put_first` or `forget`.

        `begin` is called when the peer has sent something and the loop first serves the connection. `begin`
        must not raise.
        """
        self._fair.put_last(connection, recognise, begin)

    def put_first(self, descriptor: int, connection: socket.socket, owner: str | None) -> None:
        """Treat a connection as a member's connection. `owner` is the member, or None if it carries many
        members' requests.
        """
        self._fair.put_first(descriptor, connection, owner)

    def forget(self, descriptor: int, connection: socket.socket) -> None:
        """Forget a connection that has ended or is about to be closed."""
        self._fair.forget(descriptor, connection)

    async def turn(self) -> None:
        """Wait until the loop next serves an unauthenticated connection, without reading. Each of several
        requests received together is served separately.
        """
        come = self.create_future()

        def begin() -> None:
            if not come.done():
                come.set_result(None)

        self._fair.waiting.append(begin)
        await come


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop for a server. Without epoll, return asyncio's usual loop."""
    return FairLoop() if sys.platform == "linux" else asyncio.new_event_loop()
