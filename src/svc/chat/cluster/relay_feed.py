"""Numbers the owner's events, publishes each once over NATS for all relays, and stores them for replays.

NATS may drop messages. A relay detects the gap in the numbers and requests the missing batches. Nothing is
encoded until a relay has attached. Does not serve the clients that are connected to this process.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence

from nats.aio.client import Client
from nats.errors import Error as NatsError

from svc.base.logs import Outage
from svc.chat.access.directory import Channel, Directory, Member
from svc.chat.access.permissions import Role
from svc.chat.cluster.nats_connection import ClusterError, connect, disconnect
from svc.chat.cluster.relay_protocol import (
    CHANNEL,
    MEMBER,
    ROLE,
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
    encode,
    events_subject,
    pack_audience,
)
from svc.chat.live import frames
from svc.chat.live.client import ConnectedClient
from svc.chat.live.hub import EVERYONE, Audience, Hub, Presence, steady_clock

# The limits for stored batches, enough for several minutes in a busy community. A relay that has missed more
# starts over with the full directory.
_MAX_KEPT_BATCHES = 8192
_MAX_KEPT_BYTES = 8 * 1024 * 1024
# NATS rejects messages larger than 1 MB. Relays get a larger batch in a replay.
_BATCH_BYTES = 512 * 1024
_PAUSE_S = 0.5

logger = logging.getLogger(__name__)


class Feed:
    """The numbered sequence of items, published at the end of each event loop iteration. `run` is a
    background task.
    """

    def __init__(self, servers: Sequence[str], name: str, epoch: int) -> None:
        self._servers, self._subject, self.epoch = servers, events_subject(name), epoch
        # The number of the last item.
        self.number = 0
        self._is_wanted = False
        self._items: list[FeedItem] = []
        self._bytes = 0
        self._is_scheduled = False
        # The stored batches, each with the number of its last item.
        self._kept: deque[tuple[int, bytes]] = deque()
        self._kept_bytes = 0
        self._complete_after = 0
        self._unsent: deque[bytes] = deque()
        self._has_unsent = asyncio.Event()

    def want(self) -> None:
        """Start to store and publish items, because a relay has attached."""
        self._is_wanted = True

    def add(self, item: FeedItem, size: int = 64) -> None:
        """Queue an item under the next number. `size` is its approximate encoded size in bytes."""
        if not self._is_wanted:
            return
        self.number += 1
        self._items.append(item)
        self._bytes += size
        if self._bytes > _BATCH_BYTES:
            self._flush()
        elif not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def batches_after(self, number: int) -> list[bytes] | None:
        """Return the batches that contain the items after `number`, or None if some are no longer stored."""
        self._flush()
        if not self._complete_after <= number <= self.number:
            return None
        return [batch for last, batch in self._kept if last > number]

    async def run(self) -> None:
        while True:
            try:
                # The log's connection to the same servers already logs outages.
                client = await connect(self._servers, reports=False)
            except ClusterError:
                await asyncio.sleep(_PAUSE_S)
                continue
            try:
                await self._publish(client)
            finally:
                await disconnect(client)

    async def _publish(self, client: Client) -> None:
        outage = Outage(logger, "events are not published", "events are published again")
        while True:
            await self._has_unsent.wait()
            self._has_unsent.clear()
            while self._unsent:
                try:
                    await client.publish(self._subject, self._unsent.popleft())
                    outage.ended()
                except NatsError as fault:
                    # Relays notice the gap and request the missing items.
                    outage.failed(type(fault).__name__)

    def _flush(self) -> None:
        self._is_scheduled = False
        if not self._items:
            return
        items, self._items, self._bytes = self._items, [], 0
        batch = encode(Batch(self.epoch, self.number - len(items) + 1, items))
        self._kept.append((self.number, batch))
        self._kept_bytes += len(batch)
        while len(self._kept) > _MAX_KEPT_BATCHES or self._kept_bytes > _MAX_KEPT_BYTES:
            self._complete_after, dropped = self._kept.popleft()
            self._kept_bytes -= len(dropped)
        self._unsent.append(batch)
        while len(self._unsent) > _MAX_KEPT_BATCHES:
            self._unsent.popleft()
        self._has_unsent.set()


class ReplicatedDirectory(Directory):
    """A directory that sends its changes to relays, in order with the events."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(time.time)
        self._feed = feed

    def records(self) -> list[DirectoryRecord]:
        """Return the whole directory."""
        return [
            *(RoleRecord.of(role) for role in self.roles.values()),
            *(ChannelRecord.of(channel) for channel in self.channels.values()),
            *(MemberRecord.of(member) for member in self.members.values()),
            *(TokenMaker(bot_id, maker_id) for bot_id, maker_id in self._token_makers.items()),
        ]

    def put_member(self, member: Member) -> None:
        super().put_member(member)
        self._feed.add(MemberRecord.of(member))

    def drop_member(self, member_id: str) -> None:
        super().drop_member(member_id)
        self._feed.add(Removal(MEMBER, member_id))

    def put_role(self, role: Role) -> None:
        super().put_role(role)
        self._feed.add(RoleRecord.of(role))

    def drop_role(self, role_id: str) -> None:
        super().drop_role(role_id)
        self._feed.add(Removal(ROLE, role_id))

    def put_channel(self, channel: Channel) -> None:
        super().put_channel(channel)
        self._feed.add(ChannelRecord.of(channel))

    def drop_channel(self, channel_id: str) -> None:
        super().drop_channel(channel_id)
        self._feed.add(Removal(CHANNEL, channel_id))

    def put_token_maker(self, bot_id: str, maker_id: str | None) -> None:
        super().put_token_maker(bot_id, maker_id)
        self._feed.add(TokenMaker(bot_id, maker_id))


