"""What somebody must satisfy to become a member: the protocol that invites, bans and settings fill.

Only somebody new comes to the door; a member who signs in again, or links a device, does not.
Neither does the founder, the first member of all. Decides nothing itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from svc.base.database import Connection
from svc.base.grants import same_secret
from svc.chat.access.address import ClientAddress
from svc.chat.access.permissions import MEMBER
from svc.chat.errors import ChatError


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Admission:
    """`admitted` is called on the event loop, once the new member is on the disk."""

    role_ids: tuple[str, ...] = (MEMBER,)
    admitted: Callable[[], None] = _nothing


class Door(Protocol):
    def admit(
        self,
        connection: Connection,
        *,
        invite_code: str,
        address: ClientAddress,
        former_id: str | None,
        now: float,
    ) -> Admission:
        """A step of the write in which somebody joins; raises ChatError to turn them away.

        `invite_code` is empty when none was given. `former_id` is who they were here before
        they left, or were removed or banned: they have proven to be the same. Runs on the
        writer's thread, where nothing else of the program runs.
        """


class CodeDoor:
    """One code admits whoever knows it."""

    def __init__(self, code: str) -> None:
        self._code = code

    def admit(
        self,
        connection: Connection,
        *,
        invite_code: str,
        address: ClientAddress,
        former_id: str | None,
        now: float,
    ) -> Admission:
        if not invite_code:
            raise ChatError("invite_required")
        if not same_secret(invite_code, self._code):
            raise ChatError("invite_invalid")
        return Admission()
