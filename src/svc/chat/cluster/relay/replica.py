"""Maintains a relay's copy of the data that determines who gets each event.

The owner's numbered events update the copy. The hub is the same as in the chat server: it determines the
recipients from the directory, writes each event to the connected clients, and stores recent events for
clients that resume. Its events come from a `Batch` instead of from features. After a gap, later events wait
until the missing ones have been replayed. Opens no connections.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence

from svc.chat.access.directory import Directory
from svc.chat.cluster.relay.online_members import OnlineMembers
from svc.chat.cluster.relay_protocol import (
    CHANNEL,
    MEMBER,
    Batch,
    ChannelRecord,
    ClientRevocation,
    DirectoryRecord,
    EventFrame,
    FeedItem,
    MemberRecord,
    PresenceRecord,
    Removal,
    RoleRecord,
    TokenMaker,
    decode_batch,
    unpack_audience,
)
from svc.chat.live.hub import Hub, includes, steady_clock

# The maximum number of recent events stored for clients that are signing in. A busy community generates fifty
# events per second.
_MAX_RECENT = 2048
_MAX_RECENT_BYTES = 16 * 1024 * 1024
# The limit for batches that wait for missing ones. Beyond that, all waiting batches are discarded and
# requested again.
_MAX_AHEAD_BYTES = 16 * 1024 * 1024


class RelayReplica:
    """The directory, the hub, and the position in the owner's sequence of events."""

    def __init__(self) -> None:
        self.hub = Hub(Directory(time.time), steady_clock())
        # The owner limits the number of clients per member, because a member's clients may use several
        # relays.
        self.hub.max_pages_of_a_member = math.inf
        self.online = OnlineMembers()
        # The current epoch, and the number of the last applied event.
        self.epoch = self.number = 0
        self.applied = 0
        self._recent: deque[tuple[int, FeedItem]] = deque()
        self._recent_bytes = self._ahead_bytes = 0
        self._ahead: dict[tuple[int, int], Batch] = {}
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        # `on_begin` is called before the state is replaced, `on_gap` when events are missing, and
        # `on_cut_off` when a client loses access.
        self.on_begin: Callable[[], None] = lambda: None
        self.on_gap: Callable[[], None] = lambda: None
        self.on_cut_off: Callable[[ClientRevocation], None] = lambda item: None

    def begin(
        self,
        epoch: int,
        number: int,
        seq: int,
        records: Sequence[DirectoryRecord],
        online: Sequence[PresenceRecord] | None = None,
    ) -> None:
        """Replace the state with the owner node's complete directory and, if the node sent them, the online
        members.
        """
        self.on_begin()
        self.online.replace(online)
        directory = Directory(time.time)
        for record in records:
            _change(directory, record)
        self.hub.directory = directory
        self.hub.begin_window(seq)
        self._recent.clear()
        self._recent_bytes = 0
        self.epoch, self.number = epoch, number
        # Wake tasks that wait for an event of an older epoch, because they must notice the new link.
        for waiting in list(self._waiting):
            self._settle(waiting)
        self._go_on()

    def receive(self, data: bytes) -> None:
        """Apply a batch, or store it until the earlier ones have arrived. Ignore batches from older
        epochs.
        """
        batch = decode_batch(data)
        if batch.epoch < self.epoch:
            return
        if batch.epoch > self.epoch or batch.first > self.number + 1:
            if self._ahead_bytes > _MAX_AHEAD_BYTES:
                self._ahead.clear()
                self._ahead_bytes = 0
            self._ahead[batch.epoch, batch.first] = batch
            self._ahead_bytes += len(data)
            if batch.epoch == self.epoch:
                self.on_gap()
            return
        self._apply(batch)
        if self._ahead:
            self._go_on()

    @property
    def has_gap(self) -> bool:
        return any(epoch == self.epoch for epoch, _ in self._ahead)

    async def wait_applied(self, number: int) -> None:
        """Wait until the event with the given number has been applied."""
        if number <= self.number:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append((number, waiting))
        await waiting

    def since(self, number: int, member_id: str) -> "list[EventFrame | ClientRevocation] | None":
        """Return the events after the given number that concern one of this member's clients, or None if some
        of them are no longer stored.
        """
        oldest = self._recent[0][0] if self._recent else self.number + 1
        if number + 1 < oldest:
            return None
        later: list[EventFrame | ClientRevocation] = []
        for position, item in reversed(self._recent):
            if position <= number:
                break
            if isinstance(item, ClientRevocation) or (
                isinstance(item, EventFrame) and self._is_for(item, member_id)
            ):
                later.append(item)
        later.reverse()
        return later

    def _is_for(self, item: EventFrame, member_id: str) -> bool:
        return item.but_not != member_id and includes(unpack_audience(item.to), member_id, self.hub.directory)

    def _go_on(self) -> None:
        """Apply the batches that were waiting for earlier batches."""
        for epoch, first in sorted(self._ahead):
            if epoch < self.epoch:
                del self._ahead[epoch, first]
            elif epoch == self.epoch and first <= self.number + 1:
                self._apply(self._ahead.pop((epoch, first)))
        if not self._ahead:
            self._ahead_bytes = 0
        for waiting in [entry for entry in self._waiting if entry[0] <= self.number]:
            self._settle(waiting)

    def _apply(self, batch: Batch) -> None:
        for position, item in enumerate(batch.items, batch.first):
            if position <= self.number:
                continue
            self.number = position
            self.applied += 1
            self._remember(position, item)
            match item:
                case EventFrame(frame, to, but_not, seq, presence):
                    if presence is not None:
                        self.online.change(presence, frame)
                    self.hub.distribute(frame, unpack_audience(to), but_not, seq)
                case ClientRevocation():
                    self.on_cut_off(item)
                case _:
                    _change(self.hub.directory, item)
        for waiting in [entry for entry in self._waiting if entry[0] <= self.number]:
            self._settle(waiting)

    def _remember(self, position: int, item: FeedItem) -> None:
        self._recent.append((position, item))
        self._recent_bytes += _size(item)
        while len(self._recent) > _MAX_RECENT or self._recent_bytes > _MAX_RECENT_BYTES:
            self._recent_bytes -= _size(self._recent.popleft()[1])

    def _settle(self, waiting: "tuple[int, asyncio.Future[None]]") -> None:
        self._waiting.remove(waiting)
        if not waiting[1].done():
            waiting[1].set_result(None)


def _size(item: FeedItem) -> int:
    return len(item.frame) if isinstance(item, EventFrame) else 0


def _change(directory: Directory, record: DirectoryRecord) -> None:
    match record:
        case MemberRecord():
            directory.put_member(record.member())
        case RoleRecord():
            directory.put_role(record.role())
        case ChannelRecord():
            directory.put_channel(record.channel())
        case TokenMaker(bot_id, maker_id):
            directory.put_token_maker(bot_id, maker_id)
        case Removal(kind, id_) if kind == MEMBER:
            directory.drop_member(id_)
        case Removal(kind, id_) if kind == CHANNEL:
            directory.drop_channel(id_)
        case Removal(_, id_):
            directory.drop_role(id_)
