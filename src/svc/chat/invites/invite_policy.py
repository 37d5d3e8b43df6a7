"""Decides who may join with an invite, and creates previews of invites.

A person with a valid code may join, and wrong codes are counted. If the invite requires approval, the person
has to wait. Implements the protocol `JoinPolicy`. `authentication`, which defines the protocol, checks bans
and whether an invite is needed. The preview shows whether a code is valid and how many members are online.
Wrong codes in previews are counted per IP address, because the client has not proven possession of a key yet.
They have a separate limit, so previews do not use up attempts to join. See docs/http.md, "Invites" and
docs/configuration.md, "Chat server".
"""

from collections.abc import Callable, Iterable
from functools import partial

from svc.base.database import Connection
from svc.chat.access.directory import Directory
from svc.chat.access.permissions import GUEST, MEMBER
from svc.chat.authentication.join_policy import Admission, Applicant
from svc.chat.errors import ChatError
from svc.chat.invites.applications import Applications
from svc.chat.invites.attempt_limits import AttemptLimits, InviteConfig
from svc.chat.invites.responses import InviteView
from svc.chat.invites.rules import Invites
from svc.chat.invites.store import APPROVED, REFUSED, Invite, SubmittedApplication


class InviteViews:
    """The source of invite previews.

    `founds` recognises the founding code. `online` yields the ids of online members. `steady` is a monotonic
    clock.
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
        self._attempt_limits = AttemptLimits(config)
        self._founds = founds
        self._online = online
        self._steady = steady

    async def view(self, code: str, address: str, now: float) -> InviteView:
        """Return the preview. Raises ChatError if the code is invalid or the IP address has had too many
        failures.
        """
        self._attempt_limits.check(address, address, self._steady())
        founder = self._founds(code)
        # Until there is an owner, the link contains the founding code and an invite. After that, it contains
        # only an invite.
        invite = await self._invites.valid(code.rpartition(".")[2], now)
        if invite is None and not founder:
            self._attempt_limits.failed(address, address, self._steady())
            raise ChatError("invite_invalid")
        members = self._directory.members
        return InviteView(
            founder=founder,
            members=len(members),
            online=sum(1 for member_id in self._online() if member_id in members),
            approval=invite is not None and not founder and invite.approval,
            expires_at_ms=None if invite is None or founder else invite.expires_at_ms,
        )


class InvitePolicy:
    """The join policy. `steady` is a monotonic clock, so changing the system time cannot extend a
    cooldown.
    """

    def __init__(
        self, invites: Invites, applications: Applications, limits: AttemptLimits, steady: Callable[[], float]
    ) -> None:
        self._invites = invites
        self._applications = applications
        self._attempt_limits = limits
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
            application = self._applications.ask(connection, applicant, invite)
            self._invites.use(connection, invite, applicant.now)
            return Admission(waits=True, admitted=partial(self._applications.announce, application))
        self._invites.use(connection, invite, applicant.now)
        self._invites.note_invited(connection, applicant, invite.id, invite.created_by)
        admitted = self._forgotten(connection, earlier)
        roles = self._roles(invite.role_id, invite.created_by)
        return Admission(roles, admitted, invite.channel_id)

    def _opened_by(self, connection: Connection, applicant: Applicant) -> Invite:
        client, address, moment = applicant.client, applicant.address.limited_as, self._steady()
        self._attempt_limits.check(client, address, moment)
        invite = self._invites.good(connection, applicant.invite_code, applicant.now)
        if invite is None:
            self._attempt_limits.failed(client, address, moment)
            raise ChatError("invite_invalid")
        return invite

    def _let_in(
        self, connection: Connection, applicant: Applicant, earlier: SubmittedApplication
    ) -> Admission:
        """Admit an applicant who was approved, or who no longer needs an invite."""
        admitted = self._forgotten(connection, earlier)
        shown = earlier.shown
        if shown.state != APPROVED:
            return Admission(admitted=admitted)
        self._invites.note_invited(connection, applicant, shown.invite_id, shown.invited_by)
        roles = self._roles(shown.role_id, shown.invited_by)
        return Admission(roles, admitted, earlier.channel_id)

    def _forgotten(self, connection: Connection, earlier: SubmittedApplication | None) -> Callable[[], None]:
        if earlier is None:
            return lambda: None
        self._applications.close(connection, earlier.shown)
        return partial(self._applications.announce_closed, earlier.shown)

    def _roles(self, role_id: str, maker_id: str | None) -> tuple[str, ...]:
        """Return a new member's roles. Every role except guest comes with the member role."""
        role_id = self._invites.role_now(role_id, maker_id)
        return (role_id,) if role_id in (GUEST, MEMBER) else tuple(sorted((MEMBER, role_id)))


def _answer(earlier: SubmittedApplication) -> Admission:
    """Return the response for an applicant with a pending application. Raises ChatError if it was
    rejected.
    """
    if earlier.shown.state == REFUSED:
        raise ChatError("approval_refused", more={"reason": earlier.shown.reason})
    return Admission(waits=True)
