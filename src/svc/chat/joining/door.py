"""What somebody must satisfy to become a member: the protocol that invites, bans and settings fill.

Only somebody new comes to the door; a member who signs in again, or links a device, does not.
Neither does the founder, the first member of all. What each of the three decides is theirs;
`ServerDoor` only asks them in turn. Spec: chat document sections 2.9 and 8.2.
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
        client: str,
        address: ClientAddress,
        former_id: str | None,
        now: float,
    ) -> Admission:
        """A step of the write in which somebody joins; raises ChatError to turn them away.

        `invite_code` is empty when none was given. `client` is the key that they have proven to
        hold, whose wrong codes are counted. `former_id` is who they were here before
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
        client: str,
        address: ClientAddress,
        former_id: str | None,
        now: float,
    ) -> Admission:
        if not invite_code:
            raise ChatError("invite_required")
        if not same_secret(invite_code, self._code):
            raise ChatError("invite_invalid")
        return Admission()


class ServerDoor:
    """The door of a server: bans first, then whether an invite is needed at all, then the invite.

    `refuse_banned` is a step of the write that raises ChatError for a former member who is
    banned; `invite_needed` decides by where somebody comes from; `invites` admits by a code.
    """

    def __init__(
        self,
        refuse_banned: Callable[[Connection, str], None],
        invite_needed: Callable[[ClientAddress], bool],
        invites: Door,
    ) -> None:
        self._refuse_banned = refuse_banned
        self._invite_needed = invite_needed
        self._invites = invites

    def admit(
        self,
        connection: Connection,
        *,
        invite_code: str,
        client: str,
        address: ClientAddress,
        former_id: str | None,
        now: float,
    ) -> Admission:
        if former_id is not None:
            self._refuse_banned(connection, former_id)
        needed = self._invite_needed(address)
        if not needed and not invite_code:
            return Admission()
        try:
            return self._invites.admit(
                connection,
                invite_code=invite_code,
                client=client,
                address=address,
                former_id=former_id,
                now=now,
            )
        except ChatError:
            # An invite may say more than "come in"; one that is of no use keeps nobody out who needs none.
            if needed:
                raise
            return Admission()
