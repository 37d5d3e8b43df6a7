"""Every column that holds a moment, and setting right those that are later than can be. SQL only."""

from collections.abc import Mapping, Sequence

from svc.base.database import Connection, Database

# Moments that have been: none is later than now.
PAST: Mapping[str, Sequence[str]] = {
    "members": ("joined_at_ms", "left_at_ms"),
    "identities": ("added_at_ms",),
    "devices": ("added_at_ms", "last_seen_at_ms"),
    "sessions": ("rotated_at_ms",),
    "channels": ("created_at_ms",),
    "pins": ("pinned_at_ms",),
    "message_nonces": ("used_at_ms",),
    "invites": ("created_at_ms",),
    "invite_joins": ("at_ms",),
    "invited": ("at_ms",),
    "applications": ("asked_at_ms", "decided_at_ms"),
    "bans": ("banned_at_ms",),
    "reports": ("created_at_ms", "resolved_at_ms"),
    "automod_rules": ("created_at_ms",),
    "blocks": ("created_at_ms",),
    "erasures": ("asked_at_ms", "since_ms", "until_ms"),
    "webhooks": ("created_at_ms",),
    "bot_tokens": ("created_at_ms",),
    "objects": ("created_at_ms", "idle_since_ms"),
    "uploads": ("created_at_ms", "changed_at_ms"),
    "jobs": ("created_at_ms",),
    "drafts": ("changed_at_ms",),
    "emoji": ("created_at_ms",),
    "private_devices": ("added_at_ms",),
    "kept_codes": ("made_at_ms",),
    "private_key_packages": ("taken_at_ms",),
    "private_conversations": ("created_at_ms",),
    "private_welcomes": ("sent_at_ms",),
    "private_files": ("sent_at_ms",),
}
# The same of tables that may be very large. They are looked through only where something else was wrong.
PAST_OF_LARGE: Mapping[str, Sequence[str]] = {
    "messages": ("edited_at_ms",),
    "message_edits": ("replaced_at_ms",),
    "reactions": ("reacted_at_ms",),
    "private_entries": ("sent_at_ms",),
}
# Moments to come, which are at most so many ms away: see `rules`.
ENDS: Mapping[str, Sequence[str]] = {
    "members": ("timeout_until_ms",),
    "sessions": ("expires_at_ms",),
    "link_codes": ("expires_at_ms",),
    "invites": ("expires_at_ms",),
    "jobs": ("due_at_ms", "lease_until_ms"),
    "notification_levels": ("muted_until_ms",),
    "private_key_packages": ("expires_at_ms",),
}
# An entry of the audit log is never changed. A message's own moment has a rule of its own below.
LEFT_ALONE = {("audit_log", "at_ms"), ("messages", "posted_at_ms")}
# Whose ids are made by one maker, and rise.
_WITH_IDS = (
    "members",
    "devices",
    "sessions",
    "roles",
    "channels",
    "invites",
    "reports",
    "webhooks",
    "uploads",
    "private_conversations",
    "private_welcomes",
    "private_files",
)


def set_right(connection: Connection, now_ms: int, longest_ms: Mapping[tuple[str, str], int]) -> int:
    """How many moments were later than they can be, and have been set to the latest that can be."""
    found = _past(connection, PAST, now_ms) + _messages(connection, now_ms)
    for (table, column), most in longest_ms.items():
        found += connection.execute(
            f"UPDATE {table} SET {column} = ?1 WHERE {column} > ?1", (now_ms + most,)
        ).rowcount
    if found:
        found += _past(connection, PAST_OF_LARGE, now_ms)
    return found


async def newest_ids(database: Database) -> list[str]:
    """The last of each table, of those that our maker may have made."""
    sql = " UNION ALL ".join(
        f"SELECT max(id) AS id FROM {table} WHERE id GLOB '????????-????-7???-????-????????????'"
        for table in _WITH_IDS
    )
    return [row["id"] for row in await database.rows(sql) if row["id"] is not None]


def _past(connection: Connection, tables: Mapping[str, Sequence[str]], now_ms: int) -> int:
    found = 0
    for table, columns in tables.items():
        for column in columns:
            found += connection.execute(
                f"UPDATE {table} SET {column} = ?1 WHERE {column} > ?1", (now_ms,)
            ).rowcount
    return found


def _messages(connection: Connection, now_ms: int) -> int:
    """Cursors stay, so that the order does; the moments that are shown do not."""
    return connection.execute(
        "UPDATE messages SET posted_at_ms = ?1"
        " WHERE n >= (?1 + 1) << 12 AND coalesce(posted_at_ms, n >> 12) > ?1",
        (now_ms,),
    ).rowcount
