"""Everybody whose page is open, and pushing to all of them.

Serialises a push once. Knows no feature: what is pushed, and when, is theirs to say.
"""

from typing import Protocol

from svc.chat.live.frames import push


class Listener(Protocol):
    """One open page; `send` never waits."""

    def send(self, frame: str) -> None: ...


class Hub:
    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def __len__(self) -> int:
        return len(self._listeners)

    def add(self, listener: Listener) -> None:
        self._listeners.add(listener)

    def remove(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def push(self, event: str, data: object) -> None:
        frame = push(event, data)
        for listener in self._listeners:
            listener.send(frame)
