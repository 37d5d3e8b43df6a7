"""What is shown beside a member in a voice channel: silent or deaf, by moderators or of their own will.

What moderators did is held by person, so that leaving and joining again changes nothing. Tells nobody.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mute:
    """Muted: is not heard. Deafened: hears nobody."""

    muted: bool = False
    deafened: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """By moderators, and of their own will."""

    muted: bool
    deafened: bool
    self_muted: bool
    self_deafened: bool


class States:
    """`person_of` says which person a member is."""

    def __init__(self, person_of: Callable[[str], str]) -> None:
        self._person_of = person_of
        self._by_moderators: dict[str, Mute] = {}
        self._own: dict[str, Mute] = {}

    def load(self, by_moderators: Mapping[str, Mute]) -> None:
        self._by_moderators.update(by_moderators)

    def moderated(self, member_id: str) -> Mute | None:
        """None for somebody whom moderators have always left alone."""
        return self._by_moderators.get(self._person_of(member_id))

    def moderate(self, member_id: str, mute: Mute) -> None:
        self._by_moderators[self._person_of(member_id)] = mute

    def own(self, member_id: str) -> Mute:
        return self._own.get(member_id, Mute())

    def choose(self, member_id: str, mute: Mute) -> None:
        self._own[member_id] = mute

    def forget(self, member_id: str) -> None:
        """Somebody has gone; what moderators did waits for them."""
        self._own.pop(member_id, None)

    def of(self, member_id: str) -> State:
        moderated, own = self.moderated(member_id) or Mute(), self.own(member_id)
        return State(moderated.muted, moderated.deafened, own.muted, own.deafened)


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> dict[str, object]:
    """What is different now."""
    return {name: value for name, value in now.items() if value != before[name]}
