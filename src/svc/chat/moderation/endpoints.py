"""Handles requests and commands for kicks, timeouts, bans, reports and moderation history."""

import time
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import MEMBER as ANY_MEMBER
from svc.chat.access.endpoint_permissions import on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.control.commands import Commands, command, find_member
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.members import responses
from svc.chat.moderation.history import History, MemberHistory
from svc.chat.moderation.reports import MAX_REPORT_CHARACTERS, Reason, Report, ReportFiled, Reports
from svc.chat.moderation.responses import ReportResolved
from svc.chat.moderation.rules import MAX_DELETED_S, MAX_TIMEOUT_S, Ban, Moderation
from svc.chat.schemas import Event, Id, Response

MAX_PAGE = 200
_Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE)]
_DeletedS = Annotated[int, Meta(ge=0, le=MAX_DELETED_S)]
_MEMBER = "/api/members/{member_id}"
_BAN = "/api/bans/{member_id}"
_BANNER, _TIMEKEEPER = on_server(P.BAN_MEMBERS), on_server(P.TIMEOUT_MEMBERS)
_READER = on_server(P.VIEW_REPORTS)
_OF_RANK = ("rank_too_low", "unknown_member")
_CONCERNED = "members who may view reports and the message's channel"


class Reasoned(Request):
    reason: Reason | None = None


class NewTimeout(Reasoned, kw_only=True):
    duration_s: Annotated[int, Meta(ge=1, le=MAX_TIMEOUT_S)]


class NewBan(Reasoned):
    delete_messages_s: _DeletedS | None = None


class BansQuery(Request):
    after: Id | None = None
    limit: _Limit = 50


class HistoryQuery(Request):
    before: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None
    limit: _Limit = 50


class ReportsQuery(Request):
    state: Literal["open", "resolved"] | None = None
    before: Id | None = None
    limit: _Limit = 50


