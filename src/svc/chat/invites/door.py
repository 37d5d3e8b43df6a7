"""The door for who needs an invite: a good code opens it, and wrong ones are counted.

Fills the protocol of `joining`, which asks for bans and for whether an invite is needed at
all. Knows no identities. Spec: chat document sections 3 and 8.2.
"""

from svc.base.database import Connection
from svc.chat.access.address import ClientAddress
from svc.chat.access.permissions import GUEST, MEMBER
from svc.chat.errors import ChatError
from svc.chat.invites.guard import InviteGuard
from svc.chat.invites.rules import Invites
from svc.chat.joining.door import Admission


class InviteDoor:
    def __init__(self, invites: Invites, guard: InviteGuard) -> None:
        self._invites = invites
        self._guard = guard

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
        self._guard.check(client, address.limited_as, now)
        role_id = self._invites.use(connection, invite_code, now)
        if role_id is None:
            self._guard.failed(client, address.limited_as, now)
            raise ChatError("invite_invalid")
        return Admission(_roles(role_id))


def _roles(role_id: str) -> tuple[str, ...]:
    """A guest is less than a member, everybody else is a member too."""
    return (role_id,) if role_id in (GUEST, MEMBER) else tuple(sorted((MEMBER, role_id)))
