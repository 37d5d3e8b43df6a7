"""Tracks a bot's read positions, so that no message is lost or repeated after a lost connection.

Message ids ascend across the whole server when compared as strings, and events arrive in that order. When
the event for a message arrives, the events for all earlier messages have arrived. Fetches nothing.
"""

from collections.abc import Iterator

from svc.client.models import Message
from svc.client.session import Data

# The lowest possible UUID of version 7, which sorts before every message id.
_FIRST = "00000000-0000-7000-8000-000000000000"


class Cursors:
    def __init__(self) -> None:
        # Every message up to this id has been read, in every channel. None before the first sign-in.
        self._floor: str | None = None
        # Maps a channel, or a thread's root message, to the last id fetched from history. Omits ids up to the
        # floor.
        self._history: dict[str, str] = {}

    def missed_channels(self, state: Data) -> Iterator[tuple[str, str | None, str]]:
        """Yield each channel with possibly missed messages, the thread or None, and the last id already read.

        Call `record_state` after reading them. No messages are missed before the first sign-in.
        """
        for timeline in _timelines(state):
            channel_id, thread, last = timeline["channel_id"], timeline.get("thread"), timeline["last"]
            if self._floor is not None and last is not None and last > self._floor:
                yield channel_id, thread, max(self._floor, self._history.get(thread or channel_id, _FIRST))

    def record_state(self, state: Data) -> None:
        self._rise(
            max((timeline["last"] for timeline in _timelines(state) if timeline["last"]), default=_FIRST)
        )

    def record_history(self, message: Message) -> None:
        """Record a message that was read from history."""
        self._history[message.thread or message.channel_id] = message.id

    def record_event(self, message: Message) -> bool:
        """Record a message from an event. Return whether it is new, that is, not already read from
        history.
        """
        new = message.id > self._history.get(message.thread or message.channel_id, "")
        self._rise(message.id)
        return new

    def _rise(self, floor: str) -> None:
        self._floor = max(floor, self._floor or _FIRST)
        self._history = {timeline: last for timeline, last in self._history.items() if last > self._floor}


def _timelines(state: Data) -> list[Data]:
    return [*state["unread"], *state["threads"]]
