"""What members and roles say of themselves, for people and for programs."""

from svc.chat.access.permissions import EVERYTHING, names
from svc.chat.described import (
    BOOLEAN,
    ID,
    NOTHING,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    array,
    asked,
    choice,
    integer,
    mapping,
    nullable,
    obj,
    string,
)
from svc.chat.members.listing import SORTS
from svc.chat.members.roles import MAX_RANK
from svc.chat.members.routes import (
    MAX_IDS_CHARACTERS,
    MAX_ROLE_NAME_CHARACTERS,
    MAX_SEARCH_CHARACTERS,
    MAX_STATUS_CHARACTERS,
)
from svc.chat.members.rules import MAX_PAGE
from svc.chat.names import MAX_NICKNAME_CHARACTERS

PERMISSIONS = Named("Permissions", array(choice(*names(EVERYTHING))))
MEMBER = Named(
    "Member",
    obj(
        {
            "id": ID,
            "nickname": string(MAX_NICKNAME_CHARACTERS),
            "roles": array(ID),
            "timeout_until_ms": nullable(TIME_MS),
            "joined_at_ms": TIME_MS,
            "avatar": nullable(string()),
            "status_text": string(MAX_STATUS_CHARACTERS),
            "bot": BOOLEAN,
        }
    ),
)
_COLOR = nullable(integer(0, 0xFFFFFF))
_ROLE_NAME = string(MAX_ROLE_NAME_CHARACTERS, 1)
_ROLE = Named(
    "Role",
    obj(
        {
            "id": ID,
            "name": _ROLE_NAME,
            "rank": integer(0, MAX_RANK + 1),
            "permissions": PERMISSIONS,
            "color": _COLOR,
            "built_in": BOOLEAN,
        }
    ),
)
_WISHES = {"rank": integer(0, MAX_RANK), "permissions": PERMISSIONS, "color": integer(0, 0xFFFFFF)}
_ROLES = obj({"roles": array(_ROLE)})
_MAY = obj({"server": PERMISSIONS, "channels": mapping(PERMISSIONS)})
_OF_ROLES = ("forbidden", "rank_too_low", "unknown_role")

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/members",
            "Members, page by page; all, or those that are asked for",
            obj({"members": array(MEMBER, MAX_PAGE), "next": nullable(ID)}, {"last_seen": mapping(TIME_MS)}),
            query={
                "query": string(MAX_SEARCH_CHARACTERS),
                "ids": string(MAX_IDS_CHARACTERS),
                "role_id": ID,
                **dict.fromkeys(("joined_after_ms", "joined_before_ms"), TIME_MS),
                "in_timeout": BOOLEAN,
                "bot": BOOLEAN,
                **dict.fromkeys(("seen_after_ms", "seen_before_ms"), TIME_MS),
                "sort": choice(*SORTS),
                "after": ID,
                "limit": integer(1, MAX_PAGE),
            },
            refusals=["forbidden", "in_timeout", "unknown_member"],
        ),
        Endpoint("GET /api/members/{member_id}", "One member", MEMBER, refusals=["unknown_member"]),
        Endpoint(
            "PATCH /api/members/{member_id}",
            "Change a nickname: one's own with change_nickname, with manage_nicknames those of lower ranks",
            MEMBER,
            # Its own rules refuse what is longer than a name may be.
            body=asked({"nickname": string()}),
            refusals=[
                "forbidden",
                "in_timeout",
                "invalid_nickname",
                "nickname_taken",
                "profanity_refused",
                "rank_too_low",
                "unknown_member",
            ],
        ),
        Endpoint(
            "PUT /api/members/{member_id}/status",
            "Set one's own status; with manage_nicknames an empty one removes that of a lower rank",
            MEMBER,
            body=asked({"text": string(4 * MAX_STATUS_CHARACTERS)}),
            refusals=["forbidden", "in_timeout", "profanity_refused", "rank_too_low", "unknown_member"],
        ),
        Endpoint(
            "PUT /api/members/{member_id}/roles/{role_id}",
            "Give a role below one's own rank, with nothing in it that one lacks",
            MEMBER,
            refusals=[*_OF_ROLES, "unknown_member"],
        ),
        Endpoint(
            "DELETE /api/members/{member_id}/roles/{role_id}",
            "Take a role below one's own rank",
            MEMBER,
            refusals=["rank_too_low", "unknown_member", "unknown_role"],
        ),
        Endpoint(
            "POST /api/members/{member_id}/owner",
            "Hand the server over; who was its owner becomes an admin",
            MEMBER,
            refusals=["unknown_member"],
        ),
        Endpoint("GET /api/me/permissions", "What one may do, on the server and in each channel", _MAY),
        Endpoint("GET /api/roles", "All roles, the highest first", _ROLES),
        Endpoint(
            "POST /api/roles",
            "Make a role",
            _ROLE,
            201,
            body=asked({"name": _ROLE_NAME}, _WISHES),
            refusals=["forbidden", "rank_too_low", "too_many"],
        ),
        Endpoint(
            "PUT /api/roles/order",
            "Give roles other ranks, all or none",
            _ROLES,
            body=asked({"ranks": mapping(integer(0, MAX_RANK))}),
            refusals=_OF_ROLES,
        ),
        Endpoint(
            "PATCH /api/roles/{role_id}",
            "Change a role; a color of null takes it away",
            _ROLE,
            body=asked({}, {"name": _ROLE_NAME, **_WISHES}),
            refusals=_OF_ROLES,
        ),
        Endpoint("DELETE /api/roles/{role_id}", "Delete a role that was made here", refusals=_OF_ROLES),
    ],
    pushes=[
        Pushed("member_joined", "Somebody has become a member", MEMBER, "everybody"),
        Pushed("member_updated", "A name, roles or a timeout are different", MEMBER, "everybody"),
        Pushed("member_left", "Somebody has gone, or was removed", obj({"member_id": ID}), "everybody"),
        Pushed("role_created", "There is a new role", _ROLE, "everybody"),
        Pushed("role_updated", "A role is different", _ROLE, "everybody"),
        Pushed(
            "role_deleted", "A role is gone, and nobody has it any more", obj({"role_id": ID}), "everybody"
        ),
        Pushed(
            "permissions_changed",
            "You may do more or less than before, somewhere; ask `GET /api/me/permissions`",
            NOTHING,
            "the members concerned",
        ),
    ],
    welcome={"member": MEMBER, "permissions": _MAY, "roles": array(_ROLE)},
)
