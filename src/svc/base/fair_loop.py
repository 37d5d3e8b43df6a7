"""An event loop in whose turns strangers get a part, however many of them want something.

A turn handles whatever is ready, so a thousand strangers' connections would make a turn of a second, and
what a member asks for takes several turns. Here everything else is handled first, and then the connections
of a few strangers. The others stay ready: the system tells of them again.

Knows descriptors only; who is a stranger is for `accepting` and its table to say.
"""

import asyncio
import selectors
import socket

# Reading and answering a small request takes 0.4 ms.
STRANGERS_AT_ONCE = 16
# Of those, how many because they have waited longest: newcomers without end keep nobody from a turn.
LONGEST_WAITING = 4


class FairSelector(selectors.DefaultSelector):
    """Reports all that is ready, but of `strangers` few at once: those who have had the fewest turns.

    So a newcomer, who may be a member about to show a token, comes before floods on older connections.
    """

    def __init__(self) -> None:
        super().__init__()
        # How many turns each descriptor has had.
        self.strangers: dict[int, int] = {}
        # Who was ready and had none, the longest wait first.
        self._waiting: list[int] = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout)
        theirs = {each[0].fd: each for each in ready if each[0].fd in self.strangers}
        turns = list(theirs)
        if len(theirs) > STRANGERS_AT_ONCE:
            waiting = [fd for fd in self._waiting if fd in theirs]
            fewest = sorted(theirs, key=self.strangers.__getitem__)
            turns = list(dict.fromkeys(waiting[:LONGEST_WAITING] + fewest))[:STRANGERS_AT_ONCE]
            others = [each for each in ready if each[0].fd not in theirs]
            ready = others + [theirs[fd] for fd in turns]
            self._waiting = [fd for fd in dict.fromkeys([*waiting, *theirs]) if fd not in turns]
        for fd in turns:
            self.strangers[fd] += 1
        return ready


class FairLoop(asyncio.SelectorEventLoop):
    """Its connections are nobody's until they are said to be a stranger's."""

    def __init__(self) -> None:
        self._fair = FairSelector()
        super().__init__(self._fair)

    @property
    def strangers(self) -> set[int]:
        """Their descriptors."""
        return set(self._fair.strangers)

    def put_last(self, connection: socket.socket) -> None:
        """It is a stranger's until `put_first`, which is to be called before its descriptor is another's."""
        self._fair.strangers[connection.fileno()] = 0

    def put_first(self, descriptor: int) -> None:
        self._fair.strangers.pop(descriptor, None)


def new_loop() -> asyncio.AbstractEventLoop:
    """The loop of a server; where its kind is not known (Windows), the usual one."""
    usual = asyncio.new_event_loop()
    if not isinstance(usual, asyncio.SelectorEventLoop):
        return usual
    usual.close()
    return FairLoop()
