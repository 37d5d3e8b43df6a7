"""The tables of invites and of who joined by them lately. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database, Row


@dataclass(frozen=True, slots=True)
class Invite:
    id: str
    code: str
    created_by: str | None
    role_id: str
    created_at_ms: int
    expires_at_ms: int | None = None
    max_uses: int | None = None
    uses: int = 0
    # Where those land who come by it; None for the usual place.
    channel_id: str | None = None
    # Those who come by it wait until somebody approves.
    approval: bool = False

    def described(self) -> dict[str, object]:
        """As those see it who may hand it out."""
        return {
            "id": self.id,
            "code": self.code,
            "created_by": self.created_by,
            "role_id": self.role_id,
            "created_at_ms": self.created_at_ms,
            "expires_at_ms": self.expires_at_ms,
            "max_uses": self.max_uses,
            "uses": self.uses,
            "channel_id": self.channel_id,
            "approval": self.approval,
        }


def insert(connection: Connection, invite: Invite) -> None:
    connection.execute(
        "INSERT INTO invites (id, code, created_by, role_id, created_at_ms, expires_at_ms, max_uses,"
        " channel_id, approval) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            invite.id,
            invite.code,
            invite.created_by,
            invite.role_id,
            invite.created_at_ms,
            invite.expires_at_ms,
            invite.max_uses,
            invite.channel_id,
            invite.approval,
        ),
    )


def standing(connection: Connection, fresh: Invite, least_end_ms: int) -> str:
    """The code of the installation's own invite: `fresh` where there is none that lasts until then."""
    # Those of earlier versions did not expire.
    connection.execute(
        "UPDATE invites SET expires_at_ms = ? WHERE expires_at_ms IS NULL"
        " AND code = (SELECT value FROM facts WHERE name = 'first_invite')",
        (fresh.expires_at_ms,),
    )
    found = connection.execute(
        "SELECT code FROM invites JOIN facts ON name = 'first_invite' AND value = code"
        " WHERE expires_at_ms >= ?",
        (least_end_ms,),
    ).fetchone()
    if found is not None:
        return str(found["code"])
    insert(connection, fresh)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('first_invite', ?)", (fresh.code,))
    return fresh.code


def one(connection: Connection, invite_id: str) -> Invite | None:
    row = connection.execute("SELECT * FROM invites WHERE id = ?", (invite_id,)).fetchone()
    return _invite(row) if row else None


async def read(database: Database, invite_id: str) -> Invite | None:
    """The same, outside a write."""
    row = await database.row("SELECT * FROM invites WHERE id = ?", (invite_id,))
    return _invite(row) if row else None


def by_code(connection: Connection, code: str) -> Invite | None:
    row = connection.execute("SELECT * FROM invites WHERE code = ?", (code,)).fetchone()
    return _invite(row) if row else None


async def found(database: Database, code: str) -> Invite | None:
    """The same, outside a write."""
    rows = await database.rows("SELECT * FROM invites WHERE code = ?", [code])
    return _invite(rows[0]) if rows else None


def count_use(connection: Connection, invite_id: str) -> None:
    connection.execute("UPDATE invites SET uses = uses + 1 WHERE id = ?", (invite_id,))


def delete(connection: Connection, invite_id: str) -> None:
    connection.execute("DELETE FROM invites WHERE id = ?", (invite_id,))


def delete_of_member(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM invites WHERE created_by = ?", (member_id,))


def delete_spent(connection: Connection, now_ms: int) -> None:
    """Forget what can no longer be used."""
    connection.execute("DELETE FROM invites WHERE expires_at_ms <= ? OR uses >= max_uses", (now_ms,))


def count(connection: Connection, created_by: str | None) -> int:
    found: int = connection.execute(
        "SELECT count(*) FROM invites WHERE created_by IS ?", (created_by,)
    ).fetchone()[0]
    return found


def nth_last_join(connection: Connection, invite_id: str, nth: int) -> int | None:
    """When the join was that `nth` - 1 others have followed, in ms."""
    row = connection.execute(
        "SELECT at_ms FROM invite_joins WHERE invite_id = ? ORDER BY at_ms DESC LIMIT 1 OFFSET ?",
        (invite_id, nth - 1),
    ).fetchone()
    return row["at_ms"] if row else None


def note_join(connection: Connection, invite_id: str, now_ms: int, kept_ms: int) -> None:
    """Write down a join, and forget those that are too long ago to matter."""
    connection.execute("DELETE FROM invite_joins WHERE at_ms <= ?", (now_ms - kept_ms,))
    connection.execute("INSERT INTO invite_joins VALUES (?, ?)", (invite_id, now_ms))


async def listed(database: Database, created_by: str | None, limit: int) -> list[Invite]:
    """The newest first; of one member, or all."""
    where = "" if created_by is None else " WHERE created_by = ?"
    values: list[object] = [] if created_by is None else [created_by]
    rows = await database.rows(f"SELECT * FROM invites{where} ORDER BY id DESC LIMIT ?", [*values, limit])
    return [_invite(row) for row in rows]


def _invite(row: Row) -> Invite:
    return Invite(**{**dict(row), "approval": bool(row["approval"])})
