"""The tables of people who wait for approval, and of who has come by which invite. SQL only."""

from dataclasses import dataclass
from typing import Literal

from svc.base.database import Connection, Database
from svc.base.tables import Table, number

State = Literal["pending", "approved", "refused"]
PENDING: State = "pending"
APPROVED: State = "approved"
REFUSED: State = "refused"


@dataclass(frozen=True, slots=True)
class Application:
    id: str
    issuer: str
    subject: str
    nickname: str
    message: str
    invite_id: str
    code: str
    invited_by: str | None
    role_id: str
    channel_id: str | None
    asked_at_ms: int
    state: State = PENDING
    reason: str = ""
    decided_by: str | None = None
    decided_at_ms: int | None = None

    def described(self) -> dict[str, object]:
        """As those see it who decide. Who somebody is elsewhere is no business of theirs."""
        return {
            "id": self.id,
            "nickname": self.nickname,
            "message": self.message,
            "invite_id": self.invite_id,
            "invited_by": self.invited_by,
            "role_id": self.role_id,
            "asked_at_ms": self.asked_at_ms,
            "state": self.state,
            "reason": self.reason,
            "decided_by": self.decided_by,
            "decided_at_ms": self.decided_at_ms,
        }


APPLICATIONS = Table("applications", Application)


def count_pending(connection: Connection) -> int:
    return number(connection.execute("SELECT count(*) FROM applications WHERE state = ?", (PENDING,)))


def decide(
    connection: Connection,
    application_id: str,
    state: State,
    reason: str,
    decided_by: str | None,
    now_ms: int,
) -> None:
    connection.execute(
        "UPDATE applications SET state = ?, reason = ?, decided_by = ?, decided_at_ms = ? WHERE id = ?",
        (state, reason, decided_by, now_ms, application_id),
    )


def delete_older(connection: Connection, before_ms: int) -> None:
    """Those that were last touched before a moment."""
    connection.execute(
        "DELETE FROM applications WHERE coalesce(decided_at_ms, asked_at_ms) < ?", (before_ms,)
    )


def forget_channel(connection: Connection, channel_id: str) -> None:
    connection.execute("UPDATE applications SET channel_id = NULL WHERE channel_id = ?", (channel_id,))
    connection.execute("UPDATE invites SET channel_id = NULL WHERE channel_id = ?", (channel_id,))


async def page(database: Database, state: State, after: str, limit: int) -> list[Application]:
    """The oldest first."""
    which = "WHERE state = ? AND id > ? ORDER BY id LIMIT ?"
    return await APPLICATIONS.all(database, which, state, after, limit)


def note_invited(
    connection: Connection, member_id: str, invite_id: str, invited_by: str | None, now_ms: int
) -> None:
    connection.execute("INSERT INTO invited VALUES (?, ?, ?, ?)", (member_id, invite_id, invited_by, now_ms))


def forget_invited(connection: Connection, member_id: str) -> None:
    """Of somebody whose data is deleted: that they came, and that others came by them."""
    connection.execute("DELETE FROM invited WHERE member_id = ?", (member_id,))
    connection.execute("UPDATE invited SET invited_by = NULL WHERE invited_by = ?", (member_id,))


async def came_by(database: Database, invite_id: str, limit: int) -> list[tuple[str, int]]:
    """Ids of members and when they came, in ms; also of those who have gone."""
    rows = await database.rows(
        "SELECT member_id, at_ms FROM invited WHERE invite_id = ? ORDER BY member_id LIMIT ?",
        (invite_id, limit),
    )
    return [(member_id, at_ms) for member_id, at_ms in rows]


async def invitation_of(database: Database, member_id: str) -> tuple[str, str | None] | None:
    """By which invite a member has come, and whose it was."""
    row = await database.row("SELECT invite_id, invited_by FROM invited WHERE member_id = ?", (member_id,))
    return (row[0], row[1]) if row else None
