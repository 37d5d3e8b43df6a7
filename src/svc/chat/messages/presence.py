"""Who is there, and who is typing: told, and kept nowhere.

A member is there while one of their pages is open, and for a short while after the last has
gone: a page that is loaded again is no news. No HTTP, no SQL.
"""

import asyncio

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Asker
from svc.chat.live.audience import EVERYONE, Viewers
from svc.chat.live.hub import Hub

# A page is loaded again, or changes networks, within this.
GRACE_S = 5.0
# A page says so again while its member goes on typing; readers forget it after twice as long.
TYPING_EVERY_S = 3.0
# Forgotten in one go when so many have typed somewhere.
_MOST_TYPING = 4096


class Presence:
    def __init__(self, directory: Directory, hub: Hub, grace_s: float = GRACE_S) -> None:
        self._directory = directory
        self._hub = hub
        self._grace_s = grace_s
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        # By member, channel and thread.
        self._typed: dict[tuple[str, str, str | None], float] = {}
        hub.watch(self._changed)

    def welcome(self, asker: Asker) -> dict[str, object]:
        """Who is there, the one who asks included."""
        there = {*self._hub.online_members(), *self._leaving, asker.member_id}
        return {"online": sorted(there & self._directory.members.keys())}

    def typing(self, member_id: str, channel_id: str, now: float, thread: str | None = None) -> None:
        """Tell whoever may view the channel; more often than it is worth telling, do nothing."""
        self._directory.require(member_id, Permission.SEND_MESSAGES, channel_id)
        key = member_id, channel_id, thread
        if now - self._typed.get(key, 0.0) < TYPING_EVERY_S:
            return
        if len(self._typed) >= _MOST_TYPING:
            self._typed.clear()
        self._typed[key] = now
        told = {"channel_id": channel_id, "member_id": member_id, "thread": thread}
        self._hub.push("typing", told, Viewers(channel_id), but_not=member_id, kept=False)

    def close(self) -> None:
        """The server stops; nobody is told that everybody leaves."""
        for timer in self._leaving.values():
            timer.cancel()
        self._leaving.clear()

    def _changed(self, member_id: str, online: bool) -> None:
        if not online:
            loop = asyncio.get_running_loop()
            self._leaving[member_id] = loop.call_later(self._grace_s, self._left, member_id)
        elif (timer := self._leaving.pop(member_id, None)) is not None:
            timer.cancel()
        else:
            self._tell(member_id, online=True)

    def _left(self, member_id: str) -> None:
        del self._leaving[member_id]
        self._tell(member_id, online=False)

    def _tell(self, member_id: str, *, online: bool) -> None:
        told = {"member_id": member_id, "online": online}
        self._hub.push("presence", told, EVERYONE, but_not=member_id, kept=False)
