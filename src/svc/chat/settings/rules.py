"""The owner's settings and the one way in which they change, whoever asks for it.

A change is checked whole, stored with its entry in the audit log, told to whoever acts on
it, and pushed; only then is it answered. Knows nothing of what a setting brings about.
No HTTP. docs/http.md, "Settings".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict

from svc.base.database import Act, Connection, Database
from svc.base.strict_json import dumps, loads
from svc.chat.access.acts import changes_rules
from svc.chat.access.directory import CATEGORY
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.ground import Ground
from svc.chat.live.hub import Only, only
from svc.chat.settings.values import OPEN, PUBLIC, Problem, Values, read

# What acts on a change, such as an advertisement that is withdrawn, is near and quick.
FOLLOWER_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)

Follower = Callable[[object], Awaitable[None]]


class Settings:
    """`current` always says what is in force."""

    def __init__(self, ground: Ground, defaults: Values) -> None:
        self._database, self._directory, self._hub = ground.database, ground.directory, ground.hub
        self._audit = ground.audit
        self._followers: dict[str, list[Follower]] = {}
        # What acts on changes is told of one after the other.
        self._one_at_a_time = asyncio.Lock()
        # Where nothing is set.
        self._defaults = defaults
        self.current = defaults

    async def load(self, discoverable: bool) -> None:
        """Take over what is stored; `discoverable` is its value on the first boot."""
        first = _rows({"discoverable": discoverable})
        await self._database.write(
            lambda c: c.executemany("INSERT OR IGNORE INTO settings VALUES (?, ?)", first)
        )
        known, _ = read(await _load(self._database))
        self.current = self._defaults.changed({name: v for name, v in known.items() if v is not None})

    def on_change(self, name: str, follower: Follower) -> None:
        """Have `follower` awaited with the new value of a setting whenever that has changed."""
        self._followers.setdefault(name, []).append(follower)

    def welcome(self, asker: Asker) -> dict[str, object]:
        owner = self._directory.is_owner(asker.member_id)
        return {"settings": self.current.described() if owner else self.current.public()}

    def invite_needed(self, nearby: bool) -> bool:
        """Does somebody need an invite? `nearby`: they join from the local network, and it is certain that
        no foreign page makes their browser do so. Also asked on the writer's thread."""
        values = self.current
        return values.joinPolicy != OPEN and not (values.lanOpen and nearby)

    def landing(self) -> str | None:
        """Where newcomers are sent, where there is such a place."""
        return self.current.welcomeChannelId

    def require_rules(self, accepted: str) -> None:
        """Refuse a newcomer who has not accepted the rules as they are. Also asked on the writer's thread."""
        values = self.current
        if accepted != values.rules_version and values.rules:
            more = {"rules": values.rules, "rules_version": values.rules_version}
            raise ChatError("rules_not_accepted", more=more)

    async def apply(self, changes: Mapping[str, object], actor_id: str | None, now: float) -> Values:
        """All settings, after `changes` by a member, or without an actor by the operator.

        Raises ChatError that names every problem; then nothing has changed.
        """
        wanted, problems = read(changes)
        if problems:
            raise _refusal(problems)
        # Shielded: a page that goes meanwhile must not leave a change half done.
        return await asyncio.shield(self._apply(wanted, actor_id, now))

    async def _apply(self, wanted: Mapping[str, object], actor_id: str | None, now: float) -> Values:
        values, new = await self._store(wanted, actor_id, now)
        async with self._one_at_a_time:
            await self._follow(new)
        return values

    @changes_rules
    def _store(
        self, wanted: Mapping[str, object], actor_id: str | None, now: float
    ) -> Act[None, tuple[Values, Collection[str]]]:
        """All settings after a change, and the names of those that are different now."""
        before, usual = self.current.described(), self._defaults.described()
        dropped = [name for name, value in wanted.items() if value is None]
        wanted = {name: usual[name] if value is None else value for name, value in wanted.items()}
        self._require_landing(wanted.get("welcomeChannelId"))
        new = {name: value for name, value in wanted.items() if value != before[name]}
        details = {name: {"from": before[name], "to": value} for name, value in new.items()}

        def change(connection: Connection) -> None:
            names = [(name,) for name in dropped]
            connection.executemany("DELETE FROM settings WHERE name = ?", names)
            if not new:
                return
            kept = _rows({name: value for name, value in new.items() if name not in dropped})
            connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", kept)
            self._audit.record(connection, actor_id, "settings_change", None, details, now)

        def changed(_: None) -> tuple[Values, Collection[str]]:
            self.current = self.current.changed(new)
            self._push(new)
            return self.current, new.keys()

        return Act(change, changed)

    def _require_landing(self, channel_id: object) -> None:
        """Nobody lands in a category, or in what there is not. Raises ChatError."""
        if channel_id is None:
            return
        channel = self._directory.channels.get(str(channel_id))
        if channel is None or channel.kind == CATEGORY:
            raise _refusal([Problem("welcomeChannelId", "invalid", "There is no such channel")])

    async def _follow(self, names: Collection[str]) -> None:
        """With the values of today: of two changes at once, the last one counts."""
        for name in names:
            value = self.current.described()[name]
            for follower in self._followers.get(name, ()):
                try:
                    async with asyncio.timeout(FOLLOWER_DEADLINE_S):
                        await follower(value)
                except Exception:
                    # The setting stands; what it brings about is not worth losing the answer.
                    logger.exception("a setting could not be acted on", extra={"setting": name})

    def _push(self, new: Mapping[str, object]) -> None:
        if not new:
            return
        owners = frozenset(m for m in self._directory.members if self._directory.is_owner(m))
        self._hub.push("settings_changed", dict(new), only(*owners))
        if public := {name: value for name, value in new.items() if name in PUBLIC}:
            others = Only(frozenset(self._directory.members) - owners)
            self._hub.push("settings_changed", public, others)


def _refusal(problems: Sequence[Problem]) -> ChatError:
    named = "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
    return ChatError("invalid_settings", named, {"problems": [asdict(problem) for problem in problems]})


async def _load(database: Database) -> dict[str, object]:
    return {row["name"]: loads(row["value"]) for row in await database.rows("SELECT * FROM settings")}


def _rows(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, dumps(value).decode()) for name, value in values.items()]
