"""Sets right what a wrong clock has written: at the start, after an import, and when the clock steps back.

A machine without a battery starts with any time; a virtual machine wakes up with an old one; an
export may say anything. Nothing here is later than now for ever: what has been, has been by now, and
what will end does so within the longest time that there is for it. Order is not the clock's business:
ids rise by themselves. No HTTP, no SQL.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import NoReturn

from svc.base.database import Act, Connection, Database, StorageFailed
from svc.base.ids import Ids, number_of
from svc.chat.access.acts import changes_rules
from svc.chat.access.directory import Directory
from svc.chat.stamps import store

HOUR_MS = 60 * 60 * 1000
DAY_MS = 24 * HOUR_MS
# The longest timeout, code, invite and mute that can be asked for; sessions are the operator's to say.
LONGEST_MS: Mapping[tuple[str, str], int] = {
    ("members", "timeout_until_ms"): 28 * DAY_MS,
    ("link_codes", "expires_at_ms"): DAY_MS,
    ("invites", "expires_at_ms"): 3660 * DAY_MS,
    # A job waits for its next attempt, and its worker for the next sign of life, for a minute or so.
    ("jobs", "due_at_ms"): HOUR_MS,
    ("jobs", "lease_until_ms"): HOUR_MS,
    ("notification_levels", "muted_until_ms"): 31 * DAY_MS,
    ("private_key_packages", "expires_at_ms"): 92 * DAY_MS,
}
# A step back that is smaller than this is the usual correction of a clock.
_STEP_S = 5.0
_LOOK_EVERY_S = 10.0

logger = logging.getLogger(__name__)


class Stamps:
    """`now` gives seconds since 1970, and `steady` those of a clock that nobody sets."""

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
        self._longest_ms = {**LONGEST_MS, ("sessions", "expires_at_ms"): session_days * DAY_MS}
        self._now = now
        self._steady = steady
        self._ahead_s = now() - steady()

    async def load(self) -> None:
        """Before anything else is read."""
        self._told(await self._database.write(lambda c: store.set_right(c, self._now_ms(), self._longest_ms)))
        for id_text in await store.newest_ids(self._database):
            self._ids.rise_above(number_of(id_text))

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                await self.look()
            except StorageFailed as fault:
                logger.warning("times in the database could not be corrected", extra={"fault": str(fault)})

    async def look(self) -> None:
        """Has the clock stepped back? Then what was written meanwhile is set right."""
        ahead_s = self._now() - self._steady()
        stepped_back = ahead_s < self._ahead_s - _STEP_S
        self._ahead_s = ahead_s
        if stepped_back:
            await self._set_right()

    @changes_rules
    def _set_right(self) -> Act[int, None]:
        now_ms = self._now_ms()

        def change(connection: Connection) -> int:
            return store.set_right(connection, now_ms, self._longest_ms)

        def then(found: int) -> None:
            self._told(found)
            latest = (now_ms + LONGEST_MS["members", "timeout_until_ms"]) / 1000
            for member in list(self._directory.members.values()):
                if member.joined_at_ms > now_ms or member.timeout_until > latest:
                    until = min(member.timeout_until, latest)
                    joined = min(member.joined_at_ms, now_ms)
                    self._directory.put_member(
                        dataclasses.replace(member, timeout_until=until, joined_at_ms=joined)
                    )

        return Act(change, then)

    def _told(self, found: int) -> None:
        if found:
            logger.warning(
                "corrected times in the database that were later than the clock", extra={"set_right": found}
            )

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def set_right(connection: Connection, now_ms: int) -> int:
    """A step of the write of an import; how many moments it brought that are yet to come."""
    return store.set_right(connection, now_ms, LONGEST_MS)
