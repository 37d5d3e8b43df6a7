"""A bot's read positions, so that no message is lost or repeated after a lost connection.

Message ids ascend over the whole server, as text, and events arrive in that order: an event for one message
means that all earlier ones have arrived. Fetches nothing.
"""

from collections.abc import Iterator

from svc.client.models import Message
from svc.client.session import Data

# Sorts before every message id: the first possible UUID version 7.
_FIRST = "00000000-0000-7000-8000-000000000000"


class Cursors:
    def __init__(self) -> None:
        # Everything up to this id has been read in every channel. None before the first sign-in.
        self._floor: str | None = None
        # By channel, or by the id of a thread's root message: the last id fetched from history, if it is
        # after the floor.
        self._history: dict[str, str] = {}

    def missed_channels(self, state: Data) -> Iterator[tuple[str, str | None, str]]:
        """Yield each channel with missed messages, the thread or None, and the id after which they were
        missed.

        Call `caught_up` after reading them. The first sign-in misses nothing.
        """
        for place in _places(state):
            channel_id, thread, last = place["channel_id"], place.get("thread"), place["last"]
            if self._floor is not None and last is not None and last > self._floor:
                yield channel_id, thread, max(self._floor, self._history.get(thread or channel_id, _FIRST))

    def caught_up(self, state: Data) -> None:
        self._rise(max((place["last"] for place in _places(state) if place["last"]), default=_FIRST))

    def fetched(self, message: Message) -> None:
        """Record a message that was read from history."""
        self._history[message.thread or message.channel_id] = message.id

    def record_push(self, message: Message) -> bool:
        """Record a message from an event. Return whether it is new: not read from history before."""
        new = message.id > self._history.get(message.thread or message.channel_id, "")
        self._rise(message.id)
        return new

    def _rise(self, floor: str) -> None:
        self._floor = max(floor, self._floor or _FIRST)
        self._history = {place: last for place, last in self._history.items() if last > self._floor}


def _places(state: Data) -> list[Data]:
    return [*state["unread"], *state["threads"]]
