"""Stores members and roles. Contains only SQL."""

from collections.abc import Callable

from svc.base.database import Connection, Database
from svc.base.tables import ColumnType, Table, number, value
from svc.chat.access.directory import Member
from svc.chat.access.media_urls import MediaLink
from svc.chat.access.permissions import Role, from_store, to_store

ROLES = Table("roles", Role, permissions=ColumnType(to_store, from_store))
MEMBERS = Table(
    "members",
    Member,
    without=("role_ids", "avatar"),
    names={"timeout_until": "timeout_until_ms"},
    timeout_until_ms=ColumnType(lambda seconds: int(seconds * 1000), lambda ms: ms / 1000),
    status_text=ColumnType(lambda text: text or None, lambda kept: kept or ""),
)


async def load_members(database: Database, avatar: Callable[[str], MediaLink | None]) -> list[Member]:
    """Load all current members. `avatar` returns the URL of the profile picture with the given key."""
    roles: dict[str, list[str]] = {}
    for member_id, role_id in await database.rows("SELECT * FROM member_roles ORDER BY role_id"):
        roles.setdefault(member_id, []).append(role_id)
    sql = f"SELECT avatar_key, {MEMBERS.select()} FROM members WHERE left_at_ms IS NULL"
    return [
        MEMBERS.read(row, role_ids=tuple(roles.get(row[0], ())), avatar=avatar(key) if key else None)
        for key, *row in await database.rows(sql)
    ]


def insert_member(connection: Connection, member: Member) -> None:
    MEMBERS.insert(connection, member)
    for role_id in member.role_ids:
        give_role(connection, member.id, role_id)


def person_of(connection: Connection, member_id: str) -> str | None:
    return value(connection.execute("SELECT person_id FROM members WHERE id = ?", (member_id,)), str)


def is_member(connection: Connection, member_id: str) -> bool:
    return MEMBERS.has(connection, id=member_id, left_at_ms=None)


def change(connection: Connection, member_id: str, column: str, value: object) -> bool:
    """Set a column in a current member's row. Return False for an unknown member."""
    return MEMBERS.edit(connection, {column: value}, id=member_id, left_at_ms=None)


def remove_member(connection: Connection, member_id: str, now_ms: int) -> bool:
    """Mark a member as left and invalidate their access tokens. Return False for an unknown member."""
    connection.execute("DELETE FROM member_roles WHERE member_id = ?", (member_id,))
    raise_epoch(connection, member_id)
    return change(connection, member_id, "left_at_ms", now_ms)


def raise_epoch(connection: Connection, member_id: str) -> int | None:
    """Invalidate a member's access tokens. Return the new epoch, or None for an unknown member."""
    sql = "UPDATE members SET epoch = epoch + 1 WHERE id = ? AND left_at_ms IS NULL RETURNING epoch"
    return value(connection.execute(sql, (member_id,)), int)


def timeout_of(connection: Connection, person_id: str) -> int:
    """Return the latest end of a person's timeouts in all memberships, in ms."""
    sql = "SELECT max(timeout_until_ms) FROM members WHERE person_id = ?"
    return number(connection.execute(sql, (person_id,)))


def give_role(connection: Connection, member_id: str, role_id: str) -> None:
    connection.execute("INSERT OR IGNORE INTO member_roles VALUES (?, ?)", (member_id, role_id))


def take_role(connection: Connection, member_id: str, role_id: str) -> bool:
    """Remove a role from a member. Return False if the member did not have it."""
    sql = "DELETE FROM member_roles WHERE member_id = ? AND role_id = ?"
    return connection.execute(sql, (member_id, role_id)).rowcount == 1


def delete_role(connection: Connection, role_id: str) -> bool:
    connection.execute("DELETE FROM member_roles WHERE role_id = ?", (role_id,))
    return ROLES.delete(connection, id=role_id)
