"""Defines the states and transitions of one participant's negotiation.

- Stable: the last offer was answered, and nothing has changed since.
- Due: something has changed. The offer is sent at the next call of `advance`.
- Offered: an offer is pending. Without an answer within 15 s the session ends (4002).
- Outdated: an offer is pending, and another will follow its answer.
- Closed: the session has ended and ignores all input.

When another connection of the same client resumes the session, it gets an offer in every state. See
docs/signalling.md for the diagram.
"""

from enum import Enum, auto

from svc.sfu.state_machine import Transitions


class State(Enum):
    STABLE = auto()
    DUE = auto()
    OFFERED = auto()
    OUTDATED = auto()
    CLOSED = auto()


class Event(Enum):
    CHANGED = auto()
    SENT = auto()
    ANSWERED = auto()
    RESUMED = auto()
    ENDED = auto()


TRANSITIONS = Transitions(
    "session",
    {
        State.STABLE: {Event.CHANGED: State.DUE, Event.RESUMED: State.DUE, Event.ENDED: State.CLOSED},
        State.DUE: {
            Event.CHANGED: State.DUE,
            Event.SENT: State.OFFERED,
            Event.RESUMED: State.DUE,
            Event.ENDED: State.CLOSED,
        },
        State.OFFERED: {
            Event.CHANGED: State.OUTDATED,
            Event.ANSWERED: State.STABLE,
            Event.RESUMED: State.DUE,
            Event.ENDED: State.CLOSED,
        },
        State.OUTDATED: {
            Event.CHANGED: State.OUTDATED,
            Event.ANSWERED: State.DUE,
            Event.RESUMED: State.DUE,
            Event.ENDED: State.CLOSED,
        },
        State.CLOSED: {},
    },
)
