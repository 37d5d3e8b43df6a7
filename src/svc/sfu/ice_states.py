"""The states of an ICE agent, what happens to it, and where that leads: `ice` tells what they mean."""

from enum import Enum, auto

from svc.sfu.transitions import Transitions


class State(Enum):
    WAITING = auto()
    CHECKING = auto()
    NOMINATING = auto()
    CONNECTED = auto()
    FAILED = auto()


class Event(Enum):
    REMOTE_KNOWN = auto()
    NOMINATED = auto()  # By us: the nominating check is on its way.
    NOMINATION_LOST = auto()  # It failed, or we are no longer controlling.
    SELECTED = auto()
    GIVEN_UP = auto()
    CONSENT_EXPIRED = auto()
    RESTARTED = auto()


# Consent of an old path may expire in any state; it matters to the state only when there
# is no newer generation at work. A controlled agent is connected straight from Checking,
# and its peer may select again.
TRANSITIONS = Transitions(
    "ICE",
    {
        State.WAITING: {Event.REMOTE_KNOWN: State.CHECKING, Event.RESTARTED: State.WAITING},
        State.CHECKING: {
            Event.NOMINATED: State.NOMINATING,
            Event.SELECTED: State.CONNECTED,
            Event.GIVEN_UP: State.FAILED,
            Event.RESTARTED: State.WAITING,
        },
        State.NOMINATING: {
            Event.NOMINATION_LOST: State.CHECKING,
            Event.SELECTED: State.CONNECTED,
            Event.GIVEN_UP: State.FAILED,
            Event.RESTARTED: State.WAITING,
        },
        State.CONNECTED: {
            Event.SELECTED: State.CONNECTED,
            Event.CONSENT_EXPIRED: State.FAILED,
            Event.RESTARTED: State.WAITING,
        },
        State.FAILED: {Event.RESTARTED: State.WAITING},
    },
)