class NewReport(Request):
    """A report about a member, or about a message in a channel."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_REPORT_CHARACTERS)]
    member_id: Id | None = None
    channel_id: Id | None = None
    message_id: Id | None = None


class Note(Request):
    note: Reason | None = None


class Bans(Response):
    bans: Annotated[Sequence[Ban], Meta(max_length=MAX_PAGE)]
    next: Id | None


class ReportPage(Response):
    reports: Annotated[Sequence[Report], Meta(max_length=MAX_PAGE)]
    next: Id | None


class ModerationEndpoints(Endpoints):
    def __init__(self, moderation: Moderation, reports: Reports, history: History) -> None:
        self._moderation = moderation
        self._reports = reports
        self._history = history

    @endpoint(
        on_server(P.KICK_MEMBERS),
        "Kick a member of lower rank. They may rejoin with an invite",
        http=f"POST {_MEMBER}/kick",
        refusals=_OF_RANK,
    )
    async def kick(self, session: Session, member_id: Id, body: Reasoned) -> None:
        await self._moderation.kick(session.member_id, member_id, body.reason or "", time.time())

    @endpoint(
        _TIMEKEEPER,
        "Give a member of lower rank a timeout, during which they can only read",
        http=f"PUT {_MEMBER}/timeout",
        refusals=_OF_RANK,
    )
    async def time_out(self, session: Session, member_id: Id, body: NewTimeout) -> responses.Member:
        return await self._time_out(session, member_id, body.duration_s, body.reason or "")

    @endpoint(_TIMEKEEPER, "End a timeout", http=f"DELETE {_MEMBER}/timeout", refusals=_OF_RANK)
    async def end_timeout(self, session: Session, member_id: Id) -> responses.Member:
        return await self._time_out(session, member_id, 0, "")

    async def _time_out(
        self, session: Session, member_id: str, duration_s: int, reason: str
    ) -> responses.Member:
        now = time.time()
        member = await self._moderation.time_out(session.member_id, member_id, duration_s, reason, now)
        return responses.member(member)

    @endpoint(_BANNER, "List bans page by page", http="GET /api/bans")
    async def bans(self, query: BansQuery) -> Bans:
        return Bans(*await self._moderation.bans(query.after or "", query.limit))

    @endpoint(
        _BANNER,
        "Ban a member of lower rank, or a former member. They cannot rejoin, and see the reason. "
        "`delete_messages_s` also deletes their messages of that period",
        http=f"PUT {_BAN}",
        refusals=_OF_RANK,
    )
    async def ban(self, session: Session, member_id: Id, body: NewBan) -> None:
        reason, seconds = body.reason or "", body.delete_messages_s or 0
        await self._moderation.ban(session.member_id, member_id, reason, time.time(), seconds)

    @endpoint(
        _BANNER,
        "Lift a ban. The reason goes to the audit log",
        http=f"DELETE {_BAN}",
        refusals=("unknown_ban",),
    )
    async def unban(self, session: Session, member_id: Id, query: Reasoned) -> None:
        await self._moderation.unban(session.member_id, member_id, query.reason or "", time.time())

    @endpoint(
        _READER,
        "List the moderation history of a present or former member, newest first. Entries about a "
        "channel need permission to view it",
        http=f"GET {_MEMBER}/moderation",
        refusals=("unknown_member",),
    )
    async def history(self, session: Session, member_id: Id, query: HistoryQuery) -> MemberHistory:
        return await self._history.of(session.member_id, member_id, query.before, query.limit)

    @endpoint(
        _READER,
        "List reports, newest first. Reports about messages need permission to view the channel",
        http="GET /api/reports",
    )
    async def reports(self, session: Session, query: ReportsQuery) -> ReportPage:
        resolved = None if query.state is None else query.state == "resolved"
        return ReportPage(*await self._reports.page(session.member_id, query.before, resolved, query.limit))

    @endpoint(
        ANY_MEMBER,
        "Report a member, or a message in a channel. You can have at most 20 open reports",
        http="POST /api/reports",
        refusals=("too_many", "unknown_channel", "unknown_member", "unknown_message"),
        status=201,
    )
    async def report(self, session: Session, body: NewReport) -> ReportFiled:
        reporter_id, text, now = session.member_id, body.text, time.time()
        if body.message_id is None:
            member_id = _require("member_id", body.member_id)
            report = await self._reports.about_member(reporter_id, member_id, text, now)
        else:
            channel_id = _require("channel_id", body.channel_id)
            report = await self._reports.about_message(reporter_id, channel_id, body.message_id, text, now)
        return ReportFiled(report.id)

    @endpoint(
        _READER,
        "Resolve a report",
        http="POST /api/reports/{report_id}/resolve",
        refusals=("already_resolved", "unknown_report"),
    )
    async def resolve(self, session: Session, report_id: Id, body: Note) -> None:
        await self._reports.resolve(session.member_id, report_id, body.note or "", time.time())


def _require(name: str, value: str | None) -> str:
    if value is None:
        raise ChatError("invalid_request", f"{name} is missing")
    return value


class ModerationCommands(Commands):
    def __init__(self, moderation: Moderation, directory: Directory) -> None:
        self._moderation = moderation
        self._directory = directory

    @command("member_kick")
    async def kick(self, member: Id, reason: Reason = "") -> responses.MemberLeft:
        member_id = find_member(self._directory, member)
        await self._moderation.kick(None, member_id, reason, time.time())
        return responses.MemberLeft(member_id)

    @command("member_ban")
    async def ban(
        self, member: Id, reason: Reason = "", delete_messages_s: _DeletedS = 0
    ) -> responses.MemberLeft:
        """Ban a present or former member by id."""
        member_id = find_member(self._directory, member, or_gone=True)
        await self._moderation.ban(None, member_id, reason, time.time(), delete_messages_s)
        return responses.MemberLeft(member_id)

    @command("member_unban")
    async def unban(self, member: Id, reason: Reason = "") -> None:
        await self._moderation.unban(None, member, reason, time.time())

    @command("member_bans")
    async def bans(self, after: Id = "") -> Bans:
        return Bans(*await self._moderation.bans(after, MAX_PAGE))


DESCRIPTION = describe_feature(
    ModerationEndpoints,
    pushes=[
        Event(
            "report_created",
            "A member or the server reported a member or a message",
            Report,
            _CONCERNED,
        ),
        Event(
            "report_resolved",
            "A report was resolved",
            ReportResolved,
            _CONCERNED,
        ),
    ],
)
