"""Defines an ICE agent's states, events and transitions. `ice` explains them."""

from enum import Enum, auto

from svc.sfu.state_machine import Transitions


class State(Enum):
    WAITING = auto()
    CHECKING = auto()
    NOMINATING = auto()
    CONNECTED = auto()
    FAILED = auto()


class Event(Enum):
    REMOTE_KNOWN = auto()
    NOMINATED = auto()  # We have sent the nominating check.
    NOMINATION_LOST = auto()  # The nominating check failed, or we are no longer controlling.
    SELECTED = auto()
    GIVEN_UP = auto()
    CONSENT_EXPIRED = auto()
    RESTARTED = auto()


# Consent for an old path may expire in any state, but this changes the state only if no newer generation is
# looking for a path. A controlled agent goes straight from Checking to Connected, and its peer may then
# select another pair.
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
