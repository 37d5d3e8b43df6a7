"""The tables of invites and of who joined by them lately. SQL only."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import Table, number, value
from svc.chat.described import Id, Natural, TimeMs


@dataclass(frozen=True, slots=True)
class Invite:
    """As it is kept, and as those see it who may hand it out."""

    id: Id
    code: str
    created_by: Id | None
    role_id: Id
    created_at_ms: TimeMs
    expires_at_ms: TimeMs | None = None
    max_uses: Annotated[int, Meta(ge=1)] | None = None
    uses: Natural = 0
    # Where those land who come by it; None for the usual place.
    channel_id: Id | None = None
    # Those who come by it wait until somebody approves.
    approval: bool = False


INVITES = Table("invites", Invite)


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
    )
    if code := value(found, str):
        return code
    INVITES.insert(connection, fresh)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('first_invite', ?)", (fresh.code,))
    return fresh.code


def count_use(connection: Connection, invite_id: str) -> None:
    connection.execute("UPDATE invites SET uses = uses + 1 WHERE id = ?", (invite_id,))


def delete_of_member(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM invites WHERE created_by = ?", (member_id,))


def delete_spent(connection: Connection, now_ms: int) -> None:
    """Forget what can no longer be used."""
    connection.execute("DELETE FROM invites WHERE expires_at_ms <= ? OR uses >= max_uses", (now_ms,))


def count(connection: Connection, created_by: str | None) -> int:
    return number(connection.execute("SELECT count(*) FROM invites WHERE created_by IS ?", (created_by,)))


def nth_last_join(connection: Connection, invite_id: str, nth: int) -> int | None:
    """When the join was that `nth` - 1 others have followed, in ms."""
    found = connection.execute(
        "SELECT at_ms FROM invite_joins WHERE invite_id = ? ORDER BY at_ms DESC LIMIT 1 OFFSET ?",
        (invite_id, nth - 1),
    )
    return value(found, int)


def note_join(connection: Connection, invite_id: str, now_ms: int, kept_ms: int) -> None:
    """Write down a join, and forget those that are too long ago to matter."""
    connection.execute("DELETE FROM invite_joins WHERE at_ms <= ?", (now_ms - kept_ms,))
    connection.execute("INSERT INTO invite_joins VALUES (?, ?)", (invite_id, now_ms))


async def listed(database: Database, created_by: str | None, limit: int) -> list[Invite]:
    """The newest first; of one member, or all."""
    which = "WHERE ?1 IS NULL OR created_by = ?1 ORDER BY id DESC LIMIT ?2"
    return await INVITES.all(database, which, created_by, limit)
