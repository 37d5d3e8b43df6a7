"""The tables of invites, of who came by them, and of who waits for approval. SQL only."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import Table, value
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


State = Literal["pending", "approved", "refused"]
PENDING: State = "pending"
APPROVED: State = "approved"
REFUSED: State = "refused"
MAX_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Application:
    # As those see it who decide: who somebody is elsewhere is no business of theirs.

    id: Id
    nickname: str
    message: str
    invite_id: Id
    invited_by: Id | None
    role_id: Id
    asked_at_ms: TimeMs
    state: Annotated[str, Meta(extra_json_schema={"enum": [PENDING, APPROVED, REFUSED]})] = PENDING
    reason: Annotated[str, Meta(max_length=MAX_REASON_CHARACTERS)] = ""
    decided_by: Id | None = None
    decided_at_ms: TimeMs | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """Who has applied, and with which code; where they land."""

    issuer: str
    subject: str
    code: str
    channel_id: str | None
    shown: Application


@dataclass(frozen=True, slots=True)
class Invited:
    """By which invite a member has come, and whose it was."""

    member_id: str
    invite_id: str
    invited_by: str | None
    at_ms: int


INVITES = Table("invites", Invite)
INVITED = Table("invited", Invited)
APPLICATIONS = Table(
    "applications", Applied, names={f"shown.{field.name}": field.name for field in fields(Application)}
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
    )
    if code := value(found, str):
        return code
    INVITES.insert(connection, fresh)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('first_invite', ?)", (fresh.code,))
    return fresh.code


def delete_of_member(connection: Connection, member_id: str) -> None:
    INVITES.delete(connection, created_by=member_id)


def delete_spent(connection: Connection, now_ms: int) -> None:
    """Forget what can no longer be used."""
    connection.execute("DELETE FROM invites WHERE expires_at_ms <= ? OR uses >= max_uses", (now_ms,))


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


def delete_older_applications(connection: Connection, before_ms: int) -> None:
    """Those that were last touched before a moment."""
    connection.execute(
        "DELETE FROM applications WHERE coalesce(decided_at_ms, asked_at_ms) < ?", (before_ms,)
    )


def forget_channel(connection: Connection, channel_id: str) -> None:
    connection.execute("UPDATE applications SET channel_id = NULL WHERE channel_id = ?", (channel_id,))
    connection.execute("UPDATE invites SET channel_id = NULL WHERE channel_id = ?", (channel_id,))


async def applications(database: Database, state: State, after: str, limit: int) -> list[Application]:
    """The oldest first."""
    which = "WHERE state = ? AND id > ? ORDER BY id LIMIT ?"
    return [one.shown for one in await APPLICATIONS.all(database, which, state, after, limit)]


async def came_by(database: Database, invite_id: str, limit: int) -> list[Invited]:
    """Those who came by an invite; also those who have gone."""
    return await INVITED.all(database, "WHERE invite_id = ? ORDER BY member_id LIMIT ?", invite_id, limit)
