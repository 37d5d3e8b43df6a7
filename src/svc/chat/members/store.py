"""The tables of members and roles. SQL only."""

from collections.abc import Callable

from svc.base.database import Connection, Database
from svc.base.tables import Form, Table, number, value
from svc.chat.access.directory import Avatar, Member
from svc.chat.access.permissions import Role, stored, to_store

ROLES = Table("roles", Role, permissions=Form(to_store, stored))


async def load_members(database: Database, avatar: Callable[[str], Avatar | None]) -> list[Member]:
    """Everybody who has not left; `avatar` makes a picture of its key."""
    roles: dict[str, list[str]] = {}
    for row in await database.rows("SELECT member_id, role_id FROM member_roles ORDER BY role_id"):
        roles.setdefault(row["member_id"], []).append(row["role_id"])
    found = await database.rows("SELECT * FROM members WHERE left_at_ms IS NULL")
    return [
        Member(
            id=row["id"],
            nickname=row["nickname"],
            role_ids=tuple(roles.get(row["id"], ())),
            epoch=row["epoch"],
            timeout_until=row["timeout_until_ms"] / 1000,
            joined_at_ms=row["joined_at_ms"],
            avatar=avatar(row["avatar_key"]) if row["avatar_key"] else None,
            person_id=row["person_id"],
            status_text=row["status_text"] or "",
            bot=bool(row["bot"]),
        )
        for row in found
    ]


def insert_member(connection: Connection, member: Member) -> None:
    connection.execute(
        "INSERT INTO members (id, nickname, epoch, joined_at_ms, person_id, timeout_until_ms, bot)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(member.id, member.nickname, member.epoch, member.joined_at_ms),
            *(member.person_id, int(member.timeout_until * 1000), member.bot),
        ),
    )
    connection.executemany(
        "INSERT INTO member_roles VALUES (?, ?)", [(member.id, role_id) for role_id in member.role_ids]
    )


def person_of(connection: Connection, member_id: str) -> str | None:
    return value(connection.execute("SELECT person_id FROM members WHERE id = ?", (member_id,)), str)


def count_members(connection: Connection) -> int:
    return number(connection.execute("SELECT count(*) FROM members WHERE left_at_ms IS NULL"))


def is_member(connection: Connection, member_id: str) -> bool:
    found = connection.execute("SELECT 1 FROM members WHERE id = ? AND left_at_ms IS NULL", (member_id,))
    return found.fetchone() is not None


def remove_member(connection: Connection, member_id: str, now_ms: int) -> bool:
    """Mark a member as gone and void their access tokens; False for somebody who is none."""
    connection.execute("DELETE FROM member_roles WHERE member_id = ?", (member_id,))
    changed = connection.execute(
        "UPDATE members SET left_at_ms = ?, epoch = epoch + 1 WHERE id = ? AND left_at_ms IS NULL",
        (now_ms, member_id),
    )
    return changed.rowcount == 1


def make_nameless(connection: Connection, member_id: str, nickname: str) -> None:
    connection.execute(
        "UPDATE members SET nickname = ?, avatar_key = NULL, status_text = NULL WHERE id = ?",
        (nickname, member_id),
    )


def raise_epoch(connection: Connection, member_id: str) -> int | None:
    """Void a member's access tokens; the new epoch, or None for somebody who is no member."""
    sql = "UPDATE members SET epoch = epoch + 1 WHERE id = ? AND left_at_ms IS NULL RETURNING epoch"
    return value(connection.execute(sql, (member_id,)), int)


def set_nickname(connection: Connection, member_id: str, nickname: str) -> bool:
    changed = connection.execute(
        "UPDATE members SET nickname = ? WHERE id = ? AND left_at_ms IS NULL", (nickname, member_id)
    )
    return changed.rowcount == 1


def set_status(connection: Connection, member_id: str, text: str) -> bool:
    changed = connection.execute(
        "UPDATE members SET status_text = ? WHERE id = ? AND left_at_ms IS NULL", (text or None, member_id)
    )
    return changed.rowcount == 1


def set_avatar(connection: Connection, member_id: str, key: str | None) -> bool:
    changed = connection.execute(
        "UPDATE members SET avatar_key = ? WHERE id = ? AND left_at_ms IS NULL", (key, member_id)
    )
    return changed.rowcount == 1


def set_timeout(connection: Connection, person_id: str, until_ms: int) -> None:
    """Of all members that the person is or was."""
    connection.execute("UPDATE members SET timeout_until_ms = ? WHERE person_id = ?", (until_ms, person_id))


def timeout_of(connection: Connection, person_id: str) -> int:
    """Until when, in ms."""
    return number(
        connection.execute("SELECT max(timeout_until_ms) FROM members WHERE person_id = ?", (person_id,))
    )


def give_role(connection: Connection, member_id: str, role_id: str) -> None:
    connection.execute("INSERT OR IGNORE INTO member_roles VALUES (?, ?)", (member_id, role_id))


def take_role(connection: Connection, member_id: str, role_id: str) -> bool:
    """False when they did not have it."""
    changed = connection.execute(
        "DELETE FROM member_roles WHERE member_id = ? AND role_id = ?", (member_id, role_id)
    )
    return changed.rowcount == 1


def delete_role(connection: Connection, role_id: str) -> bool:
    connection.execute("DELETE FROM member_roles WHERE role_id = ?", (role_id,))
    return connection.execute("DELETE FROM roles WHERE id = ?", (role_id,)).rowcount == 1
