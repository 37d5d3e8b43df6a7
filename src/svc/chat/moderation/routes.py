"""Kick, timeout, `/api/bans` and `/api/reports`; and the watch on timeouts that end."""

import asyncio
import time
from contextlib import suppress
from typing import NoReturn

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, identifier, number, optional_text, text
from svc.chat.http import answer, asker, body, nothing, query_number
from svc.chat.moderation.history import History
from svc.chat.moderation.reports import Reports
from svc.chat.moderation.rules import MAX_DELETED_S, MAX_TIMEOUT_S, Moderation
from svc.chat.moderation.store import WantedReports

MAX_REASON_CHARACTERS = 500
MAX_REPORT_CHARACTERS = 2000
USUAL_PAGE, MAX_PAGE = 50, 200
LAST_ID = 2**63 - 1
_LONGEST_WAIT_S = 60.0
_STATES = {"open": False, "resolved": True, None: None}


class ModerationRoutes:
    def __init__(self, moderation: Moderation, reports: Reports, history: History) -> None:
        self._moderation = moderation
        self._reports = reports
        self._history = history

    def table(self) -> list[web.RouteDef]:
        member = "/api/members/{member_id}"
        return [
            web.post(member + "/kick", self.kick),
            web.put(member + "/timeout", self.time_out),
            web.delete(member + "/timeout", self.end_timeout),
            web.get(member + "/moderation", self.history),
            web.get("/api/bans", self.bans),
            web.put("/api/bans/{member_id}", self.ban),
            web.delete("/api/bans/{member_id}", self.unban),
            web.get("/api/reports", self.reports),
            web.post("/api/reports", self.report),
            web.post("/api/reports/{report_id}/resolve", self.resolve),
        ]

    async def kick(self, request: web.Request) -> web.Response:
        reason = _reason(await body(request))
        await self._moderation.kick(asker(request).member_id, _member_id(request), reason, time.time())
        return nothing()

    async def time_out(self, request: web.Request) -> web.Response:
        data = await body(request)
        duration_s = number(data, "duration_s", least=1, most=MAX_TIMEOUT_S)
        return await self._time_out(request, duration_s, _reason(data))

    async def end_timeout(self, request: web.Request) -> web.Response:
        return await self._time_out(request, 0, "")

    async def _time_out(self, request: web.Request, duration_s: int, reason: str) -> web.Response:
        asking, member_id = asker(request).member_id, _member_id(request)
        member = await self._moderation.time_out(asking, member_id, duration_s, reason, time.time())
        return answer(member.described())

    async def history(self, request: web.Request) -> web.Response:
        before = query_number(request, "before", least=1, most=LAST_ID)
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        asking, member_id = asker(request).member_id, _member_id(request)
        return answer(await self._history.of(asking, member_id, before, limit))

    async def bans(self, request: web.Request) -> web.Response:
        after = optional_text(request.query, "after", most=MAX_ID_CHARACTERS) or ""
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        bans, following = await self._moderation.bans(after, limit)
        return answer({"bans": [ban.described() for ban in bans], "next": following})

    async def ban(self, request: web.Request) -> web.Response:
        data = await body(request)
        reason, seconds = _reason(data), deleted_s(data)
        await self._moderation.ban(
            asker(request).member_id, _member_id(request), reason, time.time(), seconds
        )
        return nothing()

    async def unban(self, request: web.Request) -> web.Response:
        reason = _reason(request.query)
        await self._moderation.unban(asker(request).member_id, _member_id(request), reason, time.time())
        return nothing()

    async def reports(self, request: web.Request) -> web.Response:
        asked = request.query
        state = optional_text(asked, "state", most=16)
        if state not in _STATES:
            raise ChatError("invalid_request", "state must be open or resolved")
        wanted = WantedReports(optional_text(asked, "before", most=MAX_ID_CHARACTERS), _STATES[state])
        limit = query_number(request, "limit", least=1, most=MAX_PAGE) or USUAL_PAGE
        reports, following = await self._reports.page(asker(request).member_id, wanted, limit)
        return answer({"reports": [report.described() for report in reports], "next": following})

    async def report(self, request: web.Request) -> web.Response:
        data = await body(request)
        said = text(data, "text", most=MAX_REPORT_CHARACTERS, least=1)
        reporter_id = asker(request).member_id
        if data.get("message_id") is None:
            member_id = identifier(data, "member_id")
            report = await self._reports.about_member(reporter_id, member_id, said, time.time())
        else:
            channel_id, message_id = identifier(data, "channel_id"), identifier(data, "message_id")
            report = await self._reports.about_message(reporter_id, channel_id, message_id, said, time.time())
        return answer({"id": report.id}, 201)

    async def resolve(self, request: web.Request) -> web.Response:
        note = optional_text(await body(request), "note", most=MAX_REASON_CHARACTERS) or ""
        report_id = identifier(request.match_info, "report_id")
        await self._reports.resolve(asker(request).member_id, report_id, note, time.time())
        return nothing()


class TimeoutWatch:
    """Tells when timeouts end, so that a call gives back what they took."""

    def __init__(self, moderation: Moderation) -> None:
        self._moderation = moderation
        self._changed = asyncio.Event()
        moderation.wake = self._changed.set

    async def run(self) -> NoReturn:
        seen = time.time()
        while True:
            # The clock may be set meanwhile, or the machine have slept.
            seen = min(seen, time.time())
            end = self._moderation.next_end(seen)
            with suppress(TimeoutError):
                wait_s = None if end is None else min(_LONGEST_WAIT_S, max(0.0, end - time.time()))
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            self._changed.clear()
            now = time.time()
            self._moderation.ended(seen, now)
            seen = now


def _member_id(request: web.Request) -> str:
    return identifier(request.match_info, "member_id")


def deleted_s(data: Data) -> int:
    """How far back a ban deletes messages."""
    return number(data, "delete_messages_s", least=0, most=MAX_DELETED_S, default=0)


def _reason(data: Data) -> str:
    return optional_text(data, "reason", most=MAX_REASON_CHARACTERS) or ""
