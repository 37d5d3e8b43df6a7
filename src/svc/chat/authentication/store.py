"""Stores identities, devices, sessions, codes and marks. Contains only SQL."""

import sqlite3
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import Table, number, value
from svc.chat.authentication.jwt_verification import ACCOUNT, LOCAL, Identity, Tier
from svc.chat.authentication.one_time_codes import Kind
from svc.chat.authentication.refresh import StoredSession
from svc.chat.schemas import Id, TimeMs

MAX_DEVICE_NAME_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Device:
    """A device. Its tier is `local` if its key is itself an identity, and not part of an account."""

    id: Id
    name: Annotated[str, Meta(max_length=MAX_DEVICE_NAME_CHARACTERS)]
    tier: Tier
    # Whether this device made the request.
    current: bool
    added_at_ms: TimeMs
    last_seen_at_ms: TimeMs


# Identities.


def has_members(connection: Connection) -> bool:
    """Return whether anybody has ever become a member."""
    return connection.execute("SELECT 1 FROM identities LIMIT 1").fetchone() is not None


def member_of(connection: Connection, identity: Identity) -> str | None:
    """Return the id of the current or former member with this identity."""
    sql = "SELECT member_id FROM identities WHERE issuer = ? AND subject = ?"
    return value(connection.execute(sql, (identity.issuer, identity.subject)), str)


def bind(connection: Connection, identity: Identity, member_id: str, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO identities VALUES (?, ?, ?, ?)"
        " ON CONFLICT (issuer, subject) DO UPDATE SET member_id = excluded.member_id",
        (identity.issuer, identity.subject, member_id, now_ms),
    )


def move(connection: Connection, from_id: str, to_id: str) -> None:
    """Move the identities and devices of a former member to the person's new member id."""
    for table in ("identities", "devices"):
        connection.execute(f"UPDATE {table} SET member_id = ? WHERE member_id = ?", (to_id, from_id))


def count_identities(connection: Connection, member_id: str) -> int:
    return number(connection.execute("SELECT count(*) FROM identities WHERE member_id = ?", (member_id,)))


