"""Manages applications from people whose invite requires approval. Members who may manage invites decide.

An applicant is not a member and has no session. To check the result, applicants sign in again: they join,
keep waiting, or learn why they were rejected. Contains neither HTTP nor SQL code.
"""

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import MEMBER, Permission
from svc.chat.authentication.join_policy import Applicant
from svc.chat.errors import ChatError
from svc.chat.invites import store
from svc.chat.invites.responses import Decision
from svc.chat.invites.store import (
    APPROVED,
    PENDING,
    REFUSED,
    Application,
    Invite,
    State,
    SubmittedApplication,
)
from svc.chat.live.hub import PermissionHolders
from svc.chat.services import Services

# The maximum number of pending applications. The number is limited, because another application only requires
# a new key, which costs nothing.
MAX_WAITING = 200
# How long an application is stored while it is pending, and again after a decision.
RETENTION_MS = 30 * 24 * 60 * 60 * 1000
_DECIDE = Permission.MANAGE_INVITES


class Applications:
    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit

    # These methods are steps of the write transaction that handles a request to join.

    def of(self, connection: Connection, applicant: Applicant) -> SubmittedApplication | None:
        """Return an earlier application with the same identity that has not expired, or None."""
        store.delete_older_applications(connection, int(applicant.now * 1000) - RETENTION_MS)
        return store.APPLICATIONS.get(connection, issuer=applicant.issuer, subject=applicant.subject)

    def ask(self, connection: Connection, applicant: Applicant, invite: Invite) -> Application:
        """Store a new application. Call `announce` after the transaction. Raises ChatError if too many are
        pending.
        """
        if store.APPLICATIONS.count(connection, state=PENDING) >= MAX_WAITING:
            raise ChatError("too_many_waiting")
        application = Application(
            id=applicant.member_id,
            nickname=applicant.name,
            message=applicant.message,
            invite_id=invite.id,
            invited_by=invite.created_by,
            role_id=invite.role_id,
            asked_at_ms=int(applicant.now * 1000),
        )
        applied = SubmittedApplication(
            applicant.issuer, applicant.subject, invite.code, invite.channel_id, application
        )
        store.APPLICATIONS.insert(connection, applied)
        return application

    def announce(self, application: Application) -> None:
        self._hub.push("application_created", application, PermissionHolders(_DECIDE))

    def close(self, connection: Connection, application: Application) -> None:
        """Delete the application of somebody who has joined by any means. Call `announce_closed` after the
        transaction.
        """
        store.APPLICATIONS.delete(connection, id=application.id)

    def announce_closed(self, application: Application) -> None:
        if application.state == PENDING:
            self._decided(application, APPROVED, None)

    # Decisions about applications.

    async def page(self, state: State, after: str, limit: int) -> tuple[list[Application], str | None]:
        """Return a page of applications, oldest first, and the `after` value for the next page."""
        applications = await store.applications(self._database, state, after, limit + 1)
        return applications[:limit], applications[limit - 1].id if len(applications) > limit else None

    @shared_write
    def approve(self, actor_id: str | None, application_id: str, now: float) -> Write[Application, None]:
        """Approve an application, even if it was rejected before. The applicant joins at their next sign-in.

        Raises ChatError if the actor cannot give the application's role.
        """
        return self._decide(actor_id, application_id, APPROVED, "", now)

    @shared_write
    def refuse(
        self, actor_id: str | None, application_id: str, reason: str, now: float
    ) -> Write[Application, None]:
        """Reject an application. The applicant gets the reason at their next sign-in."""
        return self._decide(actor_id, application_id, REFUSED, reason, now)

    def _decide(
        self, actor_id: str | None, application_id: str, state: State, reason: str, now: float
    ) -> Write[Application, None]:
        def write(connection: Connection) -> Application:
            applied = store.APPLICATIONS.get(connection, id=application_id)
            if applied is None or applied.shown.state == state:
                raise ChatError("unknown_application")
            application = applied.shown
            if state == APPROVED and actor_id is not None:
                self._require_may_admit(actor_id, application.role_id)
            decided = {
                "state": state,
                "reason": reason,
                "decided_by": actor_id,
                "decided_at_ms": int(now * 1000),
            }
            store.APPLICATIONS.edit(connection, decided, id=application_id)
            details = {"nickname": application.nickname, "invite_id": application.invite_id}
            if state == REFUSED:
                details["reason"] = reason
            action = "application_approve" if state == APPROVED else "application_refuse"
            self._audit.record(connection, actor_id, action, application_id, details, now)
            return application

        return Write(write, lambda application: self._decided(application, state, actor_id))

    def _require_may_admit(self, actor_id: str, role_id: str) -> None:
        """Raise ChatError if the actor cannot give the role.

        Anyone who may decide on applications can give the member role, which is the default and replaces a
        deleted role.
        Unlike `Roles.require_may_give`, this uses no cache, because it runs on the writer thread.
        """
        role = self._directory.roles.get(role_id)
        if role is None or role_id == MEMBER:
            return
        if role.rank >= self._directory.rank(actor_id):
            raise ChatError("rank_too_low")
        if role.permissions & ~self._directory.granted_by_roles(actor_id):
            raise ChatError("forbidden", "This role has permissions that you do not have")

    def _decided(self, application: Application, state: State, actor_id: str | None) -> None:
        decision = Decision(application.id, state, actor_id)
        self._hub.push("application_decided", decision, PermissionHolders(_DECIDE))
