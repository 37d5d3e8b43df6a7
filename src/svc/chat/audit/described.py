"""What the audit log says of itself, for people and for programs."""

from svc.chat.audit.routes import LAST_ID
from svc.chat.audit.rules import MAX_PAGE
from svc.chat.described import (
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    array,
    integer,
    nullable,
    obj,
    string,
)

ENTRY = Named(
    "AuditEntry",
    obj(
        {
            "id": integer(1),
            "at_ms": TIME_MS,
            # Null: the operator.
            "actor_id": nullable(ID),
            "action": string(),
            "target_id": nullable(ID),
            "details": {"type": "object"},
        }
    ),
)

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/audit",
            "Administrative acts, the newest first; about channels those that one sees",
            obj({"entries": array(ENTRY, MAX_PAGE), "next": nullable(integer(1))}),
            query={
                "before": integer(1, LAST_ID),
                "actor_id": ID,
                "target_id": ID,
                "action": ID,
                "limit": integer(1, MAX_PAGE),
            },
        )
    ],
)
