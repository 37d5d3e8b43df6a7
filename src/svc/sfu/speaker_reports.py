"""Sends a chat server the current speakers in the rooms that it has requested, at a limited rate.

Updates are limited to two per second, because people cannot follow faster changes. A change that is reverted
before the next update is not sent. This is an extension of the protocol.
"""

import asyncio
from collections.abc import Callable, Sequence

from svc.sfu.rooms import Room

INTERVAL_S = 0.5

Push = Callable[[str, Sequence[str]], None]


class SpeakerReports:
    """Calls `push(room_id, user_ids)` when a room's speakers change.

    User ids are sorted, so that a mere change in loudness does not cause an update.
    """

    def __init__(self, push: Push) -> None:
        self._push = push
        self._reported: dict[Room, list[str]] = {}
        self._pauses: dict[Room, asyncio.TimerHandle] = {}

    def want(self, room: Room, wanted: bool) -> None:
        """Start or stop sending this room's speakers.

        The first list is sent immediately, even if it is empty.
        """
        self._reported.pop(room, None)
        if pause := self._pauses.pop(room, None):
            pause.cancel()
        if wanted:
            self._push_if_changed(room)

    def changed(self, room: Room) -> None:
        if room in self._reported and room not in self._pauses:
            self._push_if_changed(room)

    def stop(self) -> None:
        for pause in self._pauses.values():
            pause.cancel()
        self._reported.clear()
        self._pauses.clear()

    def _push_if_changed(self, room: Room) -> None:
        now = sorted(room.speakers)
        if self._reported.get(room) != now:
            self._reported[room] = now
            self._push(room.room_id, now)
            self._pauses[room] = asyncio.get_running_loop().call_later(INTERVAL_S, self._go_on, room)

    def _go_on(self, room: Room) -> None:
        del self._pauses[room]
        self._push_if_changed(room)
