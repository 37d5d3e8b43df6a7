"""What invites say of themselves, for people and for programs."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.invites.routes import (
    MAX_CODE_CHARACTERS,
    MAX_LIFETIME_S,
    MAX_PAGE,
    MAX_REASON_CHARACTERS,
    MAX_USES,
    STATES,
)

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
            "channel_id": nullable(ID),
            "approval": BOOLEAN,
        }
    ),
)
_CAME = obj({"id": ID, "nickname": string(), "came_at_ms": TIME_MS})
_REASON = string(MAX_REASON_CHARACTERS)
_STATE = choice(*STATES)
_APPLICATION = Named(
    "Application",
    obj(
        {
            "id": ID,
            "nickname": string(),
            "message": string(),
            "invite_id": ID,
            "invited_by": nullable(ID),
            "role_id": ID,
            "asked_at_ms": TIME_MS,
            "state": _STATE,
            "reason": _REASON,
            "decided_by": nullable(ID),
            "decided_at_ms": nullable(TIME_MS),
        }
    ),
)
_DECIDERS = "who may manage invites"

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
                {
                    "role_id": ID,
                    "max_uses": integer(1, MAX_USES),
                    "lifetime_s": integer(1, MAX_LIFETIME_S),
                    "channel_id": ID,
                    "approval": BOOLEAN,
                },
            ),
            refusals=["forbidden", "rank_too_low", "too_many", "unknown_channel", "unknown_role"],
        ),
        Endpoint(
            "POST /api/invites/view",
            "What somebody with a code sees before they join; `founder`: they become the owner",
            obj(
                {
                    "founder": BOOLEAN,
                    "members": integer(0),
                    "online": integer(0),
                    "approval": BOOLEAN,
                    "expires_at_ms": nullable(TIME_MS),
                }
            ),
            body=asked({"code": string(MAX_CODE_CHARACTERS, 1)}),
            refusals=["invite_invalid", "too_many_invite_attempts"],
        ),
        Endpoint(
            "DELETE /api/invites/{invite_id}", "Revoke an invite that one sees", refusals=["unknown_invite"]
        ),
        Endpoint(
            "GET /api/invites/{invite_id}/members",
            "Members who came by an invite that one sees",
            obj({"members": array(_CAME)}),
            refusals=["unknown_invite"],
        ),
        Endpoint(
            "GET /api/applications",
            "People who wait for approval, the oldest first; or those who were let in or refused lately",
            obj({"applications": array(_APPLICATION, MAX_PAGE), "next": nullable(ID)}),
            query={"state": _STATE, "after": ID, "limit": integer(1, MAX_PAGE)},
        ),
        Endpoint(
            "POST /api/applications/{application_id}/approve",
            "Let somebody in who waits, or who was refused",
            refusals=["unknown_application"],
        ),
        Endpoint(
            "POST /api/applications/{application_id}/refuse",
            "Refuse somebody who waits, and tell them why",
            body=asked({}, {"reason": _REASON}),
            refusals=["unknown_application"],
        ),
    ],
    pushes=[
        Pushed("application_created", "Somebody waits for approval", _APPLICATION, _DECIDERS),
        Pushed(
            "application_decided",
            "Somebody does not wait any more",
            obj({"application_id": ID, "state": _STATE, "decided_by": nullable(ID)}),
            _DECIDERS,
        ),
    ],
)
