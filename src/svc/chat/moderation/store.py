"""The tables of bans and reports. SQL only."""

from collections.abc import Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Database, Row


@dataclass(frozen=True, slots=True)
class Ban:
    member_id: str
    nickname: str
    reason: str
    banned_by: str | None
    banned_at_ms: int

    def described(self) -> dict[str, object]:
        """As clients see it."""
        return {
            "member_id": self.member_id,
            "nickname": self.nickname,
            "reason": self.reason,
            "banned_by": self.banned_by,
            "banned_at_ms": self.banned_at_ms,
        }


@dataclass(frozen=True, slots=True)
class Report:
    id: str
    reporter_id: str
    member_id: str
    channel_id: str | None
    message_id: str | None
    text: str
    created_at_ms: int
    resolved_at_ms: int | None = None
    resolved_by: str | None = None
    note: str = ""

    def described(self) -> dict[str, object]:
        """As clients see it."""
        return {
            "id": self.id,
            "reporter_id": self.reporter_id,
            "member_id": self.member_id,
            "channel_id": self.channel_id,
            "message_id": self.message_id,
            "text": self.text,
            "created_at_ms": self.created_at_ms,
            "resolved_at_ms": self.resolved_at_ms,
            "resolved_by": self.resolved_by,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class WantedReports:
    before: str | None = None
    resolved: bool | None = None


def nickname(connection: Connection, member_id: str) -> str | None:
    """Of a member, also of a former one."""
    row = connection.execute("SELECT nickname FROM members WHERE id = ?", (member_id,)).fetchone()
    return row["nickname"] if row else None


def is_member(connection: Connection, member_id: str) -> bool:
    found = connection.execute("SELECT 1 FROM members WHERE id = ? AND left_at_ms IS NULL", (member_id,))
    return found.fetchone() is not None


def ban(connection: Connection, new: Ban) -> None:
    """A second ban says why anew."""
    connection.execute(
        "INSERT OR REPLACE INTO bans VALUES (?, ?, ?, ?, ?)",
        (new.member_id, new.nickname, new.reason, new.banned_by, new.banned_at_ms),
    )


def unban(connection: Connection, member_id: str) -> bool:
    return connection.execute("DELETE FROM bans WHERE member_id = ?", (member_id,)).rowcount == 1


def is_banned(connection: Connection, member_id: str) -> bool:
    return connection.execute("SELECT 1 FROM bans WHERE member_id = ?", (member_id,)).fetchone() is not None


async def bans(database: Database, after: str, limit: int) -> list[Ban]:
    rows = await database.rows(
        "SELECT * FROM bans WHERE member_id > ? ORDER BY member_id LIMIT ?", (after, limit)
    )
    return [Ban(**dict(row)) for row in rows]


def count_open(connection: Connection, reporter_id: str) -> int:
    found: int = connection.execute(
        "SELECT count(*) FROM reports WHERE reporter_id = ? AND resolved_at_ms IS NULL", (reporter_id,)
    ).fetchone()[0]
    return found


def insert_report(connection: Connection, report: Report) -> None:
    connection.execute(
        "INSERT INTO reports (id, reporter_id, member_id, channel_id, message_id, text, created_at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            report.id,
            report.reporter_id,
            report.member_id,
            report.channel_id,
            report.message_id,
            report.text,
            report.created_at_ms,
        ),
    )


async def report(database: Database, report_id: str) -> Report | None:
    row = await database.row("SELECT * FROM reports WHERE id = ?", (report_id,))
    return _report(row) if row else None


def resolve(connection: Connection, report_id: str, member_id: str, note: str, now_ms: int) -> None:
    connection.execute(
        "UPDATE reports SET resolved_at_ms = ?, resolved_by = ?, note = ? WHERE id = ?",
        (now_ms, member_id, note, report_id),
    )


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
    rows = await database.rows(
        f"SELECT * FROM reports WHERE {where} ORDER BY id DESC LIMIT ?", [*values, limit]
    )
    return [_report(row) for row in rows]


def _report(row: Row) -> Report:
    return Report(**dict(row))
