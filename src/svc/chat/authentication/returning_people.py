"""Recognises a person by any key or account that they have ever used to sign in to this server.

A person who leaves, deletes their data or unlinks a device and then returns becomes a new member, but stays
the same person, so bans and timeouts still apply. Keys and accounts are stored as keyed hashes ("marks")
while the server stores one of the person's identities in plain text. After a person deletes their data, the
marks are kept for `RETENTION_MS`, so that the person can still be banned. During a punishment, they are
always kept. Other features define punishments. Contains no HTTP code.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.sealing_key import SealingKey
from svc.base.tasks import continue_on_errors
from svc.chat.authentication import store
from svc.chat.authentication.jwt_verification import Identity
from svc.chat.errors import ChatError

KEY_FILE = "identity-key"
# How long marks are kept: long enough to read a report and ban somebody who has already deleted everything.
RETENTION_MS = 30 * 24 * 3_600_000
# The maximum number of marks per person, enough for 20 devices that are all replaced weekly for a year. Each
# mark uses about 100 bytes.
MAX_MARKS = 1000
SWEEP_INTERVAL_S = 3600.0
# The maximum number of people whose marks are deleted in one write transaction.
_AT_ONCE = 200

_FAULT_MESSAGES = "marks could not be swept", "sweeping marks failed"

logger = logging.getLogger(__name__)

# Returns whether a person is punished at the given time in ms. Called within a write transaction.
Punished = Callable[[Connection, str, int], bool]


class ReturningPeople:
    """The stored marks, which identify people. Call methods that take a connection within a write
    transaction.
    """

    def __init__(self, database: Database, data_dir: Path, punished: Sequence[Punished]) -> None:
        self._database = database
        self._key = SealingKey.load(data_dir / KEY_FILE)
        self._punished = punished

    async def load(self) -> None:
        """Add the marks that an earlier version or an import did not store."""

        def change(connection: Connection) -> None:
            store.name_nameless(connection)
            for issuer, subject, person_id in store.identities(connection):
                store.insert_mark(connection, self._mark(issuer, subject), person_id)

        await self._database.write(change)

    def persons_of(self, connection: Connection, identity: Identity) -> list[str]:
        """Return the ids of the people who have used this identity or the device's key, in this order."""
        persons = [store.person_of(connection, mark) for mark in self._marks(identity)]
        return list(dict.fromkeys(person_id for person_id in persons if person_id))

    def recognise(self, connection: Connection, identity: Identity, now_ms: int) -> str | None:
        """Return the id of the person who is joining, or None for a new person.

        A punished person takes precedence. Otherwise, only the identity matters.
        """
        known = self.persons_of(connection, identity)
        punished = (person_id for person_id in known if self._is_punished(connection, person_id, now_ms))
        owner_of_identity = store.person_of(connection, self._marks(identity)[0])
        return next(punished, owner_of_identity)

    def record_member(self, connection: Connection, identity: Identity, person_id: str) -> None:
        """Record the identity of a new member, unless it already belongs to a person."""
        store.insert_mark(connection, self._marks(identity)[0], person_id)

    def record_link(self, connection: Connection, identity: Identity, person_id: str, now_ms: int) -> None:
        """Record an identity added to a member. Raises ChatError if it belongs to a punished person."""
        for other_id in self.persons_of(connection, identity):
            if other_id != person_id and self._is_punished(connection, other_id, now_ms):
                raise ChatError(
                    "banned", "This key or account belongs to someone who is banned or in timeout here"
                )
        if store.count(connection, person_id, MAX_MARKS) >= MAX_MARKS:
            raise ChatError("too_many_devices", f"You have linked {MAX_MARKS} keys, which is the limit")
        store.put(connection, self._marks(identity)[0], person_id)

    def record_device(self, connection: Connection, identity: Identity, person_id: str) -> None:
        """Record the device's key at a sign-in, unless it belongs to another person."""
        mark = self._marks(identity)[-1]
        if store.person_of(connection, mark) is not None:
            return
        # Above this limit, an account is still recognised, but the person's new devices are not.
        if store.count(connection, person_id, MAX_MARKS) < MAX_MARKS:
            store.insert_mark(connection, mark, person_id)

    async def sweep(self, now_ms: int) -> None:
        """Delete the marks of unpunished people who deleted their data long ago."""
        after: str | None = ""
        while after is not None:
            step = partial(self._sweep_some, after=after, now_ms=now_ms)
            after = await self._database.write(step)

    def _sweep_some(self, connection: Connection, after: str, now_ms: int) -> str | None:
        """Delete the marks of some people. Return the position to continue from, or None at the end."""
        expired = store.expired_persons(connection, now_ms - RETENTION_MS, after, _AT_ONCE)
        for person_id in expired:
            if not self._is_punished(connection, person_id, now_ms):
                store.forget(connection, person_id)
        return expired[-1] if len(expired) == _AT_ONCE else None

    async def run(self) -> NoReturn:
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self.sweep(int(time.time() * 1000))
            await asyncio.sleep(SWEEP_INTERVAL_S)

    def _is_punished(self, connection: Connection, person_id: str, now_ms: int) -> bool:
        return any(punished(connection, person_id, now_ms) for punished in self._punished)

    def _marks(self, identity: Identity) -> tuple[bytes, bytes]:
        """Return the marks of the identity and of the device's key, which may be the same."""
        return self._mark(identity.issuer, identity.subject), self._mark("", identity.thumbprint)

    def _mark(self, issuer: str, subject: str) -> bytes:
        return self._key.fingerprint(f"{issuer}\n{subject}", "identity")
