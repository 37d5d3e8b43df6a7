"""Defines transition tables for state machines: the events allowed in each state, and the states that they
lead to.

The caller performs the actions. `python -m tests.sfu.diagrams` writes the diagrams of the tables in docs/.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


class IllegalEvent(Exception):
    """An event that must not happen in the current state, which indicates a bug in our code."""


@dataclass(frozen=True)
class Transitions(Generic[State, Event]):
    """A transition table. Its first state is the machine's initial state."""

    machine: str
    table: Mapping[State, Mapping[Event, State]]

    def after(self, state: State, event: Event) -> State:
        """Return the state that `event` leads to. Raises IllegalEvent."""
        target = self.table[state].get(event)
        if target is None:
            raise IllegalEvent(f"{self.machine}: {event.name} must not happen in {state.name}")
        return target
