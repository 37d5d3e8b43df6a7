"""The tables of members and roles. SQL only."""

from svc.base.database import Connection, Database
from svc.chat.access.directory import Member
from svc.chat.access.permissions import Role, stored


async def load_members(database: Database) -> list[Member]:
    """Everybody who has not left."""
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
            avatar_key=row["avatar_key"],
        )
        for row in found
    ]


async def load_roles(database: Database) -> list[Role]:
    return [
        Role(row["id"], row["name"], row["rank"], stored(row["permissions"]), row["color"])
        for row in await database.rows("SELECT * FROM roles")
    ]


def insert_member(connection: Connection, member: Member) -> None:
    connection.execute(
        "INSERT INTO members (id, nickname, epoch, joined_at_ms) VALUES (?, ?, ?, ?)",
        (member.id, member.nickname, member.epoch, member.joined_at_ms),
    )
    connection.executemany(
        "INSERT INTO member_roles VALUES (?, ?)", [(member.id, role_id) for role_id in member.role_ids]
    )
