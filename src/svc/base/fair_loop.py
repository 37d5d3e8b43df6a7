"""An event loop that serves unauthenticated connections last.

A stranger is a client that has not authenticated. The usual loop handles every ready connection in one turn,
so a thousand connections of strangers would make each turn last a second, and a member's request needs
several turns. This loop first handles everything else, and then the connections of a few strangers. The other
strangers' connections stay ready, and the system reports them again. Before the next strangers, everything
else gets as much time as the last ones took.

If connections are accepted faster than they are served, new connections queue up, thousands of them during an
attack. Inspecting the first bytes of a connection costs a hundredth of a response, so the loop inspects every
connection once. A connection that shows a token skips the queue, up to the table's limit of connections for
one member. Behind TLS nothing can be inspected, so nobody skips the queue.

The loop knows only descriptors. `acceptor` and its table decide who is a stranger. Needs epoll.
"""

import asyncio
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Callable

# The maximum number of strangers served in one turn. Reading and answering a small request takes 0.4 ms.
STRANGERS_AT_ONCE = 16
# The maximum number of newcomers among them, so that a stream of newcomers cannot block the others.
NEWCOMERS_AT_ONCE = 12
# The maximum number of additional requests served per turn that had been read together with an earlier
# request.
READ_BEFORE_AT_ONCE = 4
# A connection counts as a newcomer for this many turns: for its first byte, a request, and a token on a live
# socket.
NEWCOMER_TURNS = 4
# The maximum number of connections whose first bytes are inspected in a turn: twice the number that a
# listener accepts in a turn.
LOOKED_AT_ONCE = 128
# The number of first bytes to inspect, enough for a browser's request line and headers.
LOOKED_AT_BYTES = 2048
# The longest pause for strangers, however long their last turn took.
MOST_PAUSE_S = 0.05


# Called with a connection's authenticated user. Prioritises the connection unless the user already has the
# maximum number of prioritised connections.
Recognise = Callable[[str], object]


def no_owner(_: bytes) -> str | None:
    """Return None, because the bytes never contain a member's token."""
    return None


