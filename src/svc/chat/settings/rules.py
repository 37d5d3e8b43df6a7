"""The owner's settings and the one way in which they change, whoever asks for it.

A change is checked whole, stored with its entry in the audit log, told to whoever acts on
it, and pushed; only then is it answered. Knows nothing of what a setting brings about.
No HTTP, no SQL. Spec: chat document section 2.9.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from svc.base.database import Connection, Database
from svc.chat.access.address import ClientAddress
from svc.chat.access.directory import Directory
from svc.chat.access.tokens import Asker
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.live.audience import Only, only
from svc.chat.live.hub import Hub
from svc.chat.settings import store
from svc.chat.settings.values import OPEN, PUBLIC, Values, read

# What acts on a change, such as an advertisement that is withdrawn, is near and quick.
FOLLOWER_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)

Follower = Callable[[object], Awaitable[None]]


class Settings:
    """`current` always says what is in force."""

    def __init__(self, database: Database, directory: Directory, hub: Hub, audit: Audit) -> None:
        self._database = database
        self._directory = directory
        self._hub = hub
        self._audit = audit
        self._followers: dict[str, list[Follower]] = {}
        # Changes are stored, followed and pushed one after the other.
        self._one_at_a_time = asyncio.Lock()
        self.current = Values()

    async def load(self, discoverable: bool) -> None:
        """Take over what is stored; `discoverable` is its value on the first boot."""
        await self._database.write(lambda c: store.seed(c, {"discoverable": discoverable}))
        known, _ = read(await store.load(self._database))
        self.current = Values().changed(known)

    def on_change(self, name: str, follower: Follower) -> None:
        """Have `follower` awaited with the new value of a setting whenever that has changed."""
        self._followers.setdefault(name, []).append(follower)

    def welcome(self, asker: Asker) -> dict[str, object]:
        owner = self._directory.is_owner(asker.member_id)
        return {"settings": self.current.described() if owner else self.current.public()}

    def invite_needed(self, address: ClientAddress) -> bool:
        """May somebody join from there without an invite? Also asked on the writer's thread."""
        values = self.current
        return values.joinPolicy != OPEN and not (values.lanOpen and address.is_local)

    async def apply(
        self, changes: Mapping[str, object], actor_id: str | None, now: float
    ) -> dict[str, object]:
        """All settings, after `changes` by a member, or without an actor by the operator.

        Raises ChatError that names every problem; then nothing has changed.
        """
        wanted, problems = read(changes)
        if problems:
            named = "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
            listed = [problem.described() for problem in problems]
            raise ChatError("invalid_settings", named, {"problems": listed})
        # Shielded: a page that goes meanwhile must not leave a change half done.
        return await asyncio.shield(self._apply(wanted, actor_id, now))

    async def _apply(
        self, wanted: Mapping[str, object], actor_id: str | None, now: float
    ) -> dict[str, object]:
        async with self._one_at_a_time:
            before = self.current.described()
            new = {name: value for name, value in wanted.items() if value != before[name]}
            if new:
                await self._store(new, before, actor_id, now)
                self.current = self.current.changed(new)
                await self._follow(new)
                self._push(new)
            return self.current.described()

    async def _store(
        self, new: Mapping[str, object], before: Mapping[str, object], actor_id: str | None, now: float
    ) -> None:
        details = {name: {"from": before[name], "to": value} for name, value in new.items()}

        def change(connection: Connection) -> None:
            store.put(connection, new)
            self._audit.record(
                connection,
                actor_id=actor_id,
                action="settings_change",
                target_id=None,
                details=details,
                now=now,
            )

        await self._database.write(change)

    async def _follow(self, new: Mapping[str, object]) -> None:
        for name, value in new.items():
            for follower in self._followers.get(name, ()):
                try:
                    async with asyncio.timeout(FOLLOWER_DEADLINE_S):
                        await follower(value)
                except Exception:
                    # The setting stands; what it brings about is not worth losing the answer.
                    logger.exception("a setting could not be acted on", extra={"setting": name})

    def _push(self, new: Mapping[str, object]) -> None:
        owners = frozenset(m for m in self._directory.members if self._directory.is_owner(m))
        self._hub.push("settings_changed", dict(new), only(*owners))
        if public := {name: value for name, value in new.items() if name in PUBLIC}:
            others = Only(frozenset(self._directory.members) - owners)
            self._hub.push("settings_changed", public, others)
