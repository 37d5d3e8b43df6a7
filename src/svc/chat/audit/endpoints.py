"""Handles the request for a page of the audit log."""

from typing import Annotated

from msgspec import Meta

from svc.chat.access.endpoint_permissions import on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.audit.log import MAX_PAGE, Audit, AuditPage, EntryId, WantedEntries
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.schemas import Id


class AuditQuery(Request):
    before: EntryId | None = None
    actor_id: Id | None = None
    target_id: Id | None = None
    action: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50


class AuditEndpoints(Endpoints):
    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    @endpoint(
        on_server(P.VIEW_AUDIT_LOG),
        "List administrative actions, newest first. Actions in channels that you cannot view are left out",
        http="GET /api/audit",
    )
    async def page(self, session: Session, query: AuditQuery) -> AuditPage:
        wanted = WantedEntries(query.before, query.actor_id, query.target_id, query.action)
        return await self._audit.page(session.member_id, wanted, query.limit)


DESCRIPTION = describe_feature(AuditEndpoints)
