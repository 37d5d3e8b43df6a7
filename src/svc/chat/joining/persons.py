"""Who is the same person as whom, by every key and account that anybody has ever proven here.

A person who leaves, deletes their data or unlinks a device and comes back becomes another member, and
stays the same person: what moderators did to them holds. Keys and accounts are kept as keyed hashes
("marks"), for as long as the server knows an identity of the person in clear. Of a person who deleted
their data they are kept for `KEPT_MS`, so that they can still be banned, and while a punishment lasts.
Other features say what a punishment is. No HTTP.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed
from svc.base.sealing import SealingKey
from svc.base.tasks import undeterred
from svc.chat.errors import ChatError
from svc.chat.joining import store
from svc.chat.joining.proof import Identity

KEY_FILE = "identity-key"
# Long enough for a report to be read, and for a ban of somebody who has already deleted everything.
KEPT_MS = 30 * 24 * 3_600_000
# Marks of one person: 20 devices, replaced every week for a year. They cost some 100 bytes each.
MOST_MARKS = 1000
SWEEP_INTERVAL_S = 3600.0
# Persons looked at in one write.
_AT_ONCE = 200

_SAID = "marks could not be swept", "sweeping marks failed"

logger = logging.getLogger(__name__)

# Does a punishment of this person last, at this time in ms? A step of a write.
Punished = Callable[[Connection, str, int], bool]


class Persons:
    """The methods that take a connection are steps of writes."""

    def __init__(self, database: Database, data_dir: Path, punished: Sequence[Punished]) -> None:
        self._database = database
        self._key = SealingKey.kept_in(data_dir / KEY_FILE)
        self._punished = punished

    async def load(self) -> None:
        """Make up for what an earlier version, or an import, has not written down."""

        def change(connection: Connection) -> None:
            store.name_nameless(connection)
            for issuer, subject, person_id in store.identities(connection):
                store.put_new(connection, self._mark(issuer, subject), person_id)

        await self._database.write(change)

    def known(self, connection: Connection, identity: Identity) -> list[str]:
        """Whose the identity was before, then whose the device's key was."""
        found = [store.person_of(connection, mark) for mark in self._marks(identity)]
        return list(dict.fromkeys(person_id for person_id in found if person_id))

    def same_as(self, connection: Connection, identity: Identity, now_ms: int) -> str | None:
        """Who somebody is who joins: who was punished comes first, and an identity before a device."""
        known = self.known(connection, identity)
        punished = (person_id for person_id in known if self._is_punished(connection, person_id, now_ms))
        whose_identity = store.person_of(connection, self._marks(identity)[0])
        return next(punished, whose_identity)

    def joined(self, connection: Connection, identity: Identity, person_id: str) -> None:
        """Somebody has become a member: their identity stays whose it was."""
        store.put_new(connection, self._marks(identity)[0], person_id)

    def linked(self, connection: Connection, identity: Identity, person_id: str, now_ms: int) -> None:
        """An identity is added to a member. Raises ChatError for one that is being punished elsewhere."""
        for other_id in self.known(connection, identity):
            if other_id != person_id and self._is_punished(connection, other_id, now_ms):
                raise ChatError(
                    "banned", "This key or account belongs to somebody who is banned or in timeout here"
                )
        if store.count(connection, person_id, MOST_MARKS) >= MOST_MARKS:
            raise ChatError("too_many_devices", f"You have linked {MOST_MARKS} keys, which is the limit")
        store.put(connection, self._marks(identity)[0], person_id)

    def seen(self, connection: Connection, identity: Identity, person_id: str) -> None:
        """Somebody signs in: the key of their device counts too, unless it is another person's."""
        mark = self._marks(identity)[-1]
        if store.person_of(connection, mark) is not None:
            return
        # Beyond the limit an account is still recognised, new devices of it are not.
        if store.count(connection, person_id, MOST_MARKS) < MOST_MARKS:
            store.put_new(connection, mark, person_id)

    async def sweep(self, now_ms: int) -> None:
        """Forget those who deleted their data long enough ago and are not being punished."""
        after: str | None = ""
        while after is not None:
            step = partial(self._sweep_some, after=after, now_ms=now_ms)
            after = await self._database.write(step)

    def _sweep_some(self, connection: Connection, after: str, now_ms: int) -> str | None:
        """Where to go on; None at the end."""
        gone = store.gone(connection, now_ms - KEPT_MS, after, _AT_ONCE)
        for person_id in gone:
            if not self._is_punished(connection, person_id, now_ms):
                store.forget(connection, person_id)
        return gone[-1] if len(gone) == _AT_ONCE else None

    async def run(self) -> NoReturn:
        while True:
            async with undeterred(logger, StorageFailed, *_SAID):
                await self.sweep(int(time.time() * 1000))
            await asyncio.sleep(SWEEP_INTERVAL_S)

    def _is_punished(self, connection: Connection, person_id: str, now_ms: int) -> bool:
        return any(punished(connection, person_id, now_ms) for punished in self._punished)

    def _marks(self, identity: Identity) -> tuple[bytes, bytes]:
        """Of the identity and of the device's key, which may be the same."""
        return self._mark(identity.issuer, identity.subject), self._mark("", identity.thumbprint)

    def _mark(self, issuer: str, subject: str) -> bytes:
        return self._key.fingerprint(f"{issuer}\n{subject}", "identity")
