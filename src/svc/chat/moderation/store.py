"""The tables of bans and reports. SQL only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from svc.base.database import Connection, Database
from svc.base.tables import Form, Table, optional, value
from svc.chat.described import Id, Natural, TimeMs
from svc.chat.moderation.report import Report, ReportedWebhook, Revealed


@dataclass(frozen=True, slots=True)
class Ban:
    member_id: Id
    nickname: str
    reason: str
    banned_by: Id | None
    banned_at_ms: TimeMs


@dataclass(frozen=True, slots=True)
class ReportCounts:
    open: Natural
    resolved: Natural


@dataclass(frozen=True, slots=True)
class Facts:
    """What there is of a member beside what was done."""

    nickname: str
    joined_at_ms: TimeMs
    left_at_ms: TimeMs | None
    banned: bool
    reports: ReportCounts


@dataclass(frozen=True, slots=True)
class WantedReports:
    before: str | None = None
    resolved: bool | None = None


_REVEALED = Form(
    lambda revealed: msgspec.json.encode(revealed).decode(),
    lambda text: msgspec.json.decode(text, type=Revealed),
)
_BANS = Table("bans", Ban)
# Its columns `member_id` and `webhook` are the id of whoever wrote it, and the name of a webhook.
_REPORTS = Table("reports", Report, without=("member_id", "webhook"), private=optional(_REVEALED))
_SELECT_REPORTS = f"SELECT {_REPORTS.select()}, member_id, webhook FROM reports"


def nickname(connection: Connection, member_id: str) -> str | None:
    """Of a member, also of a former one."""
    return value(connection.execute("SELECT nickname FROM members WHERE id = ?", (member_id,)), str)


_SAME_PERSON = "person_id = (SELECT person_id FROM members WHERE id = ?)"


def present_as(connection: Connection, member_id: str) -> list[str]:
    """The ids of all members who are the same person as a present or former one."""
    rows = connection.execute(
        f"SELECT id FROM members WHERE left_at_ms IS NULL AND {_SAME_PERSON} ORDER BY id", (member_id,)
    )
    return [row_id for (row_id,) in rows]


def ever_as(connection: Connection, member_id: str) -> list[str]:
    """The same, and those that the person was."""
    rows = connection.execute(f"SELECT id FROM members WHERE {_SAME_PERSON}", (member_id,))
    return [row_id for (row_id,) in rows]


def ban(connection: Connection, new: Ban) -> None:
    """A second ban says why anew."""
    _BANS.put(connection, new)


def unban(connection: Connection, member_id: str) -> bool:
    """Also where the person was banned as another member. False where they are not banned."""
    lifted = connection.execute(
        f"DELETE FROM bans WHERE member_id IN (SELECT id FROM members WHERE {_SAME_PERSON})", (member_id,)
    )
    return lifted.rowcount > 0


def ban_reason(connection: Connection, person_id: str) -> str | None:
    """Why a person is banned, empty where nobody said; None where they are not."""
    found = connection.execute(
        "SELECT b.reason FROM bans b JOIN members m ON m.id = b.member_id WHERE m.person_id = ?"
        " ORDER BY b.banned_at_ms DESC",
        (person_id,),
    )
    return value(found, str)


def is_timed_out(connection: Connection, person_id: str, now_ms: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM members WHERE person_id = ? AND timeout_until_ms > ?", (person_id, now_ms)
    )
    return found.fetchone() is not None


async def bans(database: Database, after: str, limit: int) -> list[Ban]:
    return await _BANS.all(database, "WHERE member_id > ? ORDER BY member_id LIMIT ?", after, limit)


async def facts(database: Database, member_id: str) -> Facts | None:
    """Also of a former member."""
    row = await database.row(
        "SELECT nickname, joined_at_ms, left_at_ms,"
        " EXISTS (SELECT 1 FROM bans WHERE member_id = m.id),"
        " (SELECT count(*) FROM reports WHERE member_id = m.id AND resolved_at_ms IS NULL),"
        " (SELECT count(*) FROM reports WHERE member_id = m.id AND resolved_at_ms IS NOT NULL)"
        " FROM members m WHERE id = ?",
        (member_id,),
    )
    if row is None:
        return None
    name, joined_at_ms, left_at_ms, banned, waiting, resolved = row
    return Facts(name, joined_at_ms, left_at_ms, bool(banned), ReportCounts(waiting, resolved))


def count_open(connection: Connection, reporter_id: str) -> int:
    return _REPORTS.count(connection, reporter_id=reporter_id, resolved_at_ms=None)


def count_open_of_server(connection: Connection, member_id: str) -> int:
    """Those about a member that nobody has filed."""
    return _REPORTS.count(connection, member_id=member_id, reporter_id=None, resolved_at_ms=None)


def is_open_about(connection: Connection, member_id: str, message_id: str) -> bool:
    """Has the server filed one about this message that waits?"""
    about = {"member_id": member_id, "message_id": message_id}
    return _REPORTS.has(connection, **about, reporter_id=None, resolved_at_ms=None)


def insert_report(connection: Connection, report: Report) -> None:
    webhook = None if report.webhook is None else report.webhook.name
    _REPORTS.insert(connection, report, member_id=report.author_id, webhook=webhook)


def report(connection: Connection, report_id: str) -> Report | None:
    row = connection.execute(f"{_SELECT_REPORTS} WHERE id = ?", (report_id,)).fetchone()
    return _read_report(row) if row else None


def _read_report(row: Sequence[Any]) -> Report:
    *kept, author_id, name = row
    if name is None:
        return _REPORTS.read(kept, member_id=author_id, webhook=None)
    return _REPORTS.read(kept, member_id=None, webhook=ReportedWebhook(author_id, name))


def resolve(connection: Connection, report_id: str, member_id: str, note: str, now_ms: int) -> None:
    resolved = {"resolved_at_ms": now_ms, "resolved_by": member_id, "note": note}
    _REPORTS.edit(connection, resolved, id=report_id)


async def reports(
    database: Database, wanted: WantedReports, limit: int, channel_ids: Sequence[str] | None
) -> list[Report]:
    """The newest first; those about messages only of `channel_ids`, unless that is None."""
    conditions, values = ["1"], list[object]()
    if wanted.before is not None:
        conditions.append("id < ?")
        values.append(wanted.before)
    if wanted.resolved is not None:
        conditions.append("resolved_at_ms IS NOT NULL" if wanted.resolved else "resolved_at_ms IS NULL")
    if channel_ids is not None:
        conditions.append(f"(channel_id IS NULL OR channel_id IN ({','.join('?' * len(channel_ids))}))")
        values += channel_ids
    where = " AND ".join(conditions)
    rows = await database.rows(f"{_SELECT_REPORTS} WHERE {where} ORDER BY id DESC LIMIT ?", (*values, limit))
    return [_read_report(row) for row in rows]
