"""Who speaks in a call, for those who look at the list of channels from outside of it.

The media service tells it, twice a second at most, and only of rooms that somebody looks at: somebody whose
page is before their eyes, who may view the channel and is not in the call. Whoever is in it hears it there.
"""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from svc.chat.access.directory import Directory
from svc.chat.live.audience import Only
from svc.chat.live.hub import Hub
from svc.chat.voice.control import MediaLink
from svc.chat.voice.occupancy import Occupancy

# How soon somebody who begins to look is shown it.
LOOK_INTERVAL_S = 1.0
_NOBODY: frozenset[str] = frozenset()


class Speaking:
    """A watcher of the occupancy."""

    def __init__(self, hub: Hub, directory: Directory, occupancy: Occupancy, link: MediaLink) -> None:
        self._hub = hub
        self._directory = directory
        self._occupancy = occupancy
        self._link = link
        # Of each room that the media service was asked about: who looks, and who speaks, once it has said so.
        self._lookers: dict[str, frozenset[str]] = {}
        self._speakers: dict[str, Sequence[str]] = {}
        link.speaking = self.heard
        occupancy.watch(self)

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Ask about the rooms that somebody looks at, and tell newcomers."""
        rooms = {room_id for room_id, _ in self._occupancy.everybody()}
        for room_id in rooms | self._lookers.keys():
            lookers = self._looking(room_id) if room_id in rooms else _NOBODY
            before = self._lookers.get(room_id, _NOBODY)
            if lookers:
                self._lookers[room_id] = lookers
            else:
                self._forget(room_id)
            if bool(lookers) != bool(before):
                self._link.tell("speakers_wanted", {"room_id": room_id, "wanted": bool(lookers)})
            elif room_id in self._speakers:
                self._push(room_id, lookers - before)

    def heard(self, room_id: str, user_ids: Sequence[str]) -> None:
        """The media service says who speaks now."""
        if room_id in self._lookers:
            self._speakers[room_id] = user_ids
            # What was taken from somebody since we looked is not shown to them.
            self._push(room_id, self._lookers[room_id] & self._directory.viewers(room_id))

    def _looking(self, room_id: str) -> frozenset[str]:
        return self._hub.looking(room_id).difference(self._occupancy.users(room_id))

    def _push(self, room_id: str, to: frozenset[str]) -> None:
        if to:
            data = {"channel_id": room_id, "member_ids": list(self._speakers[room_id])}
            self._hub.push("voice_speaking", data, Only(to), kept=False)

    def _forget(self, room_id: str) -> None:
        self._lookers.pop(room_id, None)
        self._speakers.pop(room_id, None)

    # Of the occupancy.

    def joined(self, room_id: str, user_id: str) -> None:
        """Who looks is found out in a moment."""

    def left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        """The media service tells that they no longer speak."""

    def in_step(self) -> None:
        """A media service that is new has been asked nothing yet."""
        self._lookers.clear()
        self._speakers.clear()
