"""Everybody whose page is open, and pushing to those whom it concerns.

Serialises a push once, and keeps it for those who come back. Whom it is for is decided by today's
permissions, also when it is replayed later. Knows no feature: what is pushed, and to whom, is theirs to say.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission
from svc.chat.live import frames
from svc.chat.live.frames import CloseCode
from svc.chat.live.outbox import Outbox, Rounds
from svc.chat.live.page import Page


@dataclass(frozen=True, slots=True)
class Everyone:
    """All members."""


@dataclass(frozen=True, slots=True)
class Viewers:
    """Who may view a channel."""

    channel_id: str


@dataclass(frozen=True, slots=True)
class Only:
    """Members by name, all their pages."""

    member_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Holders:
    """Who has a permission: in a channel, or on the server."""

    permission: Permission
    channel_id: str | None = None


Audience = Everyone | Viewers | Only | Holders
EVERYONE = Everyone()


def only(*member_ids: str) -> Only:
    return Only(frozenset(member_ids))


def includes(audience: Audience, member_id: str, directory: Directory) -> bool:
    match audience:
        case Everyone():
            return member_id in directory.members
        case Viewers(channel_id):
            return member_id in directory.viewers(channel_id)
        case Only(member_ids):
            return member_id in member_ids
        case Holders(permission, channel_id):
            return directory.may(member_id, permission, channel_id)


# A busy community pushes some fifty times a second: minutes, longer than a train in a tunnel.
MAX_KEPT = 8192
MAX_KEPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Push:
    seq: int
    frame: bytes
    audience: Audience
    but_not: str | None


class KeptPushes:
    """Pushes for those who come back, in the order of their `seq`, which starts at `now_us`.

    The clock makes it rise across restarts too, so that a `seq` of an earlier run is always
    older than what is kept. Gaps mean nothing.
    """

    def __init__(self, now_us: int, max_count: int = MAX_KEPT, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self.seq = now_us
        # Everything after this one is still here.
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
        self._bytes += len(push.frame)
        while len(self._pushes) > self._max_count or self._bytes > self._max_bytes:
            dropped = self._pushes.popleft()
            self._bytes -= len(dropped.frame)
            self._complete_after = dropped.seq

    def after(self, seq: int) -> Iterator[Push] | None:
        """What was pushed after `seq`; None where not all of it is here, or `seq` is none of ours."""
        if not self._complete_after <= seq <= self.seq:
            return None
        return dropwhile(lambda push: push.seq <= seq, self._pushes)


# A person's phone, tablet and computers, some with several tabs. Beyond it the oldest goes:
# it may be one whose network has gone without a word.
MAX_PAGES_OF_A_MEMBER = 16


class Hub:
    """`now` gives the seconds since 1970 at the start, and from then on those that have passed since."""

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self.directory = directory
        self._now = now
        self._kept = KeptPushes(self._now_us())
        self.rounds = Rounds()
        # In each, the oldest first.
        self._pages: dict[str, list[Page]] = {}
        self._count = 0
        # Of everybody who is online, and of those of them who may view a channel; the same list
        # as long as it is true. Emptied when a page comes or goes.
        self._all_outboxes: list[Outbox] = []
        self._viewers_outboxes: dict[str, tuple[frozenset[str], list[Outbox]]] = {}
        # Told of a member whose first page opens (True), or whose last closes.
        self.on_online: list[Callable[[str, bool], None]] = []
        # Told of a member who is online, of whom `idle` may say something else now.
        self.on_idle: list[Callable[[str], None]] = []
        # Members who do not show others that they are there, and who do not want to be disturbed. Whoever
        # knows that fills them.
        self.invisible: set[str] = set()
        self.quiet: set[str] = set()

    def __len__(self) -> int:
        return self._count

    @property
    def seq(self) -> int:
        """Of the last push that is kept: what a page that has the present state has seen."""
        return self._kept.seq

    def online(self, member_id: str) -> bool:
        return member_id in self._pages

    def in_sight(self, member_id: str) -> bool:
        """Has the member a page before their eyes?"""
        return any(page.in_sight for page in self._pages.get(member_id, ()))

    def looking(self, channel_id: str) -> frozenset[str]:
        """Who may view a channel and has a page before their eyes."""
        viewers = self.directory.viewers(channel_id)
        return frozenset(member for member in self._pages if member in viewers and self.in_sight(member))

    def idle(self, member_id: str) -> bool:
        """Has the member pages, and has none of them been touched for a while?"""
        pages = self._pages.get(member_id)
        return bool(pages) and all(page.idle for page in pages or ())

    def say_idle(self, member_id: str, page: Page, idle: bool) -> None:
        page.idle = idle
        self._tell_idle(member_id)

    def shown_members(self) -> Iterable[str]:
        """Who is online and not invisible."""
        return (member_id for member_id in self._pages if member_id not in self.invisible)

    def pages(self) -> Mapping[str, int]:
        """How many pages each member has open; those who have none are left out."""
        return {member_id: len(pages) for member_id, pages in self._pages.items()}

    def add(self, member_id: str, page: Page) -> None:
        pages = self._pages.setdefault(member_id, [])
        pages.append(page)
        self._count += 1
        self._forget_outboxes()
        if len(pages) == 1:
            self._tell_watchers(member_id, online=True)
            return
        self._tell_idle(member_id)
        if len(pages) > MAX_PAGES_OF_A_MEMBER:
            pages[0].cut_off(CloseCode.TOO_MANY_PAGES, "Too many pages of yours are open")
            self.remove(member_id, pages[0])

    def remove(self, member_id: str, page: Page) -> None:
        pages = self._pages.get(member_id, [])
        if page not in pages:
            return
        pages.remove(page)
        self._count -= 1
        self._forget_outboxes()
        if not pages:
            del self._pages[member_id]
            self._tell_watchers(member_id, online=False)
        else:
            self._tell_idle(member_id)

    def push(
        self, event: str, data: object, to: Audience, *, but_not: str | None = None, kept: bool = True
    ) -> None:
        """Tell everybody of an audience who is online, except the member `but_not`.

        Who is away is told on coming back, unless it is not `kept`: what matters only now,
        such as that somebody types.
        """
        seq = self._kept.next_seq(self._now_us()) if kept else None
        frame = frames.push(event, data, seq)
        if seq is not None:
            self._kept.add(Push(seq, frame, to, but_not))
        if outboxes := self._outboxes(to, but_not):
            self.rounds.share(frame, outboxes)

    def missed(self, member_id: str, seq: int) -> list[bytes] | None:
        """The frames that a member would have been sent after `seq`, by today's permissions.

        None where that cannot be told any more.
        """
        pushes = self._kept.after(seq)
        if pushes is None:
            return None
        return [
            push.frame
            for push in pushes
            if push.but_not != member_id and includes(push.audience, member_id, self.directory)
        ]

    def cut_off(
        self,
        member_id: str,
        code: int = CloseCode.SIGNED_OUT,
        reason: str = "Signed out",
        *,
        session_id: str | None = None,
    ) -> None:
        """Close all pages of a member, or of one session, who has lost the right to them."""
        for page in list(self._pages.get(member_id, ())):
            if session_id in (None, page.session_id):
                page.cut_off(code, reason)
                self.remove(member_id, page)

    def _now_us(self) -> int:
        # A clock beyond the year 2112 must not make numbers that JavaScript cannot count with.
        return int(self._now() * 1_000_000) % 2**52

    def _tell_watchers(self, member_id: str, *, online: bool) -> None:
        for changed in self.on_online:
            changed(member_id, online)

    def _tell_idle(self, member_id: str) -> None:
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
                return self._of_all()
        return self._of(member_id for member_id in self._reached(to) if member_id != but_not)

    def _of(self, member_ids: Iterable[str]) -> list[Outbox]:
        return [page.outbox for member_id in member_ids for page in self._pages[member_id]]

    def _of_all(self) -> list[Outbox]:
        if not self._all_outboxes:
            self._all_outboxes = self._of(self._pages)
        return self._all_outboxes

    def _of_viewers(self, channel_id: str) -> list[Outbox]:
        viewers = self.directory.viewers(channel_id)
        known = self._viewers_outboxes.get(channel_id)
        if known is not None and known[0] is viewers:
            return known[1]
        found = self._of(member_id for member_id in self._pages if member_id in viewers)
        # Most channels are open to all. One list for them saves the sorting of what is written.
        if len(found) == self._count:
            found = self._of_all()
        self._viewers_outboxes[channel_id] = viewers, found
        return found

    def _reached(self, audience: Audience) -> Iterable[str]:
        """Those of an audience who are online."""
        if isinstance(audience, Only):  # Few, whatever the size of the community.
            return [member_id for member_id in audience.member_ids if member_id in self._pages]
        return [m for m in self._pages if includes(audience, m, self.directory)]
