"""Validates and stores the owner's settings. All changes pass through this module.

A change is validated as a whole, stored with its audit entry, pushed, and passed to the functions registered
for its settings. Then the request gets its response. The registered functions implement the effects of
settings. This module contains no HTTP code. See docs/http.md, "Settings".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict

from svc.base.database import Connection, Database, Write
from svc.base.strict_json import dumps, loads
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import CATEGORY
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import Recipients, only
from svc.chat.services import Services
from svc.chat.settings.setting_types import OPEN, PUBLIC, Problem, Values, read

# The timeout for a function registered with `on_change`. Such functions do fast local work, for example
# withdrawing an advertisement.
FOLLOWER_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)

Follower = Callable[[object], Awaitable[None]]


class Settings:
    """The server's settings. `current` contains the values in effect."""

    def __init__(self, services: Services, defaults: Values) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit
        self._followers: dict[str, list[Follower]] = {}
        # Ensures that registered functions run one at a time.
        self._one_at_a_time = asyncio.Lock()
        # The values for settings that are not set.
        self._defaults = defaults
        self.current = defaults

    async def load(self, discoverable: bool) -> None:
        """Load the stored settings. If the setting `discoverable` has no stored value, the argument is
        stored.
        """
        first = _rows({"discoverable": discoverable})
        await self._database.write(
            lambda c: c.executemany("INSERT OR IGNORE INTO settings VALUES (?, ?)", first)
        )
        known, _ = read(await _load(self._database))
        self.current = self._defaults.with_changes({name: v for name, v in known.items() if v is not None})

    def on_change(self, name: str, follower: Follower) -> None:
        """Register `follower` to be awaited with a setting's new value after each change."""
        self._followers.setdefault(name, []).append(follower)

    def welcome(self, session: Session) -> dict[str, object]:
        owner = self._directory.is_owner(session.member_id)
        return {"settings": asdict(self.current) if owner else self.current.public()}

    def invite_needed(self, nearby: bool) -> bool:
        """Return whether joining requires an invite. Also called on the writer's thread.

        `nearby` must be True only if the request comes from the local network and not from another site's
        page.
        """
        values = self.current
        return values.joinPolicy != OPEN and not (values.lanOpen and nearby)

    def profanity_mode(self) -> str:
        return self.current.profanityMode

    def retention_days(self) -> int:
        return self.current.retentionDays

    def landing(self) -> str | None:
        """Return the id of the channel that opens for new members, or None if it is not set."""
        return self.current.welcomeChannelId

    def require_rules(self, accepted: str) -> None:
        """Raise ChatError if a new member has not accepted the current rules. Also called on the writer's
        thread.
        """
        values = self.current
        if accepted != values.rules_version and values.rules:
            more = {"rules": values.rules, "rules_version": values.rules_version}
            raise ChatError("rules_not_accepted", more=more)

    async def apply(self, changes: Mapping[str, object], actor_id: str | None, now: float) -> Values:
        """Apply changes by a member, or by the operator if `actor_id` is None. Return all settings.

        If any change is invalid, nothing changes and the ChatError lists all problems.
        """
        wanted, problems = read(changes)
        if problems:
            raise _refusal(problems)
        # Shield the change, because a client's disconnection must not interrupt it.
        return await asyncio.shield(self._apply(wanted, actor_id, now))

    async def _apply(self, wanted: Mapping[str, object], actor_id: str | None, now: float) -> Values:
        values, new = await self._store(wanted, actor_id, now)
        async with self._one_at_a_time:
            await self._follow(new)
        return values

    @exclusive_write
    def _store(
        self, wanted: Mapping[str, object], actor_id: str | None, now: float
    ) -> Write[None, tuple[Values, Collection[str]]]:
        """Store a change. Return all settings, and the names of those that changed."""
        before, usual = asdict(self.current), asdict(self._defaults)
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
            rows = _rows({name: value for name, value in new.items() if name not in dropped})
            connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)
            self._audit.record(connection, actor_id, "settings_change", None, details, now)

        def changed(_: None) -> tuple[Values, Collection[str]]:
            self.current = self.current.with_changes(new)
            self._push(new)
            return self.current, new.keys()

        return Write(change, changed)

    def _require_landing(self, channel_id: object) -> None:
        """Raise ChatError if the welcome channel does not exist or is a category."""
        if channel_id is None:
            return
        channel = self._directory.channels.get(str(channel_id))
        if channel is None or channel.kind == CATEGORY:
            raise _refusal([Problem("welcomeChannelId", "invalid", "There is no such channel")])

    async def _follow(self, names: Collection[str]) -> None:
        """Call the functions registered for the settings with the current values, so that the last of several
        simultaneous changes takes effect.
        """
        for name in names:
            value = asdict(self.current)[name]
            for follower in self._followers.get(name, ()):
                try:
                    async with asyncio.timeout(FOLLOWER_DEADLINE_S):
                        await follower(value)
                except Exception:
                    # The setting is stored, so a function's failure must not fail the request.
                    logger.exception("a setting could not be acted on", extra={"setting": name})

    def _push(self, new: Mapping[str, object]) -> None:
        if not new:
            return
        owners = frozenset(m for m in self._directory.members if self._directory.is_owner(m))
        self._hub.push("settings_changed", dict(new), only(*owners))
        if public := {name: value for name, value in new.items() if name in PUBLIC}:
            others = Recipients(frozenset(self._directory.members) - owners)
            self._hub.push("settings_changed", public, others)


def _refusal(problems: Sequence[Problem]) -> ChatError:
    explanation = "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
    return ChatError("invalid_settings", explanation, {"problems": [asdict(problem) for problem in problems]})


async def _load(database: Database) -> dict[str, object]:
    return {row["name"]: loads(row["value"]) for row in await database.rows("SELECT * FROM settings")}


def _rows(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, dumps(value).decode()) for name, value in values.items()]