def unbind_all(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM identities WHERE member_id = ?", (member_id,))
    connection.execute("DELETE FROM devices WHERE member_id = ?", (member_id,))


# Devices.


async def devices(database: Database, member_id: str, current: str | None) -> list[Device]:
    """Return a member's devices, most recently used first. `current` is the id of the requesting device."""
    rows = await database.rows(
        "SELECT d.*, i.member_id IS NOT NULL AS is_identity FROM devices d"
        " LEFT JOIN identities i ON i.issuer = '' AND i.subject = d.thumbprint AND i.member_id = d.member_id"
        " WHERE d.member_id = ? ORDER BY d.last_seen_at_ms DESC, d.id DESC",
        (member_id,),
    )
    return [_device(row, LOCAL if row["is_identity"] else ACCOUNT, current) for row in rows]


async def last_seen(database: Database) -> dict[str, int]:
    """Return when each member with a device was last seen, in ms since 1970."""
    rows = await database.rows(
        "SELECT member_id, max(last_seen_at_ms) AS seen FROM devices GROUP BY member_id"
    )
    return {row["member_id"]: row["seen"] for row in rows}


async def device_of_session(database: Database, session_id: str) -> str | None:
    row = await database.row("SELECT device_id FROM sessions WHERE id = ?", (session_id,))
    return row["device_id"] if row else None


def of_session(connection: Connection, session_id: str) -> tuple[str, str] | None:
    """Return the id and key thumbprint of a session's device."""
    row = connection.execute(
        "SELECT d.id, d.thumbprint FROM devices d JOIN sessions s ON s.device_id = d.id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return (row["id"], row["thumbprint"]) if row else None


def record_device(
    connection: Connection, member_id: str, identity: Identity, name: str, new_id: str, now_ms: int
) -> Device:
    """Record that the device with this key was used. If it is new, create it with `new_id` and `name`."""
    row = connection.execute(
        "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (member_id, thumbprint) DO UPDATE SET last_seen_at_ms = excluded.last_seen_at_ms"
        " RETURNING *",
        (new_id, member_id, identity.thumbprint, name, now_ms, now_ms),
    ).fetchone()
    return _device(row, identity.tier)


def record_use(connection: Connection, device_id: str, now_ms: int) -> None:
    connection.execute("UPDATE devices SET last_seen_at_ms = ? WHERE id = ?", (now_ms, device_id))


def thumbprint_of(connection: Connection, member_id: str, device_id: str) -> str | None:
    sql = "SELECT thumbprint FROM devices WHERE id = ? AND member_id = ?"
    return value(connection.execute(sql, (device_id, member_id)), str)


def remove_device(connection: Connection, member_id: str, thumbprint: str) -> None:
    """Delete a device, its sessions, and the identity that consists of its key."""
    connection.execute("DELETE FROM devices WHERE member_id = ? AND thumbprint = ?", (member_id, thumbprint))
    connection.execute(
        "DELETE FROM identities WHERE issuer = '' AND subject = ? AND member_id = ?", (thumbprint, member_id)
    )


def count_devices(connection: Connection, member_id: str) -> int:
    return number(connection.execute("SELECT count(*) FROM devices WHERE member_id = ?", (member_id,)))


def forget_oldest_devices(connection: Connection, member_id: str, maximum: int) -> None:
    """Delete the least recently used devices beyond `maximum`, except those whose key is also the member's
    identity.
    """
    connection.execute(
        "DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE member_id = ?1"
        " ORDER BY last_seen_at_ms DESC, id DESC LIMIT -1 OFFSET ?2) AND thumbprint NOT IN"
        " (SELECT subject FROM identities WHERE issuer = '' AND member_id = ?1)",
        (member_id, maximum),
    )


# Sessions.


SESSIONS = Table("sessions", StoredSession)


def sessions_of(connection: Connection, member_id: str) -> frozenset[str]:
    return frozenset(SESSIONS.column(connection, "id", member_id=member_id))


def keep_newest_sessions(connection: Connection, device_id: str, maximum: int) -> None:
    connection.execute(
        "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE device_id = ?"
        " ORDER BY id DESC LIMIT -1 OFFSET ?)",
        (device_id, maximum),
    )


def remove_ended(connection: Connection, now_ms: int) -> None:
    connection.execute("DELETE FROM sessions WHERE expires_at_ms <= ?", (now_ms,))
    connection.execute("DELETE FROM link_codes WHERE expires_at_ms <= ?", (now_ms,))


# Codes.


def put_code(
    connection: Connection, kind: Kind, member_id: str, code_hash: bytes, expires_at_ms: int
) -> None:
    """Store a code. It replaces the member's earlier code of the same kind."""
    connection.execute(
        "INSERT OR REPLACE INTO link_codes VALUES (?, ?, ?, ?)",
        (kind.value, member_id, code_hash, expires_at_ms),
    )


def take_code(connection: Connection, kind: Kind, code_hash: bytes, now_ms: int) -> str | None:
    """Consume a code. Return the id of its member, or None if the code is used, expired or unknown."""
    sql = "DELETE FROM link_codes WHERE kind = ? AND hash = ? AND expires_at_ms > ? RETURNING member_id"
    return value(connection.execute(sql, (kind.value, code_hash, now_ms)), str)


def keep_code(connection: Connection, member_id: str, code_hash: bytes, now_ms: int) -> None:
    """Store a member's recovery code, replacing any earlier one."""
    connection.execute("INSERT OR REPLACE INTO kept_codes VALUES (?, ?, ?)", (member_id, code_hash, now_ms))


async def kept_code_made_at_ms(database: Database, member_id: str) -> int | None:
    rows = await database.rows("SELECT made_at_ms FROM kept_codes WHERE member_id = ?", (member_id,))
    return rows[0]["made_at_ms"] if rows else None


def take_kept_code(connection: Connection, code_hash: bytes) -> str | None:
    """Consume a recovery code that a member created in advance. Return the member's id, or None."""
    sql = "DELETE FROM kept_codes WHERE hash = ? RETURNING member_id"
    return value(connection.execute(sql, (code_hash,)), str)


def drop_codes(connection: Connection, member_id: str) -> None:
    for table in ("link_codes", "kept_codes"):
        connection.execute(f"DELETE FROM {table} WHERE member_id = ?", (member_id,))


def drop_own_codes(connection: Connection, member_id: str) -> None:
    """Delete the codes that one of the member's devices might have created."""
    drop_link_code(connection, member_id)
    connection.execute("DELETE FROM kept_codes WHERE member_id = ?", (member_id,))


def drop_link_code(connection: Connection, member_id: str) -> None:
    """Delete a member's link code. A recovery code from the owner stays valid, because the owner may have
    created it after a device was lost.
    """
    connection.execute(
        "DELETE FROM link_codes WHERE kind = ? AND member_id = ?", (Kind.LINK.value, member_id)
    )


def drop_recovery_codes(connection: Connection) -> None:
    connection.execute("DELETE FROM link_codes WHERE kind = ?", (Kind.RECOVERY.value,))


def _device(row: sqlite3.Row, tier: Tier, current: str | None = None) -> Device:
    is_current = row["id"] == current
    return Device(row["id"], row["name"], tier, is_current, row["added_at_ms"], row["last_seen_at_ms"])


def name_nameless(connection: Connection) -> None:
    connection.execute("UPDATE members SET person_id = id WHERE person_id = ''")


def identities(connection: Connection) -> list[tuple[str, str, str]]:
    """Return the issuer, subject and person id of each stored identity, and then of each device's key."""
    rows = connection.execute(
        "SELECT 1, issuer, subject, m.person_id FROM identities i JOIN members m ON m.id = i.member_id"
        " UNION ALL SELECT 2, '', thumbprint, m.person_id FROM devices d JOIN members m ON m.id = d.member_id"
        " ORDER BY 1"
    )
    return [(row[1], row[2], row[3]) for row in rows]


def person_of(connection: Connection, mark: bytes) -> str | None:
    return value(connection.execute("SELECT person_id FROM marks WHERE mark = ?", (mark,)), str)


def insert_mark(connection: Connection, mark: bytes, person_id: str) -> None:
    """Store a mark, unless it already belongs to a person."""
    connection.execute("INSERT OR IGNORE INTO marks VALUES (?, ?)", (mark, person_id))


def put(connection: Connection, mark: bytes, person_id: str) -> None:
    connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (mark, person_id))


def count(connection: Connection, person_id: str, maximum: int) -> int:
    """Count a person's marks, up to `maximum`."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM marks WHERE person_id = ? LIMIT ?)"
    return number(connection.execute(sql, (person_id, maximum)))


def expired_persons(connection: Connection, before_ms: int, after: str, limit: int) -> list[str]:
    """Return the ids of people who have marks, left before the given time, and have no membership or stored
    identity.
    """
    rows = connection.execute(
        "SELECT DISTINCT person_id FROM marks k WHERE person_id > ? AND NOT EXISTS (SELECT 1 FROM members m"
        " WHERE m.person_id = k.person_id AND (m.left_at_ms IS NULL OR m.left_at_ms > ?"
        " OR EXISTS (SELECT 1 FROM identities i WHERE i.member_id = m.id)))"
        " ORDER BY person_id LIMIT ?",
        (after, before_ms, limit),
    )
    return [row["person_id"] for row in rows]


def forget(connection: Connection, person_id: str) -> None:
    """Delete a person's marks, and make each of the person's memberships a separate person."""
    connection.execute("DELETE FROM marks WHERE person_id = ?", (person_id,))
    connection.execute("UPDATE members SET person_id = id WHERE person_id = ?", (person_id,))
