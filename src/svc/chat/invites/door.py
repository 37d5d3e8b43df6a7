"""The door for those who need an invite: a valid code opens it, and wrong ones are counted.

An invite that needs approval lets nobody in: it makes them wait. Fills the protocol of `joining`, which
asks for bans and for whether an invite is needed at all. Knows no identities. docs/http.md, "Invites" and
docs/configuration.md, "Chat server".
"""

from collections.abc import Callable
from functools import partial

from svc.base.database import Connection
from svc.chat.access.permissions import GUEST, MEMBER
from svc.chat.errors import ChatError
from svc.chat.invites.applications import Applications
from svc.chat.invites.applications_store import APPROVED, REFUSED, Application
from svc.chat.invites.guard import InviteGuard
from svc.chat.invites.rules import Invites
from svc.chat.invites.store import Invite
from svc.chat.joining.door import Admission, Applicant


class InviteDoor:
    """`steady` gives the seconds of a clock that nobody sets: who has to wait does not wait for a year."""

    def __init__(
        self, invites: Invites, applications: Applications, guard: InviteGuard, steady: Callable[[], float]
    ) -> None:
        self._invites = invites
        self._applications = applications
        self._guard = guard
        self._steady = steady

    def admit(self, connection: Connection, applicant: Applicant) -> Admission:
        code = applicant.invite_code
        earlier = self._applications.of(connection, applicant)
        if earlier is not None and (earlier.state == APPROVED or not applicant.invite_needed):
            return self._let_in(connection, applicant, earlier)
        if earlier is not None and code in ("", earlier.code):
            return _answer(earlier)
        if not code:
            if applicant.invite_needed:
                raise ChatError("invite_required")
            return Admission()
        invite = self._opened_by(connection, applicant)
        if invite.approval and applicant.invite_needed:
            if earlier is not None:
                return _answer(earlier)
            asked = self._applications.ask(connection, applicant, invite)
            self._invites.use(connection, invite, applicant.now)
            return Admission(waits=True, admitted=partial(self._applications.asked, asked))
        self._invites.use(connection, invite, applicant.now)
        self._invites.note_invited(connection, applicant, invite.id, invite.created_by)
        admitted = self._forgotten(connection, earlier)
        return Admission(self._roles(invite.role_id), admitted, invite.channel_id)

    def _opened_by(self, connection: Connection, applicant: Applicant) -> Invite:
        client, address, moment = applicant.client, applicant.address.limited_as, self._steady()
        self._guard.check(client, address, moment)
        invite = self._invites.good(connection, applicant.invite_code, applicant.now)
        if invite is None:
            self._guard.failed(client, address, moment)
            raise ChatError("invite_invalid")
        return invite

    def _let_in(self, connection: Connection, applicant: Applicant, earlier: Application) -> Admission:
        """Somebody who was approved, or who needs no invite any more."""
        admitted = self._forgotten(connection, earlier)
        if earlier.state != APPROVED:
            return Admission(admitted=admitted)
        self._invites.note_invited(connection, applicant, earlier.invite_id, earlier.invited_by)
        return Admission(self._roles(earlier.role_id), admitted, earlier.channel_id)

    def _forgotten(self, connection: Connection, earlier: Application | None) -> Callable[[], None]:
        if earlier is None:
            return lambda: None
        self._applications.over(connection, earlier)
        return partial(self._applications.came_in, earlier)

    def _roles(self, role_id: str) -> tuple[str, ...]:
        """A guest is less than a member, everybody else is a member too."""
        role_id = self._invites.role_now(role_id)
        return (role_id,) if role_id in (GUEST, MEMBER) else tuple(sorted((MEMBER, role_id)))


def _answer(earlier: Application) -> Admission:
    """To somebody who asks again and was not approved. Raises ChatError for a refusal."""
    if earlier.state == REFUSED:
        raise ChatError("approval_refused", more={"reason": earlier.reason})
    return Admission(waits=True)
