"""An event loop in whose turns strangers get a part, however many of them want something.

A turn handles whatever is ready, so a thousand strangers' connections would make a turn of a second, and
what a member asks for takes several turns. Here everything else is handled first, and then the connections
of a few strangers. The others stay ready: the system tells of them again. Then everything else has as long as
that turn took, in short turns.

Where accepting is faster than answering, newcomers wait in line, thousands under an attack. To look at the
first bytes of one costs a hundredth of an answer. So everybody is looked at once, and whoever shows a token
passes the line, with as many connections as the table keeps for one member. Behind TLS nothing can be seen,
and nobody passes.

Knows descriptors only; who is a stranger is for `accepting` and its table to say. Needs epoll.
"""

import asyncio
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Callable

# Reading and answering a small request takes 0.4 ms.
STRANGERS_AT_ONCE = 16
# Of those, how many may be newcomers: newcomers without end keep nobody from a turn.
NEWCOMERS_AT_ONCE = 12
# Beside them, how many whose next request was read together with one before it.
READ_BEFORE_AT_ONCE = 4
# For so many turns a connection is a newcomer: its first byte, a request, and a token on a live socket.
NEWCOMER_TURNS = 4
# How many first bytes are looked at in a turn: twice as many as a listener accepts in it.
LOOKED_AT_ONCE = 128
# A request line and headers of a browser.
LOOKED_AT_BYTES = 2048
# Strangers wait no longer for others than that, however long their last turn took.
MOST_PAUSE_S = 0.05


# Told who has proved on a connection who they are; puts it first, if there is room for another of theirs.
Recognise = Callable[[str], object]


def nobody(_: bytes) -> str | None:
    """Has sent no bytes."""
    return None


if sys.platform == "linux":
    import select

    class FairPoll:
        """An epoll of everything. Strangers are behind others, which are asked for a few of them at a time.

        The system reports those first that have waited longest since their last turn, and costs what it
        reports: a turn takes no longer because thousands of others are ready.
        A newcomer, who may be a member about to show a token, comes before floods on older connections.
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
            # Seconds that rise.
            self.clock = time.monotonic
            # When strangers had their last turn, until it has ended; and when the next one may begin.
            self._served_at: float | None = None
            self._not_before = 0.0
            # To be called in turn: for strangers whose next request has been read already.
            self.waiting: deque[Callable[[], object]] = deque()
            # Which member has sent these first bytes, if they show it?
            self.whose: Callable[[bytes], str | None] = nobody
            # Whose first bytes nobody has looked at.
            self._arrived: dict[int, tuple[socket.socket, Recognise]] = {}
            # How many turns each stranger's descriptor has had.
            self.turns: dict[int, int] = {}
            # What strangers are waited for.
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
            """It is not registered yet."""
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
            """Whether it passes the line; it waits with the newcomers otherwise."""
            connection, recognise = self._arrived[fd]
            try:
                owner = self.whose(connection.recv(LOOKED_AT_BYTES, socket.MSG_PEEK))
            except OSError:
                owner = None  # It has gone: whoever reads it next is told.
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
        """The usual selector, with a fair poll in it."""

        _selector_cls = FairPoll
        _selector: FairPoll

        @property
        def fair(self) -> FairPoll:
            return self._selector


class FairLoop(asyncio.SelectorEventLoop):
    """Its connections are nobody's until they are said to be a stranger's."""

    def __init__(self) -> None:
        selector = FairSelector()
        self._fair = selector.fair
        super().__init__(selector)

    @property
    def strangers(self) -> set[int]:
        """Their descriptors."""
        return set(self._fair.turns)

    @property
    def whose(self) -> Callable[[bytes], str | None]:
        """Says which member has sent somebody's first bytes, who is then handled first."""
        return self._fair.whose

    @whose.setter
    def whose(self, whose: Callable[[bytes], str | None]) -> None:
        self._fair.whose = whose

    def put_last(self, connection: socket.socket, recognise: Recognise) -> None:
        """It is a stranger's until `put_first`, which is to be called before its descriptor is another's."""
        self._fair.put_last(connection, recognise)

    def put_first(self, descriptor: int) -> None:
        self._fair.put_first(descriptor)

    async def turn(self) -> None:
        """A stranger's next turn, for what needs no reading: requests that came together have one each."""
        come = self.create_future()

        def begin() -> None:
            if not come.done():
                come.set_result(None)

        self._fair.waiting.append(begin)
        await come


def new_loop() -> asyncio.AbstractEventLoop:
    """The loop of a server; the usual one on systems without epoll."""
    return FairLoop() if sys.platform == "linux" else asyncio.new_event_loop()
