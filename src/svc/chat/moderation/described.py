"""What moderation says of itself, for people and for programs."""

from svc.chat.audit.rules import Entries
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
from svc.chat.members.described import MEMBER
from svc.chat.moderation.routes import MAX_PAGE, MAX_REASON_CHARACTERS, MAX_REPORT_CHARACTERS
from svc.chat.moderation.rules import MAX_DELETED_S, MAX_TIMEOUT_S
from svc.chat.requests import schema_of

_REASON = string(MAX_REASON_CHARACTERS)
_WHY = asked({}, {"reason": _REASON})
_BAN = Named(
    "Ban",
    obj(
        {
            "member_id": ID,
            "nickname": string(),
            "reason": _REASON,
            "banned_by": nullable(ID),
            "banned_at_ms": TIME_MS,
        }
    ),
)
_REPORT = Named(
    "Report",
    obj(
        {
            "id": ID,
            # Null: the server itself, which has found the message by a rule or by its list of bad words.
            "reporter_id": nullable(ID),
            "rule": nullable(string()),
            # One of the two, the other null: who wrote it.
            "member_id": nullable(ID),
            "webhook": nullable(obj({"id": ID, "name": string()})),
            "channel_id": nullable(ID),
            "message_id": nullable(ID),
            "text": string(MAX_REPORT_CHARACTERS),
            "created_at_ms": TIME_MS,
            "resolved_at_ms": nullable(TIME_MS),
            "resolved_by": nullable(ID),
            "note": _REASON,
        }
    ),
)
_HISTORY = obj(
    {
        "nickname": string(),
        "joined_at_ms": TIME_MS,
        "left_at_ms": nullable(TIME_MS),
        "banned": BOOLEAN,
        # How they came; null where that is not known.
        "invitation": nullable(obj({"invite_id": ID, "invited_by": nullable(ID)})),
        "reports": obj({"open": integer(0), "resolved": integer(0)}),
        "entries": schema_of(Entries),
        "next": nullable(integer(1)),
    }
)
_OF_RANK = ("rank_too_low", "unknown_member")
_CONCERNED = "who may view reports, and the channel of the message"

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "POST /api/members/{member_id}/kick",
            "Remove a member of lower rank, who may come back with an invite",
            body=_WHY,
            refusals=_OF_RANK,
        ),
        Endpoint(
            "PUT /api/members/{member_id}/timeout",
            "Let a member of lower rank only read for a while",
            MEMBER,
            body=asked({"duration_s": integer(1, MAX_TIMEOUT_S)}, {"reason": _REASON}),
            refusals=_OF_RANK,
        ),
        Endpoint("DELETE /api/members/{member_id}/timeout", "End a timeout", MEMBER, refusals=_OF_RANK),
        Endpoint(
            "GET /api/bans",
            "Who is banned, page by page",
            obj({"bans": array(_BAN, MAX_PAGE), "next": nullable(ID)}),
            query={"after": ID, "limit": integer(1, MAX_PAGE)},
        ),
        Endpoint(
            "PUT /api/bans/{member_id}",
            "Remove a member of lower rank, or a former one, who may not come back",
            body=asked({}, {"reason": _REASON, "delete_messages_s": integer(0, MAX_DELETED_S)}),
            refusals=_OF_RANK,
        ),
        Endpoint(
            "DELETE /api/bans/{member_id}", "Lift a ban", query={"reason": _REASON}, refusals=["unknown_ban"]
        ),
        Endpoint(
            "GET /api/members/{member_id}/moderation",
            "What moderators have done to a member, the newest first; also of somebody who has gone",
            _HISTORY,
            query={"before": integer(1), "limit": integer(1, MAX_PAGE)},
            refusals=["unknown_member"],
        ),
        Endpoint(
            "GET /api/reports",
            "Reports, the newest first; about messages those in channels that one sees",
            obj({"reports": array(_REPORT, MAX_PAGE), "next": nullable(ID)}),
            query={"state": choice("open", "resolved"), "before": ID, "limit": integer(1, MAX_PAGE)},
        ),
        Endpoint(
            "POST /api/reports",
            "Tell those who moderate about a member, or about a message in a channel",
            obj({"id": ID}),
            201,
            body=asked(
                {"text": string(MAX_REPORT_CHARACTERS, 1)},
                {"member_id": ID, "channel_id": ID, "message_id": ID},
            ),
            refusals=["too_many", "unknown_channel", "unknown_member", "unknown_message"],
        ),
        Endpoint(
            "POST /api/reports/{report_id}/resolve",
            "Say that somebody has seen to it",
            body=asked({}, {"note": _REASON}),
            refusals=["already_resolved", "unknown_report"],
        ),
    ],
    pushes=[
        Pushed(
            "report_created",
            "Somebody, or the server itself, has reported a member or a message",
            _REPORT,
            _CONCERNED,
        ),
        Pushed(
            "report_resolved",
            "Somebody has seen to a report",
            obj({"report_id": ID, "resolved_by": ID}),
            _CONCERNED,
        ),
    ],
)
