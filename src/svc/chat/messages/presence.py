"""Tracks and pushes which members are online, idle or typing. Stores nothing.

A member is online while at least one of their clients is connected, and for a short while afterwards, so a
reload goes unnoticed. A member is idle while all their clients report idleness. Invisible members appear
offline. Other modules store which members are invisible or have do-not-disturb on. This module contains
neither HTTP nor SQL code.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.live.hub import Presence as Shown
from svc.chat.live.hub import Viewers
from svc.chat.messages import responses
from svc.chat.services import Services

# How long a member without a connected client stays online. A client that reloads or changes networks
# reconnects within this time.
GRACE_S = 5.0
# After a takeover, members who were online get this much time to reconnect. Relays need about a second to
# attach, and several on a busy machine.
RETURN_GRACE_S = 15.0
# While a member is typing, their client repeats the typing event at this interval. Receivers show the member
# as typing for twice this interval.
TYPING_EVERY_S = 3.0
# When the table of typing events has this many entries, it is cleared.
_MAX_TYPING = 4096


class Presence:
    """The presence of all members. `now` returns monotonic seconds."""

    def __init__(self, services: Services, now: Callable[[], float]) -> None:
        self._directory, self._hub = services.directory, services.hub
        self._now, self._began_at = now, now()
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        # The ids of the members who are shown as online, idle, or with do-not-disturb on. Kept sorted,
        # because each client's state contains a copy, and sorting 10,000 ids takes milliseconds.
        self._online: list[str] = []
        self._idle: list[str] = []
        self._quiet: list[str] = []
        # The time of the last typing event by member, channel and thread.
        self._typed: dict[tuple[str, str, str | None], float] = {}
        self._hub.on_online.append(self._changed)
        self._hub.on_idle.append(self.refresh)
        services.changes.member_gone.append(lambda member_id: self._list(member_id, None))

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the online members, including the requesting member."""
        own = session.member_id
        return {
            "online": _with(self._online, own, is_in=True),
            # The requesting member is not idle, because they have just connected.
            "idle": _with(self._idle, own, is_in=False),
            "do_not_disturb": _with(self._quiet, own, is_in=own in self._hub.quiet),
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
        """Show the previous owner's online members as online after a takeover, until they have had time to
        reconnect. Does nothing if this server has been running for more than RETURN_GRACE_S.
        """
        if self._now() - self._began_at > RETURN_GRACE_S:
            return
        loop = asyncio.get_running_loop()
        for member_id, presence in shown.items():
            is_known = member_id in self._hub.presences or member_id in self._hub.invisible
            if is_known or member_id not in self._directory.members:
                continue
            # The previous owner may have stored this choice without announcing it.
            do_not_disturb = member_id in self._hub.quiet
            self._push_presence(member_id, Shown(presence.idle, do_not_disturb))
            self._leaving[member_id] = loop.call_later(RETURN_GRACE_S, self._left, member_id)

    def close(self) -> None:
        """Cancel the timers without announcing anyone as offline."""
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
        """Push a member's state if it has changed and they are online, or were until a moment ago. An
        invisible member is reported as offline.
        """
        if self._hub.online(member_id) or member_id in self._leaving:
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
        self._list(member_id, presence)
        event = responses.presence(member_id, presence)
        self._hub.push_presence(event, member_id, presence)

    def _list(self, member_id: str, presence: Shown | None) -> None:
        is_idle, is_quiet = presence or (False, False)
        _put(self._online, member_id, is_in=presence is not None)
        _put(self._idle, member_id, is_in=is_idle)
        _put(self._quiet, member_id, is_in=is_quiet)


def _with(ids: Sequence[str], member_id: str, *, is_in: bool) -> list[str]:
    """Return a copy of a sorted list, with or without an id."""
    copy = list(ids)
    _put(copy, member_id, is_in=is_in)
    return copy


def _put(ids: list[str], member_id: str, *, is_in: bool) -> None:
    """Insert an id into a sorted list or remove it."""
    at = bisect_left(ids, member_id)
    if at < len(ids) and ids[at] == member_id:
        if not is_in:
            del ids[at]
    elif is_in:
        ids.insert(at, member_id)
