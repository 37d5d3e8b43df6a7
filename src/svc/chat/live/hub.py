"""Tracks connected clients and sends each event to its audience.

Each event is encoded once, and stored for clients that reconnect. A member gets an event only if they have
permission to see it at that moment. The permission is checked again before a replay. The hub is independent
of the features, which define their events and audiences.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import NamedTuple

from msgspec import Struct

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission
from svc.chat.live import frames
from svc.chat.live.client import ConnectedClient
from svc.chat.live.frames import CloseCode
from svc.chat.live.outbox import Outbox, WriteScheduler


class Everyone(Struct, frozen=True):
    """All members of the server."""


class Viewers(Struct, frozen=True):
    """Members who may view a channel."""

    channel_id: str


class Recipients(Struct, frozen=True):
    """The given members, on all their clients. If a channel is given, only those who may view it."""

    member_ids: frozenset[str]
    channel_id: str | None = None


class PermissionHolders(Struct, frozen=True):
    """Members who have all of the given permissions, in a channel or server-wide."""

    permission: Permission
    channel_id: str | None = None


Audience = Everyone | Viewers | Recipients | PermissionHolders
EVERYONE = Everyone()


def only(*member_ids: str) -> Recipients:
    return Recipients(frozenset(member_ids))


def includes(audience: Audience, member_id: str, directory: Directory) -> bool:
    match audience:
        case Everyone():
            return member_id in directory.members
        case Viewers(channel_id):
            return member_id in directory.viewers(channel_id)
        case Recipients(member_ids, channel_id):
            views = channel_id is None or member_id in directory.viewers(channel_id)
            return views and member_id in member_ids
        case PermissionHolders(permission, channel_id):
            return directory.has_permission(member_id, permission, channel_id)


def steady_clock() -> Callable[[], float]:
    """Return a clock that starts at the system time and then advances monotonically."""
    ahead_s = time.time() - time.monotonic()
    return lambda: ahead_s + time.monotonic()


# The maximum number of stored events. At fifty events per second, as in a busy community, they cover almost
# three minutes, longer than a train spends in a tunnel.
MAX_KEPT = 8192
MAX_KEPT_BYTES = 4 * 1024 * 1024


class Presence(NamedTuple):
    """The state of a member who is shown as online."""

    idle: bool
    do_not_disturb: bool


class Push(Struct, frozen=True):
    seq: int
    frame: bytes
    audience: Audience
    but_not: str | None


class ReplayBuffer:
    """Stored events for reconnecting clients, ordered by `seq`. The first `seq` is higher than `now_us`.

    `seq` is derived from the clock, so it keeps increasing across restarts. Gaps in the numbers have no
    meaning.
    """

    def __init__(self, now_us: int, max_count: int = MAX_KEPT, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self.seq = now_us
        # All events after this `seq` are still stored.
        self._complete_after = now_us
        self._pushes: deque[Push] = deque()
        self._bytes = 0
        self._max_count = max_count
        self._max_bytes = max_bytes

    def next_seq(self, now_us: int) -> int:
        self.seq = max(self.seq + 1, now_us)
        return self.seq

    def add(self, push: Push) -> None:
        self._pushes.append(push)
        self.seq = max(self.seq, push.seq)
        self._bytes += len(push.frame)
        while len(self._pushes) > self._max_count or self._bytes > self._max_bytes:
            dropped = self._pushes.popleft()
            self._bytes -= len(dropped.frame)
            self._complete_after = dropped.seq

    def after(self, seq: int) -> Iterator[Push] | None:
        """Return the events after `seq`, or None if some of them are no longer stored or `seq` is in the
        future.
        """
        if not self._complete_after <= seq <= self.seq:
            return None
        return dropwhile(lambda push: push.seq <= seq, self._pushes)


# A person may use a phone, a tablet and several computers, some with several tabs open. Above this number,
# the oldest client is disconnected, because its connection may be dead.
MAX_CLIENTS_PER_MEMBER = 16


class Hub:
    """The connected clients. `now` returns the time in seconds since 1970 and never goes backwards."""

    max_pages_of_a_member: float = MAX_CLIENTS_PER_MEMBER
    # How many times a cluster node has become the owner so far. 0 outside a cluster.
    epoch = 0

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self.directory = directory
        self._now = now
        self._kept = ReplayBuffer(self._now_us())
        self.scheduler = WriteScheduler()
        # The clients of each online member, oldest first.
        self._clients: dict[str, list[ConnectedClient]] = {}
        # The clients to which this process writes: all of them, unless some are connected through relays.
        self._receiving = self._clients
        self._count = 0
        # The outboxes of all clients, and those of each channel's viewers. The same list object is reused
        # until a client connects or disconnects.
        self._all_outboxes: list[Outbox] = []
        self._viewers_outboxes: dict[str, tuple[frozenset[str], list[Outbox]]] = {}
        # Called when a member's first client connects (True) or last client disconnects (False).
        self.on_online: list[Callable[[str, bool], None]] = []
        # Called when `idle` may have changed for an online member.
        self.on_idle: list[Callable[[str], None]] = []
        # Members who are invisible, and members who have do-not-disturb on. `notification_levels` fills both
        # sets.
        self.invisible: set[str] = set()
        self.quiet: set[str] = set()
        # The last pushed presence of each member who is shown as online.
        self.presences: dict[str, Presence] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def seq(self) -> int:
        """The `seq` of the last stored event, which is the `seq` of an up-to-date client."""
        return self._kept.seq

    def online(self, member_id: str) -> bool:
        return member_id in self._clients

    def in_sight(self, member_id: str) -> bool:
        """Return whether a client of the member is visible."""
        return any(client.in_sight for client in self._clients.get(member_id, ()))

    def attentive_viewers(self, channel_id: str) -> frozenset[str]:
        """Return the members who may view a channel and have a visible client."""
        viewers = self.directory.viewers(channel_id)
        return frozenset(member for member in self._clients if member in viewers and self.in_sight(member))

    def idle(self, member_id: str) -> bool:
        """Return whether the member is online and all the member's clients are idle."""
        clients = self._clients.get(member_id)
        return bool(clients) and all(client.idle for client in clients or ())

    def set_idle(self, member_id: str, client: ConnectedClient, idle: bool) -> None:
        client.idle = idle
        self._notify_idle(member_id)

    def shown_members(self) -> Iterable[str]:
        """Yield the online members who are not invisible."""
        return (member_id for member_id in self._clients if member_id not in self.invisible)

    def clients(self) -> Mapping[str, int]:
        """Return the number of clients of each online member."""
        return {member_id: len(clients) for member_id, clients in self._clients.items()}

    def add(self, member_id: str, client: ConnectedClient) -> None:
        clients = self._clients.setdefault(member_id, [])
        clients.append(client)
        self._count += 1
        self._forget_outboxes()
        if len(clients) == 1:
            self._notify_online(member_id, online=True)
            return
        self._notify_idle(member_id)
        if len(clients) > self.max_pages_of_a_member:
            clients[0].cut_off(CloseCode.TOO_MANY_PAGES, "Too many pages of yours are open")
            self.remove(member_id, clients[0])

    def remove(self, member_id: str, client: ConnectedClient) -> None:
        clients = self._clients.get(member_id, [])
        if client not in clients:
            return
        clients.remove(client)
        self._count -= 1
        self._forget_outboxes()
        if not clients:
            del self._clients[member_id]
            self._notify_online(member_id, online=False)
        else:
            self._notify_idle(member_id)

    def push(
        self, event: str, data: object, to: Audience, *, but_not: str | None = None, kept: bool = True
    ) -> None:
        """Push an event to the online members of an audience, except the member `but_not`.

        Members who are offline get the event when they reconnect, unless `kept` is False, as for typing and
        other events of only momentary interest.
        """
        seq = self._kept.next_seq(self._now_us()) if kept else None
        self.distribute(frames.push(event, data, seq), to, but_not, seq)

    def push_presence(self, event: object, member_id: str, presence: Presence | None) -> None:
        """Push a change in a member's presence to all others. None means that the member went offline."""
        self._store_presence(member_id, presence)
        self.push("presence", event, EVERYONE, but_not=member_id, kept=False)

    def _store_presence(self, member_id: str, presence: Presence | None) -> None:
        if presence is None:
            self.presences.pop(member_id, None)
        else:
            self.presences[member_id] = presence

    def distribute(self, frame: bytes, to: Audience, but_not: str | None, seq: int | None) -> None:
        """Send an encoded event to the online members of an audience, and store it if it has a `seq`."""
        if seq is not None:
            self._kept.add(Push(seq, frame, to, but_not))
        if outboxes := self._outboxes(to, but_not):
            self.scheduler.share(frame, outboxes)

    def missed_frames(self, member_id: str, seq: int) -> list[bytes] | None:
        """Return the frames after `seq` that a member missed and may see now.

        Returns None if some events after `seq` are no longer stored.
        """
        pushes = self._kept.after(seq)
        if pushes is None:
            return None
        return [
            push.frame
            for push in pushes
            if push.but_not != member_id and includes(push.audience, member_id, self.directory)
        ]

    def covers(self, seq: int) -> bool:
        """Return whether all events after `seq` are still stored."""
        return self._kept.after(seq) is not None

    def begin_window(self, seq: int) -> None:
        """Forget the stored events and continue after `seq`."""
        self._kept = ReplayBuffer(seq)

    def cut_off(
        self,
        member_id: str,
        code: int = CloseCode.SIGNED_OUT,
        reason: str = "Signed out",
        *,
        session_id: str | None = None,
    ) -> None:
        """Disconnect a member's clients, or only those of one session, because they have lost access."""
        for client in list(self._clients.get(member_id, ())):
            if session_id in (None, client.session_id):
                client.cut_off(code, reason)
                self.remove(member_id, client)

    def _now_us(self) -> int:
        # Stay within JavaScript's integer range, even if the clock shows a year after 2112.
        return int(self._now() * 1_000_000) % 2**52

    def _notify_online(self, member_id: str, *, online: bool) -> None:
        for changed in self.on_online:
            changed(member_id, online)

    def _notify_idle(self, member_id: str) -> None:
        for changed in self.on_idle:
            changed(member_id)

    def _forget_outboxes(self) -> None:
        self._all_outboxes = []
        self._viewers_outboxes.clear()

    def _outboxes(self, to: Audience, but_not: str | None) -> Sequence[Outbox]:
        if but_not is None:
            if isinstance(to, Viewers):
                return self._of_viewers(to.channel_id)
            if isinstance(to, Everyone):
                return self._outboxes_of_all()
        return self._outboxes_of(member_id for member_id in self._online_members(to) if member_id != but_not)

    def _outboxes_of(self, member_ids: Iterable[str]) -> list[Outbox]:
        clients = (client for member_id in member_ids for client in self._receiving[member_id])
        return [client.outbox for client in clients if client.outbox is not None]

    def _outboxes_of_all(self) -> list[Outbox]:
        if not self._all_outboxes:
            self._all_outboxes = self._outboxes_of(self._receiving)
        return self._all_outboxes

    def _of_viewers(self, channel_id: str) -> list[Outbox]:
        viewers = self.directory.viewers(channel_id)
        known = self._viewers_outboxes.get(channel_id)
        if known is not None and known[0] is viewers:
            return known[1]
        outboxes = self._outboxes_of(member_id for member_id in self._receiving if member_id in viewers)
        # Most channels are visible to all members. For them, reuse the list of all outboxes: frames for the
        # same list object need not be grouped by client.
        if len(outboxes) == len(everywhere := self._outboxes_of_all()):
            outboxes = everywhere
        self._viewers_outboxes[channel_id] = viewers, outboxes
        return outboxes

    def _online_members(self, audience: Audience) -> Iterable[str]:
        """Return the online members of an audience."""
        if isinstance(audience, Recipients):  # Iterate over the smaller of the two sets.
            fewer, more = sorted((audience.member_ids, self._receiving.keys()), key=len)
            online = [member_id for member_id in fewer if member_id in more]
        else:
            online = list(self._receiving)
        return [m for m in online if includes(audience, m, self.directory)]
