"""`GET /api/audit`: the log of administrative acts, page by page."""

from aiohttp import web

from svc.chat.audit.rules import MAX_PAGE, Audit
from svc.chat.audit.store import Wanted
from svc.chat.fields import MAX_ID_CHARACTERS, optional_text
from svc.chat.http import answer, asker, query_number

USUAL_PAGE = 50
LAST_ID = 2**63 - 1


class AuditRoutes:
    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def table(self) -> list[web.RouteDef]:
        return [web.get("/api/audit", self.page)]

    async def page(self, request: web.Request) -> web.Response:
        asked = request.query
        wanted = Wanted(
            before=query_number(request, "before", least=1, most=LAST_ID),
            actor_id=optional_text(asked, "actor_id", most=MAX_ID_CHARACTERS),
            target_id=optional_text(asked, "target_id", most=MAX_ID_CHARACTERS),
            action=optional_text(asked, "action", most=MAX_ID_CHARACTERS),
        )
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        entries, following = await self._audit.page(asker(request).member_id, wanted, limit)
        return answer({"entries": [entry.described() for entry in entries], "next": following})
