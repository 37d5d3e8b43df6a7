"""Up to which message a bot has read, so that a gap leaves nothing out and nothing is handed over twice.

Ids of messages rise over the whole server, as text, and pushes come in their order: whoever was told of a
message was told of all before it. Pure: fetches nothing.
"""

from collections.abc import Iterator

from svc.client.session import Data
from svc.client.shapes import Message

# Before every message: the first id that UUID version 7 can make.
_FIRST = "00000000-0000-7000-8000-000000000000"


class Cursors:
    def __init__(self) -> None:
        # Everything up to here has been read everywhere; None before the first sign-in.
        self._floor: str | None = None
        # By channel, or by the message that a thread hangs on: up to here history was read, beyond the floor.
        self._history: dict[str, str] = {}

    def missed(self, state: Data) -> Iterator[tuple[str, str | None, str]]:
        """After a sign-in: each channel, and thread or None, with new messages, and the id that they follow.

        Call `caught_up` when they have been read. At the first sign-in there are none.
        """
        for place in _places(state):
            channel_id, thread, last = place["channel_id"], place.get("thread"), place["last"]
            if self._floor is not None and last is not None and last > self._floor:
                yield channel_id, thread, max(self._floor, self._history.get(thread or channel_id, _FIRST))

    def caught_up(self, state: Data) -> None:
        self._rise(max((place["last"] for place in _places(state) if place["last"]), default=_FIRST))

    def fetched(self, message: Message) -> None:
        """History has told of it."""
        self._history[message.thread or message.channel_id] = message.id

    def pushed(self, message: Message) -> bool:
        """A push has told of it: is it new, or has history told of it before?"""
        new = message.id > self._history.get(message.thread or message.channel_id, "")
        self._rise(message.id)
        return new

    def _rise(self, floor: str) -> None:
        self._floor = max(floor, self._floor or _FIRST)
        self._history = {place: last for place, last in self._history.items() if last > self._floor}


def _places(state: Data) -> list[Data]:
    return [*state["unread"], *state["threads"]]