if sys.platform == "linux":
    import select

    class FairPoll:
        """An epoll instance for all descriptors that reports strangers after the rest, a few at a time.

        The system first reports the strangers that have waited longest since their last turn. The cost of a
        poll depends on what is reported, so thousands of other ready connections do not slow a turn. A
        newcomer may be a member about to show a token, so newcomers come before floods on older connections.
        """

        def __init__(self) -> None:
            self._everything = select.epoll()
            self._unseen = select.epoll()
            self._newcomers = select.epoll()
            self._regulars = select.epoll()
            self._behind = (self._unseen, self._newcomers, self._regulars)
            self._crowds = {each.fileno() for each in self._behind}
            for crowd in self._crowds:
                self._everything.register(crowd, select.EPOLLIN)
            # A monotonic clock, in seconds.
            self.clock = time.monotonic
            # When the current turn of strangers began, and when the next one may begin.
            self._served_at: float | None = None
            self._not_before = 0.0
            # Callbacks for strangers whose next request has already been read, to be called in order.
            self.waiting: deque[Callable[[], object]] = deque()
            # Returns the member whose token is in these first bytes, if any.
            self.owner_of: Callable[[bytes], str | None] = no_owner
            # Connections whose first bytes have not been inspected.
            self._arrived: dict[int, tuple[socket.socket, Recognise]] = {}
            # The number of turns of each stranger's descriptor.
            self.turns: dict[int, int] = {}
            # The events awaited on strangers' descriptors.
            self._awaited: dict[int, int] = {}

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

        def poll(self, timeout: float, most: int) -> list[tuple[int, int]]:
            if self._served_at is not None:
                ended = self.clock()
                self._not_before = ended + min(ended - self._served_at, MOST_PAUSE_S)
                self._served_at = None
            ready = self._everything.poll(0 if self.waiting else timeout, most + len(self._crowds))
            members = [each for each in ready if each[0] not in self._crowds]
            if len(members) == len(ready) and not self.waiting:
                return ready
            members += [each for each in self._unseen.poll(0, LOOKED_AT_ONCE) if self._looked_at(each[0])]
            now = self.clock()
            if now < self._not_before and (members or timeout == 0):
                return members
            self._served_at = now
            newcomers = self._newcomers.poll(0, NEWCOMERS_AT_ONCE)
            regulars = self._regulars.poll(0, STRANGERS_AT_ONCE - len(newcomers))
            for fd, _ in newcomers:
                self._had_a_turn(fd)
            for _ in range(min(len(self.waiting), READ_BEFORE_AT_ONCE)):
                self.waiting.popleft()()
            return members + newcomers + regulars

        def put_last(self, connection: socket.socket, recognise: Recognise) -> None:
            """Treat a connection as a stranger's. It must not be registered yet."""
            fd = connection.fileno()
            self._arrived[fd] = connection, recognise
            self.turns[fd] = 0

        def put_first(self, fd: int) -> None:
            before = self._poll_of(fd)
            self._arrived.pop(fd, None)
            if self.turns.pop(fd, None) is not None:
                self._move(fd, before)

        def fileno(self) -> int:
            return self._everything.fileno()

        def close(self) -> None:
            for each in (self._everything, *self._behind):
                each.close()

        def _looked_at(self, fd: int) -> bool:
            """Return whether a connection skips the queue. If not, queue it with the newcomers."""
            connection, recognise = self._arrived[fd]
            try:
                owner = self.owner_of(connection.recv(LOOKED_AT_BYTES, socket.MSG_PEEK))
            except OSError:
                owner = None  # The connection has ended, and its next reader will notice that.
            if owner is not None:
                recognise(owner)
            passes = fd not in self.turns
            if not passes:
                del self._arrived[fd]
                self._move(fd, self._unseen)
            return passes

        def _had_a_turn(self, fd: int) -> None:
            before = self._poll_of(fd)
            self.turns[fd] += 1
            if self._poll_of(fd) is not before:
                self._move(fd, before)

        def _move(self, fd: int, before: select.epoll) -> None:
            events = self._awaited.get(fd)
            if events is None:
                return
            before.unregister(fd)
            self._poll_of(fd).register(fd, events)
            if fd not in self.turns:
                del self._awaited[fd]

        def _poll_of(self, fd: int) -> select.epoll:
            if fd in self._arrived:
                return self._unseen
            turns = self.turns.get(fd)
            if turns is None:
                return self._everything
            return self._newcomers if turns < NEWCOMER_TURNS else self._regulars

    class FairSelector(selectors.EpollSelector):
        """The usual selector, based on FairPoll."""

        _selector_cls = FairPoll
        _selector: FairPoll

        @property
        def fair(self) -> FairPoll:
            return self._selector


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop that serves strangers' connections last, that is, those for which `put_last` was
    called.
    """

    def __init__(self) -> None:
        selector = FairSelector()
        self._fair = selector.fair
        super().__init__(selector)

    @property
    def strangers(self) -> set[int]:
        """The descriptors of strangers' connections."""
        return set(self._fair.turns)

    @property
    def owner_of(self) -> Callable[[bytes], str | None]:
        """The function that returns the member whose token is in a connection's first bytes."""
        return self._fair.owner_of

    @owner_of.setter
    def owner_of(self, owner_of: Callable[[bytes], str | None]) -> None:
        self._fair.owner_of = owner_of

    def put_last(self, connection: socket.socket, recognise: Recognise) -> None:
        """Treat a connection as a stranger's until `put_first`, which must be called before the descriptor is
        reused.
        """
        self._fair.put_last(connection, recognise)

    def put_first(self, descriptor: int) -> None:
        self._fair.put_first(descriptor)

    async def turn(self) -> None:
        """Wait for a stranger's next turn, without reading. Each of several requests received together takes
        a turn.
        """
        come = self.create_future()

        def begin() -> None:
            if not come.done():
                come.set_result(None)

        self._fair.waiting.append(begin)
        await come


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop for a server. Without epoll, it is the usual one."""
    return FairLoop() if sys.platform == "linux" else asyncio.new_event_loop()
