"""The groups of encrypted voice channels: whoever is in the call is in the group, and nobody else.

The media service says who is in a call; the grant says with which device they came. What is kept is
brought in step with that, and the devices in the call are told: they add whom the group lacks and remove
who has left, as in any conversation. Nothing is said in such a group. Its log goes when the last one leaves.
No HTTP, no SQL. docs/private.md, "Encrypted voice channels".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

from svc.base.database import Act, Connection, StorageFailed
from svc.chat.access.acts import changes_rules
from svc.chat.access.tokens import Asker
from svc.chat.direct import store
from svc.chat.direct.rules import PrivateConversations
from svc.chat.errors import ChatError
from svc.chat.ground import Ground

# Devices of grants may be forgotten when there are so many: those of expired grants of members in no call.
_MAX_KNOWN = 4096
_GRANT_LIFETIME_S = 120.0
_PAUSE_AFTER_FAULT_S = 1.0

logger = logging.getLogger(__name__)


class ChannelCalls:
    """Watches the occupancy. `taking_part` finds the device that asks, `users` who is in the call of a
    channel; `now` gives seconds since 1970."""

    def __init__(
        self,
        ground: Ground,
        conversations: PrivateConversations,
        taking_part: Callable[[Asker], Awaitable[str]],
        users: Callable[[str], Sequence[str]],
        now: Callable[[], float],
    ) -> None:
        self._database, self._directory = ground.database, ground.directory
        self._conversations = conversations
        self._taking_part = taking_part
        self._now = now
        self._users = users
        # By room and member: the device of their last grant, and when that was.
        self._granted: dict[tuple[str, str], tuple[str, float]] = {}
        # Called for members in an encrypted channel whose grant was from before it was encrypted.
        self.on_unsealed: list[Callable[[str, str], None]] = []
        # Channels whose people are not what they were.
        self._changed: set[str] = set()
        self._wake = asyncio.Event()

    def require_same(self, room_id: str, sealed: bool) -> None:
        """Raises ChatError unless a room is encrypted exactly if its newcomer seals."""
        channel = self._directory.channels.get(room_id)
        # A room that is of no channel is of a private conversation.
        if (channel is None or channel.encrypted) != sealed:
            raise ChatError("sealing_differs")

    async def require_sealing(self, asker: Asker, room_id: str, sealed: bool) -> None:
        """Before a grant: in an encrypted room one seals, with a device that takes part. Raises ChatError."""
        self.require_same(room_id, sealed)
        if not sealed:
            self._granted.pop((room_id, asker.member_id), None)
            return
        device_id = await self._taking_part(asker)
        now = self._now()
        if len(self._granted) >= _MAX_KNOWN:
            self._granted = {
                place: one
                for place, one in self._granted.items()
                if place[1] in self._users(place[0]) or 0 <= now - one[1] <= _GRANT_LIFETIME_S
            }
        self._granted[room_id, asker.member_id] = device_id, now

    # Of the occupancy.

    def joined(self, room_id: str, user_id: str) -> None:
        self._look_at(room_id)

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        self._look_at(room_id)

    def in_step(self) -> None:
        """Who was in a call when the server stopped may not be there any more."""
        for channel_id in list(self._conversations.calls):
            self._look_at(channel_id)

    def _look_at(self, room_id: str) -> None:
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
                    logger.warning("the group of a call is out of step", extra={"fault": str(fault)})
                    self._changed.add(channel_id)
                    await asyncio.sleep(_PAUSE_AFTER_FAULT_S)

    @changes_rules
    def settle(self, channel_id: str) -> Act[tuple[frozenset[str], bool], None]:
        """Bring what is kept in step with who is in the call of a channel."""
        channel = self._directory.channels.get(channel_id)
        encrypted = channel is not None and channel.encrypted
        # Who came with the media service's own secret is no member.
        users = [one for one in self._users(channel_id) if encrypted and one in self._directory.members]
        granted = {
            one: self._granted[channel_id, one][0] for one in users if (channel_id, one) in self._granted
        }
        now_ms = int(self._now() * 1000)

        def write(connection: Connection) -> tuple[frozenset[str], bool]:
            before = store.devices_in_call(connection, channel_id)
            known = {**before, **granted}
            after = {one: known[one] for one in users if one in known}
            if after != before:
                store.put_devices_in_call(connection, channel_id, after, now_ms)
            return frozenset(after), after != before

        def settled(outcome: tuple[frozenset[str], bool]) -> None:
            there, changed = outcome
            calls = self._conversations.calls
            # The rows of a member who is deleted go with them.
            changed = changed or calls.get(channel_id, frozenset()) != there
            calls[channel_id] = there
            if not there:
                del calls[channel_id]
            if changed:
                self._conversations.tell_changed([channel_id])
            for user_id in users:
                if user_id not in there:
                    for put_out in self.on_unsealed:
                        put_out(channel_id, user_id)

        return Act(write, settled)
