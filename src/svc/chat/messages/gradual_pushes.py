"""Pushes events to many members, a few in each iteration of the event loop.

A message to everyone can change the unread counts of thousands of members, and each of them gets a separate
event. The caller decides what the events contain.
"""

import asyncio
from collections.abc import Callable, Iterable
from itertools import islice

# The number of events per iteration of the event loop. Each takes 9 µs.
AT_ONCE = 100


class GradualPushes:
    """Members who are waiting for an event about a channel or a thread.

    `push` is called with a member's id and the target, which is a channel or a thread. It pushes the current
    state, so a member who is added again while waiting for the same target gets only one event.
    """

    def __init__(self, push: Callable[..., object]) -> None:
        self._push = push
        self._waiting: dict[tuple[str, ...], None] = {}

    def add(self, member_ids: Iterable[str], *target: str) -> None:
        """Queue an event for each of these members. If no events were queued, the first few are pushed
        immediately.
        """
        is_under_way = bool(self._waiting)
        self._waiting.update(dict.fromkeys((member_id, *target) for member_id in member_ids))
        if not is_under_way:
            self._push_some()

    def _push_some(self) -> None:
        for waiting in list(islice(self._waiting, AT_ONCE)):
            del self._waiting[waiting]
            self._push(*waiting)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._push_some)
