"""What somebody must satisfy to become a member: the protocol that invites, bans and settings fill.

Only somebody new comes to the door; a member who signs in again, or links a device, does not.
Neither does the founder, the first member of all. What each of the three decides is theirs;
`ServerDoor` only asks them in turn. docs/http.md, "Settings" and docs/configuration.md, "Chat server".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from svc.base.database import Connection
from svc.chat.access.address import ClientAddress
from svc.chat.access.permissions import MEMBER
from svc.chat.errors import ChatError


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Admission:
    """`admitted` is called on the event loop, once the new member, or that they wait, is on the disk."""

    role_ids: tuple[str, ...] = (MEMBER,)
    admitted: Callable[[], None] = _nothing
    # Where they land, if they may view it.
    channel_id: str | None = None
    # They are no member yet: somebody has to approve.
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Applicant:
    """Somebody who wants to become a member, and has proven to hold a key."""

    # Empty when none was given.
    invite_code: str
    # The key, by which wrong codes are counted.
    client: str
    address: ClientAddress
    # They are on the local network, and dialled this machine by a name that nobody else can point at it.
    nearby: bool
    now: float
    # Who they prove to be, under what name they want to be known, and what they say of themselves.
    issuer: str = ""
    subject: str = ""
    name: str = ""
    message: str = ""
    # The id that they will have here.
    member_id: str = ""
    # Whether the server takes nobody without an invite.
    invite_needed: bool = True


class Door(Protocol):
    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        """A step of the write in which somebody joins; raises ChatError to turn them away.

        Runs on the writer's thread, where nothing else of the program runs.
        """


class ServerDoor:
    """The door of a server: whether an invite is needed at all, then the invite.

    `invite_needed` says whether somebody needs an invite, by whether they are nearby;
    `invites` admits by a code.
    """

    def __init__(self, invite_needed: Callable[[bool], bool], invites: Door) -> None:
        self._invite_needed = invite_needed
        self._invites = invites

    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        needed = self._invite_needed(applicant.nearby)
        try:
            return self._invites.admit(connection, replace(applicant, invite_needed=needed))
        except ChatError:
            # An invite may give a role. One that is not valid keeps out nobody who needs none.
            if needed:
                raise
            return Admission()
