"""The states of one participant's negotiation, and what leads from one to another.

    Stable      the last offer was answered, and there is nothing new to say.
    Due         there is: the offer goes out as soon as the caller lets time pass.
    Offered     an offer is out. Without an answer in 15 s the session ends (4002).
    Outdated    an offer is out, and another will follow its answer.
    Closed      over; whatever still comes in is ignored.

Another connection of the same client gets an offer whatever the state is. docs/signalling.md has the diagram.
"""

from enum import Enum, auto

from svc.sfu.transitions import Transitions


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
