"""Stores invites, joins and applications. Contains only SQL."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import Table, value
from svc.chat.schemas import Id, Natural, TimeMs


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite as stored, and as its managers see it."""

    id: Id
    code: str
    created_by: Id | None
    role_id: Id
    created_at_ms: TimeMs
    expires_at_ms: TimeMs | None = None
    max_uses: Annotated[int, Meta(ge=1)] | None = None
    uses: Natural = 0
    # The channel that opens for new members. None means the default channel.
    channel_id: Id | None = None
    # Whether people must wait for approval.
    approval: bool = False


State = Literal["pending", "approved", "refused"]
PENDING: State = "pending"
APPROVED: State = "approved"
REFUSED: State = "refused"
MAX_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Application:
    # An application as managers see it, without the person's external identity.

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
class SubmittedApplication:
    """An application, with the applicant's identity and code, and the channel that will open for them."""

    issuer: str
    subject: str
    code: str
    channel_id: str | None
    shown: Application


@dataclass(frozen=True, slots=True)
class UsedInvite:
    """The invite that a member used, and its creator."""

    member_id: str
    invite_id: str
    invited_by: str | None
    at_ms: int


INVITES = Table("invites", Invite)
INVITED = Table("invited", UsedInvite)
APPLICATIONS = Table(
    "applications",
    SubmittedApplication,
    names={f"shown.{field.name}": field.name for field in fields(Application)},
)


def standing_invite(connection: Connection, fresh: Invite, least_end_ms: int) -> str:
    """Return the code of the standing invite. If it expires before `least_end_ms`, replace it with
    `fresh`.
    """
    # Standing invites of earlier versions did not expire.
    connection.execute(
        "UPDATE invites SET expires_at_ms = ? WHERE expires_at_ms IS NULL"
        " AND code = (SELECT value FROM facts WHERE name = 'first_invite')",
        (fresh.expires_at_ms,),
    )
    cursor = connection.execute(
        "SELECT code FROM invites JOIN facts ON name = 'first_invite' AND value = code"
        " WHERE expires_at_ms >= ?",
        (least_end_ms,),
    )
    if code := value(cursor, str):
        return code
    INVITES.insert(connection, fresh)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('first_invite', ?)", (fresh.code,))
    return fresh.code


def delete_of_member(connection: Connection, member_id: str) -> None:
    INVITES.delete(connection, created_by=member_id)


def delete_spent(connection: Connection, now_ms: int) -> None:
    """Delete invites that can no longer be used."""
    connection.execute("DELETE FROM invites WHERE expires_at_ms <= ? OR uses >= max_uses", (now_ms,))


def nth_last_join(connection: Connection, invite_id: str, nth: int) -> int | None:
    """Return the time in ms of the `nth` most recent join, counting from 1, or None."""
    cursor = connection.execute(
        "SELECT at_ms FROM invite_joins WHERE invite_id = ? ORDER BY at_ms DESC LIMIT 1 OFFSET ?",
        (invite_id, nth - 1),
    )
    return value(cursor, int)


def note_join(connection: Connection, invite_id: str, now_ms: int, kept_ms: int) -> None:
    """Record a join, and delete joins older than `kept_ms`."""
    connection.execute("DELETE FROM invite_joins WHERE at_ms <= ?", (now_ms - kept_ms,))
    connection.execute("INSERT INTO invite_joins VALUES (?, ?)", (invite_id, now_ms))


async def list_invites(database: Database, created_by: str | None, limit: int) -> list[Invite]:
    """Return the invites of one member or of all members, newest first."""
    which = "WHERE ?1 IS NULL OR created_by = ?1 ORDER BY id DESC LIMIT ?2"
    return await INVITES.all(database, which, created_by, limit)


def delete_older_applications(connection: Connection, before_ms: int) -> None:
    """Delete applications last changed before the given time."""
    connection.execute(
        "DELETE FROM applications WHERE coalesce(decided_at_ms, asked_at_ms) < ?", (before_ms,)
    )


def forget_channel(connection: Connection, channel_id: str) -> None:
    connection.execute("UPDATE applications SET channel_id = NULL WHERE channel_id = ?", (channel_id,))
    connection.execute("UPDATE invites SET channel_id = NULL WHERE channel_id = ?", (channel_id,))


async def applications(database: Database, state: State, after: str, limit: int) -> list[Application]:
    """Return applications, oldest first."""
    which = "WHERE state = ? AND id > ? ORDER BY id LIMIT ?"
    return [application.shown for application in await APPLICATIONS.all(database, which, state, after, limit)]


async def newcomers(database: Database, invite_id: str, limit: int) -> list[UsedInvite]:
    """Return everyone who joined through an invite, including former members."""
    return await INVITED.all(database, "WHERE invite_id = ? ORDER BY member_id LIMIT ?", invite_id, limit)
