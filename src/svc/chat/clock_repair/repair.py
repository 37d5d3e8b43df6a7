"""Repairs wrong times in the database at startup, after an import, and when the clock steps back.

A machine without a clock battery starts with an arbitrary time, a virtual machine resumes with an old one,
and an export may contain arbitrary times. Times of past events are capped at the current time, and expiries
at the latest possible time. The order of rows does not depend on the clock, because ids always ascend.
Contains no HTTP code.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed, Write
from svc.base.ids import Ids, number_of
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Directory

HOUR_MS = 60 * 60 * 1000
DAY_MS = 24 * HOUR_MS
# Columns with times of past events, which are capped at the current time.
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
    "linked_accounts": ("made_at_ms",),
    "account_confirmations": ("made_at_ms",),
    "private_key_packages": ("taken_at_ms",),
    "private_conversations": ("created_at_ms",),
    "private_welcomes": ("sent_at_ms",),
    "private_files": ("sent_at_ms",),
}
# Columns with times of past events in potentially very large tables. Checked only if another table contained
# a wrong time.
PAST_OF_LARGE: Mapping[str, Sequence[str]] = {
    "messages": ("edited_at_ms",),
    "message_edits": ("replaced_at_ms",),
    "reactions": ("reacted_at_ms",),
    "private_entries": ("sent_at_ms",),
}
# Columns with future times, and how far in the future they can be. For sessions, the operator sets the limit.
# Audit log entries never change. `cap_future_times` handles messages separately.
MAX_AHEAD_MS: Mapping[tuple[str, str], int] = {
    ("members", "timeout_until_ms"): 28 * DAY_MS,
    ("link_codes", "expires_at_ms"): DAY_MS,
    ("invites", "expires_at_ms"): 3660 * DAY_MS,
    # A job's next attempt and a worker's lease end within about a minute.
    ("jobs", "due_at_ms"): HOUR_MS,
    ("jobs", "lease_until_ms"): HOUR_MS,
    ("notification_levels", "muted_until_ms"): 31 * DAY_MS,
    ("private_key_packages", "expires_at_ms"): 92 * DAY_MS,
}
# Tables with ascending ids from our generator.
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
# A smaller step backwards is an ordinary clock correction.
_STEP_S = 5.0
_LOOK_EVERY_S = 10.0

logger = logging.getLogger(__name__)


class ClockRepair:
    """The repair of stored times. `now` returns seconds since 1970. `steady` is a monotonic clock."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        ids: Ids,
        session_days: int,
        now: Callable[[], float],
        steady: Callable[[], float],
    ) -> None:
        self._database = database
        self._directory = directory
        self._ids = ids
        self._longest_ms = {**MAX_AHEAD_MS, ("sessions", "expires_at_ms"): session_days * DAY_MS}
        self._now = now
        self._steady = steady
        self._ahead_s = now() - steady()

    async def load(self) -> None:
        """Repair the database. Call this before anything else is read from it."""
        self._report(
            await self._database.write(lambda c: cap_future_times(c, self._now_ms(), self._longest_ms))
        )
        for id_text in await _newest_ids(self._database):
            self._ids.rise_above(number_of(id_text))

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                await self.check()
            except StorageFailed as fault:
                logger.warning("times in the database could not be corrected", extra={"fault": str(fault)})

    async def check(self) -> None:
        """Repair times if the clock has stepped back."""
        ahead_s = self._now() - self._steady()
        stepped_back = ahead_s < self._ahead_s - _STEP_S
        self._ahead_s = ahead_s
        if stepped_back:
            await self._correct()

    @exclusive_write
    def _correct(self) -> Write[int, None]:
        now_ms = self._now_ms()

        def change(connection: Connection) -> int:
            return cap_future_times(connection, now_ms, self._longest_ms)

        def then(corrected: int) -> None:
            self._report(corrected)
            latest = (now_ms + MAX_AHEAD_MS["members", "timeout_until_ms"]) / 1000
            for member in list(self._directory.members.values()):
                if member.joined_at_ms > now_ms or member.timeout_until > latest:
                    until = min(member.timeout_until, latest)
                    joined = min(member.joined_at_ms, now_ms)
                    self._directory.put_member(
                        dataclasses.replace(member, timeout_until=until, joined_at_ms=joined)
                    )

        return Write(change, then)

    def _report(self, corrected: int) -> None:
        if corrected:
            logger.warning(
                "corrected times in the database that were later than the clock",
                extra={"set_right": corrected},
            )

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def cap_future_times(
    connection: Connection, now_ms: int, longest_ms: Mapping[tuple[str, str], int] = MAX_AHEAD_MS
) -> int:
    """Cap all times that are too far in the future. Return how many were capped. Call this within a write
    transaction.
    """
    corrected = _past(connection, PAST, now_ms)
    # Message numbers do not change, so messages keep their order. Only the displayed times change.
    corrected += connection.execute(
        "UPDATE messages SET posted_at_ms = ?1"
        " WHERE n >= (?1 + 1) << 12 AND coalesce(posted_at_ms, n >> 12) > ?1",
        (now_ms,),
    ).rowcount
    for (table, column), maximum in longest_ms.items():
        corrected += _cap_column(connection, table, column, now_ms + maximum)
    if corrected:
        corrected += _past(connection, PAST_OF_LARGE, now_ms)
    return corrected


def _past(connection: Connection, tables: Mapping[str, Sequence[str]], now_ms: int) -> int:
    return sum(
        _cap_column(connection, table, column, now_ms)
        for table, columns in tables.items()
        for column in columns
    )


def _cap_column(connection: Connection, table: str, column: str, latest_ms: int) -> int:
    sql = f"UPDATE {table} SET {column} = ?1 WHERE {column} > ?1"
    return connection.execute(sql, (latest_ms,)).rowcount


async def _newest_ids(database: Database) -> list[str]:
    """Return each table's newest id from our generator."""
    sql = " UNION ALL ".join(
        f"SELECT max(id) AS id FROM {table} WHERE id GLOB '????????-????-7???-????-????????????'"
        for table in _WITH_IDS
    )
    return [row["id"] for row in await database.rows(sql) if row["id"] is not None]
