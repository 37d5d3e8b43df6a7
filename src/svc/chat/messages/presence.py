"""Tracks and pushes which members are online, idle or typing. Stores nothing.

A member is online while at least one of their pages is open, and for a short while after the last one closed,
so that nobody notices a reload. A member is idle while all their pages report idleness. Invisible members
look offline. Other modules store which members are invisible or have do-not-disturb on. Contains neither HTTP
nor SQL code.
"""

import asyncio
from collections.abc import Callable, Mapping

from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.live.hub import Presence as Shown
from svc.chat.live.hub import Viewers
from svc.chat.messages import responses
from svc.chat.services import Services

# How long a member without an open page still counts as online. A page that reloads or changes networks
# reconnects within this time.
GRACE_S = 5.0
# After a takeover, members whom the last owner showed as online get this much time to come back. Relays need
# about a second to attach, and on a busy machine several.
RETURN_GRACE_S = 15.0
# While a member is typing, their page repeats the typing event at this interval. Receivers show the member as
# typing for twice this interval.
TYPING_EVERY_S = 3.0
# When the table of typing events has this many entries, it is cleared.
_MAX_TYPING = 4096


class Presence:
    """The presence of all members. `now` returns monotonic seconds."""

    def __init__(self, services: Services, now: Callable[[], float]) -> None:
        self._directory, self._hub = services.directory, services.hub
        self._now, self._began_at = now, now()
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        # The time of the last typing event by member, channel and thread.
        self._typed: dict[tuple[str, str, str | None], float] = {}
        self._hub.on_online.append(self._changed)
        self._hub.on_idle.append(self.refresh)

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the online members, including the requesting member."""
        leaving = (m for m in self._leaving if m not in self._hub.invisible)
        shown = {*self._hub.shown_members(), *leaving, session.member_id}
        online = sorted(shown & self._directory.members.keys())
        presences, active = self._hub.presences, Shown(idle=False, do_not_disturb=False)
        idle = [m for m in online if presences.get(m, active).idle]
        return {
            "online": online,
            # The requesting member is not idle, because they have just opened a page.
            "idle": [m for m in idle if m != session.member_id],
            "do_not_disturb": [m for m in online if m in self._hub.quiet],
        }

    def typing(self, member_id: str, channel_id: str, now: float, thread: str | None = None) -> None:
        """Push a typing event to the channel's viewers, at most once per TYPING_EVERY_S."""
        self._directory.require(member_id, Permission.SEND_MESSAGES, channel_id)
        key = member_id, channel_id, thread
        if now - self._typed.get(key, 0.0) < TYPING_EVERY_S:
            return
        if len(self._typed) >= _MAX_TYPING:
            self._typed.clear()
        self._typed[key] = now
        event = responses.Typing(channel_id, member_id, thread)
        self._hub.push("typing", event, Viewers(channel_id), but_not=member_id, kept=False)

    def adopt(self, shown: Mapping[str, Shown]) -> None:
        """Show the members as online whom the last owner showed as online, until they have had time to come
        back. Does nothing if this server did not just begin.
        """
        if self._now() - self._began_at > RETURN_GRACE_S:
            return
        loop = asyncio.get_running_loop()
        for member_id, presence in shown.items():
            is_known = member_id in self._hub.presences or member_id in self._hub.invisible
            if is_known or member_id not in self._directory.members:
                continue
            self._push_presence(member_id, presence)
            self._leaving[member_id] = loop.call_later(RETURN_GRACE_S, self._left, member_id)

    def close(self) -> None:
        """Cancel the timers without announcing that members go offline."""
        for timer in self._leaving.values():
            timer.cancel()
        self._leaving.clear()

    def _changed(self, member_id: str, online: bool) -> None:
        if not online:
            loop = asyncio.get_running_loop()
            self._leaving[member_id] = loop.call_later(GRACE_S, self._left, member_id)
            return
        if (timer := self._leaving.pop(member_id, None)) is not None:
            timer.cancel()
        self.refresh(member_id)

    def refresh(self, member_id: str) -> None:
        """Push an online member's state if it has changed. An invisible member is reported as offline."""
        if self._hub.online(member_id):
            self._push_presence(member_id, self._present(member_id))

    def _present(self, member_id: str) -> Shown | None:
        if member_id in self._hub.invisible:
            return None
        return Shown(self._hub.idle(member_id), member_id in self._hub.quiet)

    def _left(self, member_id: str) -> None:
        del self._leaving[member_id]
        self._push_presence(member_id, None)

    def _push_presence(self, member_id: str, presence: Shown | None) -> None:
        if presence == self._hub.presences.get(member_id):
            return
        event = responses.presence(member_id, presence)
        self._hub.push_presence(event, member_id, presence)
