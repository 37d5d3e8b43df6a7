"""Defines the protocol for deciding whether a person may join, and the server's join policy.

The policy applies only to new members. It does not apply to the founder, or to members who sign in again or
link a device. `invites` checks invites, and `ServerJoinPolicy` determines whether an invite is needed. See
docs/http.md, "Settings" and docs/configuration.md, "Chat server".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from svc.base.database import Connection
from svc.chat.access.client_address import ClientAddress
from svc.chat.access.permissions import MEMBER
from svc.chat.errors import ChatError


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Admission:
    """The terms on which an applicant joins.

    `admitted` is called on the event loop once the member or application is stored.
    """

    role_ids: tuple[str, ...] = (MEMBER,)
    admitted: Callable[[], None] = _do_nothing
    # The channel that opens for the new member, if they may view it.
    channel_id: str | None = None
    # Whether the applicant must wait for approval before becoming a member.
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Applicant:
    """A person who wants to join, and who has proven possession of a key."""

    # Empty if the applicant gave no code.
    invite_code: str
    # The device's key. Wrong codes are counted per key.
    client: str
    address: ClientAddress
    # Whether the applicant is on the local network, and used a host name or IP address that nobody else could
    # have pointed at this machine.
    nearby: bool
    now: float
    # The proven identity, the requested name, and a message to the members who approve applications.
    issuer: str = ""
    subject: str = ""
    name: str = ""
    message: str = ""
    # The id that the applicant gets as a member.
    member_id: str = ""
    # Whether the server requires an invite.
    invite_needed: bool = True


class JoinPolicy(Protocol):
    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        """Admit an applicant. Raises ChatError to reject them.

        Called on the writer thread, within the write transaction that adds the applicant.
        """


class ServerJoinPolicy:
    """The server's join policy, which requires a valid invite if the server's settings do.

    `invite_needed` returns whether an invite is needed, given whether the person is nearby. `invites` checks
    invite codes.
    """

    def __init__(self, invite_needed: Callable[[bool], bool], invites: JoinPolicy) -> None:
        self._invite_needed = invite_needed
        self._invites = invites

    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        needed = self._invite_needed(applicant.nearby)
        try:
            return self._invites.admit(connection, replace(applicant, invite_needed=needed))
        except ChatError:
            # A valid invite may give a role, but an invalid one does not keep out a person who needs none.
            if needed:
                raise
            return Admission()
