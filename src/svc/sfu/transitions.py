"""The table of a state machine: what each event leads to from each state, and nothing else does.

What a machine does on its way belongs to its owner. `python -m tests.sfu.diagrams` draws the tables in docs/.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


class IllegalEvent(Exception):
    """An event that must not happen in the state that it met: a mistake of ours."""


@dataclass(frozen=True)
class Transitions(Generic[State, Event]):
    """The first state of the table is the one that the machine starts in."""

    machine: str
    table: Mapping[State, Mapping[Event, State]]

    def after(self, state: State, event: Event) -> State:
        """The state that `event` leads to. Raises IllegalEvent."""
        following = self.table[state].get(event)
        if following is None:
            raise IllegalEvent(f"{self.machine}: {event.name} must not happen in {state.name}")
        return following
