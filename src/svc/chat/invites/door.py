"""The door for those who need an invite, and what they may see before it.

A valid code opens the door, and wrong ones are counted. An invite that needs approval lets nobody in: it
makes them wait. Fills the protocol of `joining`, which asks for bans and for whether an invite is needed at
all. Before that, whoever has a code may see whether it is valid and how many people are there. Wrong codes
are counted there too, but by address: nobody has proven a key yet. They have an allowance of their own, so
that looking does not use up the tries of joining. docs/http.md, "Invites" and docs/configuration.md, "Chat
server".
"""

from collections.abc import Callable, Iterable
from functools import partial

from svc.base.database import Connection
from svc.chat.access.directory import Directory
from svc.chat.access.permissions import GUEST, MEMBER
from svc.chat.described import Natural, TimeMs, Told
from svc.chat.errors import ChatError
from svc.chat.invites.applications import Applications
from svc.chat.invites.guard import InviteConfig, InviteGuard
from svc.chat.invites.rules import Invites
from svc.chat.invites.store import APPROVED, REFUSED, Applied, Invite
from svc.chat.joining.door import Admission, Applicant


class InviteView(Told):
    """`founder`: whoever has the code becomes the owner."""

    founder: bool
    members: Natural
    online: Natural
    approval: bool
    expires_at_ms: TimeMs | None


class InviteViews:
    """`founds`: does this code make its bearer the owner? `online`: ids of members who are there.

    `steady` gives the seconds of a clock that nobody sets.
    """

    def __init__(
        self,
        invites: Invites,
        directory: Directory,
        config: InviteConfig,
        founds: Callable[[str], bool],
        online: Callable[[], Iterable[str]],
        steady: Callable[[], float],
    ) -> None:
        self._invites = invites
        self._directory = directory
        self._guard = InviteGuard(config)
        self._founds = founds
        self._online = online
        self._steady = steady

    async def view(self, code: str, address: str, now: float) -> InviteView:
        """Raises ChatError for a code that is not valid, and for an address that has tried too many."""
        self._guard.check(address, address, self._steady())
        founder = self._founds(code)
        # Until there is an owner the link holds the founding code too; from then on it is an invite.
        found = await self._invites.valid(code.rpartition(".")[2], now)
        if found is None and not founder:
            self._guard.failed(address, address, self._steady())
            raise ChatError("invite_invalid")
        members = self._directory.members
        return InviteView(
            founder=founder,
            members=len(members),
            online=sum(1 for member_id in self._online() if member_id in members),
            approval=found is not None and not founder and found.approval,
            expires_at_ms=None if found is None or founder else found.expires_at_ms,
        )


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
        if earlier is not None and (earlier.shown.state == APPROVED or not applicant.invite_needed):
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
        roles = self._roles(invite.role_id, invite.created_by)
        return Admission(roles, admitted, invite.channel_id)

    def _opened_by(self, connection: Connection, applicant: Applicant) -> Invite:
        client, address, moment = applicant.client, applicant.address.limited_as, self._steady()
        self._guard.check(client, address, moment)
        invite = self._invites.good(connection, applicant.invite_code, applicant.now)
        if invite is None:
            self._guard.failed(client, address, moment)
            raise ChatError("invite_invalid")
        return invite

    def _let_in(self, connection: Connection, applicant: Applicant, earlier: Applied) -> Admission:
        """Somebody who was approved, or who needs no invite any more."""
        admitted = self._forgotten(connection, earlier)
        shown = earlier.shown
        if shown.state != APPROVED:
            return Admission(admitted=admitted)
        self._invites.note_invited(connection, applicant, shown.invite_id, shown.invited_by)
        roles = self._roles(shown.role_id, shown.invited_by)
        return Admission(roles, admitted, earlier.channel_id)

    def _forgotten(self, connection: Connection, earlier: Applied | None) -> Callable[[], None]:
        if earlier is None:
            return lambda: None
        self._applications.over(connection, earlier.shown)
        return partial(self._applications.came_in, earlier.shown)

    def _roles(self, role_id: str, maker_id: str | None) -> tuple[str, ...]:
        """Return the roles of a newcomer. A guest is less than a member, everybody else is a member too."""
        role_id = self._invites.role_now(role_id, maker_id)
        return (role_id,) if role_id in (GUEST, MEMBER) else tuple(sorted((MEMBER, role_id)))


def _answer(earlier: Applied) -> Admission:
    """To somebody who asks again and was not approved. Raises ChatError for a refusal."""
    if earlier.shown.state == REFUSED:
        raise ChatError("approval_refused", more={"reason": earlier.shown.reason})
    return Admission(waits=True)