class RemoteClient(ConnectedClient):
    """A client whose socket is on a relay."""

    def __init__(self, feed: Feed, relay: str, client: int) -> None:
        """Create the client. `relay` is the relay's session id, and `client` is the client's number on that
        relay.
        """
        super().__init__()
        self._feed, self._relay, self._client = feed, relay, client

    def cut_off(self, code: int, reason: str) -> None:
        self._feed.add(ClientRevocation(self._relay, self._client, code, reason))


class ReplicatedHub(Hub):
    """A hub that also tracks clients on relays. Each event is sent to the relays once, not once per
    client.
    """

    def __init__(self, feed: Feed) -> None:
        super().__init__(ReplicatedDirectory(feed), steady_clock())
        self.feed, self.epoch = feed, feed.epoch
        self._receiving: dict[str, list[ConnectedClient]] = {}

    def add(self, member_id: str, client: ConnectedClient) -> None:
        if client.outbox is not None:
            self._receiving.setdefault(member_id, []).append(client)
        super().add(member_id, client)

    def remove(self, member_id: str, client: ConnectedClient) -> None:
        receiving = self._receiving.get(member_id, [])
        if client in receiving:
            receiving.remove(client)
            if not receiving:
                del self._receiving[member_id]
        super().remove(member_id, client)

    def push_presence(self, event: object, member_id: str, presence: Presence | None) -> None:
        self._store_presence(member_id, presence)
        frame = frames.push("presence", event)
        super().distribute(frame, EVERYONE, member_id, None)
        record = PresenceRecord.of(member_id, presence)
        self.feed.add(EventFrame(frame, pack_audience(EVERYONE), member_id, None, record), len(frame))

    def presence_records(self) -> list[PresenceRecord]:
        """Return the presences of all members who appear online."""
        return [PresenceRecord.of(member_id, presence) for member_id, presence in self.presences.items()]

    def distribute(self, frame: bytes, to: Audience, but_not: str | None, seq: int | None) -> None:
        super().distribute(frame, to, but_not, seq)
        self.feed.add(EventFrame(frame, pack_audience(to), but_not, seq), len(frame))
