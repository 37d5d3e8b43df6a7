"""Everybody whose page is open, and pushing to those whom it concerns.

Serialises a push once, and keeps it for those who come back. Knows no feature: what is
pushed, and to whom, is theirs to say.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from svc.chat.access.directory import Directory
from svc.chat.live import frames
from svc.chat.live.audience import Audience, Everyone, Holders, Only, Viewers, includes
from svc.chat.live.closing import CloseCode
from svc.chat.live.kept import Kept, Push

# A person's phone, tablet and computers, some with several tabs. Beyond it the oldest goes:
# it may be one whose network has gone without a word.
MAX_PAGES_OF_A_MEMBER = 16


class Listener(Protocol):
    """One open page; neither call waits."""

    @property
    def session_id(self) -> str: ...

    def send(self, frame: bytes) -> None: ...

    def cut_off(self, code: int, reason: str) -> None:
        """Close the page's connection."""


class Hub:
    """`now` gives seconds since 1970."""

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self._directory = directory
        self._now = now
        self._kept = Kept(self._now_us())
        # In each, the oldest first.
        self._pages: dict[str, list[Listener]] = {}
        self._count = 0
        self._watching: list[Callable[[str, bool], None]] = []

    def __len__(self) -> int:
        return self._count

    @property
    def seq(self) -> int:
        """Of the last push that is kept: what a page that has the present state has seen."""
        return self._kept.seq

    def online(self, member_id: str) -> bool:
        return member_id in self._pages

    def online_members(self) -> Iterable[str]:
        return self._pages.keys()

    def watch(self, changed: Callable[[str, bool], None]) -> None:
        """Call `changed(member_id, online)` when a member's first page opens and the last closes."""
        self._watching.append(changed)

    def add(self, member_id: str, page: Listener) -> None:
        pages = self._pages.setdefault(member_id, [])
        pages.append(page)
        self._count += 1
        if len(pages) == 1:
            self._tell_watchers(member_id, online=True)
        elif len(pages) > MAX_PAGES_OF_A_MEMBER:
            pages[0].cut_off(CloseCode.TOO_MANY_PAGES, "Too many pages of yours are open")
            self.remove(member_id, pages[0])

    def remove(self, member_id: str, page: Listener) -> None:
        pages = self._pages.get(member_id, [])
        if page not in pages:
            return
        pages.remove(page)
        self._count -= 1
        if not pages:
            del self._pages[member_id]
            self._tell_watchers(member_id, online=False)

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
        for member_id in self._reached(to):
            if member_id != but_not:
                for page in self._pages[member_id]:
                    page.send(frame)

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
            if push.but_not != member_id and includes(push.audience, member_id, self._directory)
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
        return int(self._now() * 1_000_000)

    def _tell_watchers(self, member_id: str, *, online: bool) -> None:
        for changed in self._watching:
            changed(member_id, online)

    def _reached(self, audience: Audience) -> list[str]:
        match audience:
            case Everyone():
                return list(self._pages)
            case Viewers(channel_id):
                viewers = self._directory.viewers(channel_id)
                return [member_id for member_id in self._pages if member_id in viewers]
            case Only(member_ids):
                return [member_id for member_id in member_ids if member_id in self._pages]
            case Holders(permission):
                return [m for m in self._pages if self._directory.may(m, permission)]
