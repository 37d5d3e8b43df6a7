"""Everybody whose page is open, and pushing to those whom it concerns.

Serialises a push once. Knows no feature: what is pushed, and to whom, is theirs to say.
"""

from typing import Protocol

from svc.chat.access.directory import Directory
from svc.chat.live.audience import Audience, Everyone, Holders, Only, Viewers
from svc.chat.live.frames import push


class Listener(Protocol):
    """One open page; neither call waits."""

    def send(self, frame: str) -> None: ...

    def cut_off(self, code: int, reason: str) -> None:
        """Close the page's connection."""


class Hub:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._pages: dict[str, set[Listener]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def online(self, member_id: str) -> bool:
        return member_id in self._pages

    def add(self, member_id: str, page: Listener) -> None:
        self._pages.setdefault(member_id, set()).add(page)
        self._count += 1

    def remove(self, member_id: str, page: Listener) -> None:
        pages = self._pages.get(member_id, set())
        if page in pages:
            pages.discard(page)
            self._count -= 1
        if not pages:
            self._pages.pop(member_id, None)

    def push(self, event: str, data: object, to: Audience, *, but_not: str | None = None) -> None:
        """Tell everybody of an audience who is online, except the member `but_not`."""
        frame = push(event, data)
        for member_id in self._reached(to):
            if member_id != but_not:
                for page in self._pages[member_id]:
                    page.send(frame)

    def cut_off(self, member_id: str, code: int, reason: str) -> None:
        """Close all pages of a member, who has lost the right to them."""
        for page in list(self._pages.get(member_id, ())):
            page.cut_off(code, reason)

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
