"""What invites say of themselves, for people and for programs."""

from svc.chat.described import (
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    array,
    asked,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.invites.routes import MAX_LIFETIME_S, MAX_USES

_INVITE = Named(
    "Invite",
    obj(
        {
            "id": ID,
            "code": string(),
            "created_by": nullable(ID),
            "role_id": ID,
            "created_at_ms": TIME_MS,
            "expires_at_ms": nullable(TIME_MS),
            "max_uses": nullable(integer(1, MAX_USES)),
            "uses": integer(0),
        }
    ),
)

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/invites",
            "One's own invites; with manage_invites also others', as far as one could give their role",
            obj({"invites": array(_INVITE)}),
        ),
        Endpoint(
            "POST /api/invites",
            "Make an invite: for a member, or with a role below one's own rank",
            _INVITE,
            201,
            body=asked(
                {},
                {"role_id": ID, "max_uses": integer(1, MAX_USES), "lifetime_s": integer(1, MAX_LIFETIME_S)},
            ),
            refusals=["forbidden", "rank_too_low", "too_many", "unknown_role"],
        ),
        Endpoint(
            "DELETE /api/invites/{invite_id}", "Revoke an invite that one sees", refusals=["unknown_invite"]
        ),
    ],
)
