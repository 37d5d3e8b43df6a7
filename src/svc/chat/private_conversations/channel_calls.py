"""Manages the MLS groups for calls in encrypted voice channels.

The members of a group are the people in the call. The media service reports the people in a call, and grants
identify their devices. The stored list of devices is updated from these reports. The devices in the call are
notified, and add missing members to the group or remove members who have left, as in any conversation. No
messages are sent in such a group. Its log is deleted when the last person leaves. This module contains
neither HTTP nor SQL code. See docs/private.md, "Encrypted voice channels".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

from svc.base.database import Connection, StorageFailed, Write
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.private_conversations import store
from svc.chat.private_conversations.rules import PrivateConversations
from svc.chat.services import Services

# Once this many devices are stored, those whose grant has expired and whose member is not in the call are
# dropped.
_MAX_KNOWN = 4096
_GRANT_LIFETIME_S = 120.0
_PAUSE_AFTER_FAULT_S = 1.0

logger = logging.getLogger(__name__)


class ChannelCalls:
    """The stored list of devices in each call. It is updated when participants join and leave.

    `require_device` returns the id of the requesting device. `users` returns the people in a call. `now`
    returns seconds since 1970.
    """

    def __init__(
        self,
        services: Services,
        conversations: PrivateConversations,
        require_device: Callable[[Session], Awaitable[str]],
        users: Callable[[str], Sequence[str]],
        now: Callable[[], float],
    ) -> None:
        self._database, self._directory = services.database, services.directory
        self._conversations = conversations
        self._taking_part = require_device
        self._now = now
        self._users = users
        # The device and time of the last grant, by room and member.
        self._granted: dict[tuple[str, str], tuple[str, float]] = {}
        # Called with a channel and a member in its call if the member's grant predates the channel's
        # encryption.
        self.on_unsealed: list[Callable[[str, str], None]] = []
        # Channels whose occupancy has changed.
        self._changed: set[str] = set()
        self._wake = asyncio.Event()

    def require_same(self, room_id: str, sealed: bool) -> None:
        """Raise ChatError unless the room and the joining member agree on encryption."""
        channel = self._directory.channels.get(room_id)
        # A room that is not a channel belongs to a private conversation.
        if (channel is None or channel.encrypted) != sealed:
            raise ChatError("sealing_differs")

    async def require_sealing(self, session: Session, room_id: str, sealed: bool) -> None:
        """Check a request for a grant. If the room is encrypted, remember the device.

        Raises ChatError if only one of the room and the device uses encryption, or if the device is not
        registered for it.
        """
        self.require_same(room_id, sealed)
        if not sealed:
            self._granted.pop((room_id, session.member_id), None)
            return
        device_id = await self._taking_part(session)
        now = self._now()
        if len(self._granted) >= _MAX_KNOWN:
            self._granted = {
                seat: grant
                for seat, grant in self._granted.items()
                if seat[1] in self._users(seat[0]) or 0 <= now - grant[1] <= _GRANT_LIFETIME_S
            }
        self._granted[room_id, session.member_id] = device_id, now

    # Methods that `voice.occupancy` calls.

    def joined(self, room_id: str, user_id: str) -> None:
        self._update_later(room_id)

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        self._update_later(room_id)

    def synchronised(self) -> None:
        """Update all calls, because participants may have left while the server was down."""
        for channel_id in list(self._conversations.calls):
            self._update_later(channel_id)

    def _update_later(self, room_id: str) -> None:
        channel = self._directory.channels.get(room_id)
        if room_id in self._conversations.calls or (channel is not None and channel.encrypted):
            self._changed.add(room_id)
            self._wake.set()

    async def run(self) -> NoReturn:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._changed:
                channel_id = self._changed.pop()
                try:
                    await self.settle(channel_id)
                except StorageFailed as fault:
                    logger.warning("the group of a call is out of sync", extra={"fault": str(fault)})
                    self._changed.add(channel_id)
                    await asyncio.sleep(_PAUSE_AFTER_FAULT_S)

    @exclusive_write
    def settle(self, channel_id: str) -> Write[tuple[frozenset[str], bool], None]:
        """Make the stored devices match the people in a channel's call."""
        channel = self._directory.channels.get(channel_id)
        encrypted = channel is not None and channel.encrypted
        # Skip users who joined with the media service's secret, because they are not members.
        users = [
            user_id for user_id in self._users(channel_id) if encrypted and user_id in self._directory.members
        ]
        granted = {
            user_id: self._granted[channel_id, user_id][0]
            for user_id in users
            if (channel_id, user_id) in self._granted
        }
        now_ms = int(self._now() * 1000)

        def write(connection: Connection) -> tuple[frozenset[str], bool]:
            before = store.devices_in_call(connection, channel_id)
            known = {**before, **granted}
            after = {user_id: known[user_id] for user_id in users if user_id in known}
            if after != before:
                store.put_devices_in_call(connection, channel_id, after, now_ms)
            return frozenset(after), after != before

        def settled(outcome: tuple[frozenset[str], bool]) -> None:
            participants, changed = outcome
            calls = self._conversations.calls
            # A deleted member's rows are already gone, so also compare with the state in memory.
            changed = changed or calls.get(channel_id, frozenset()) != participants
            calls[channel_id] = participants
            if not participants:
                del calls[channel_id]
            if changed:
                self._conversations.report_changed([channel_id])
            for user_id in users:
                if user_id not in participants:
                    for disconnect in self.on_unsealed:
                        disconnect(channel_id, user_id)

        return Write(write, settled)
