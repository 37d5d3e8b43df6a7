"""The sweep removes exactly the unreferenced objects, whatever events came before it.

A model records the references and the time at which each object lost its last reference. The server may be
killed between any two steps of storing an object. The store may fail.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.base.object_store import FileObjects, ObjectMissing, StoreFailed
from svc.chat.access.media_urls import MediaUrls
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import (
    DRAFT,
    EMOJI,
    IN_HAND_S,
    MEMBER,
    MESSAGE,
    SERVER,
    WEBHOOK,
    Media,
    ObjectInfo,
)
from svc.chat.media.sweep import Sweep

GRACE_S = 100
KINDS = (MESSAGE, WEBHOOK, MEMBER, EMOJI, DRAFT, SERVER)
OWNERS = st.tuples(st.sampled_from(KINDS), st.sampled_from(["one", "two"]))


class Killed(BaseException):
    """Simulates the process's death."""


class Objects(FileObjects):
    """A store that kills the process after a `put` (if `killing` is set) or fails to delete (`failing`)."""

    killing = failing = False
    last_key = ""

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        await super().put(key, source, content_type)
        self.last_key = key
        if self.killing:
            raise Killed

    async def delete(self, key: str) -> None:
        if self.failing:
            raise StoreFailed("not now")
        await super().delete(key)


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = contextlib.ExitStack()
        self.now = 1_000_000.0
        self.references: dict[tuple[str, str], set[str]] = {}
        # The time at which each object became unreferenced, and the time until which it may still be in use.
        self.idle_since: dict[str, float] = {}
        self.spared_until: dict[str, float] = {}

    @initialize()
    def start(self) -> None:
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.objects = Objects(folder / "objects")
        opening = Database.open(folder / "db.sqlite3", migrations_in(SCHEMA_FOLDER), folder / "backups")
        self.database = self.runner.run(opening)
        self.restart()

    def teardown(self) -> None:
        if hasattr(self, "database"):
            self.runner.run(self.database.close())
        self.runner.close()
        self.stack.close()

    @rule()
    def restart(self) -> None:
        """Restart the server. The new process has no objects in use."""
        urls = MediaUrls("secret", lambda: self.now)
        self.media = Media(self.database, self.objects, urls, lambda: self.now)
        self.sweep = Sweep(self.database, self.media, 1000, GRACE_S * 1000, lambda: self.now)
        self.spared_until = {}

    @rule()
    def keep(self) -> None:
        key = self.runner.run(self.media.keep(b"data", "webp", ObjectInfo("image/webp")))
        self.idle_since[key] = self.now
        self.spared_until[key] = self.now + IN_HAND_S

    @rule()
    def keep_and_be_killed(self) -> None:
        async def kept() -> None:
            with contextlib.suppress(Killed):
                await self.media.keep(b"data", "webp", ObjectInfo("image/webp"))

        self.objects.killing = True
        self.runner.run(kept())
        self.objects.killing = False
        self.idle_since[self.objects.last_key] = self.now
        self.restart()

    @rule(owner=OWNERS, which=st.integers(0, 50))
    def refer(self, owner: tuple[str, str], which: int) -> None:
        keys = sorted(self.idle_since)
        if not keys:
            return
        key = keys[which % len(keys)]
        write = self.database.write(lambda connection: self.media.refer(connection, key, *owner))
        try:
            self.runner.run(_awaited(write))
        except ChatError:
            # The error means that the object is being removed, so it must have been unreferenced for long
            # enough.
            assert self.due(key)
            return
        self.references.setdefault(owner, set()).add(key)

    @rule(owner=OWNERS)
    def release(self, owner: tuple[str, str]) -> None:
        write = self.database.write(lambda connection: self.media.release(connection, *owner))
        self.runner.run(_awaited(write))
        for key in self.references.pop(owner, set()):
            self.idle_since[key] = self.now

    @rule(seconds=st.sampled_from([1, GRACE_S // 2, GRACE_S, 5 * GRACE_S]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(failing=st.booleans())
    def sweep_once(self, failing: bool) -> None:
        self.objects.failing = failing
        self.runner.run(self.sweep.run_once())
        self.objects.failing = False
        for key in list(self.idle_since):
            if self.due(key) and not failing:
                assert not self.exists(key), "unreferenced objects are deleted"
                del self.idle_since[key]

    @invariant()
    def referenced_objects_are_there(self) -> None:
        for keys in self.references.values():
            for key in keys:
                assert self.exists(key)

    def due(self, key: str) -> bool:
        held = any(key in keys for keys in self.references.values())
        idle = self.idle_since[key] + GRACE_S <= self.now
        return not held and idle and self.spared_until.get(key, 0) <= self.now

    def exists(self, key: str) -> bool:
        try:
            self.runner.run(self.objects.size(key))
        except ObjectMissing:
            return False
        return True


async def _awaited(write: Awaitable[None]) -> None:
    await write


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=25, stateful_step_count=40, database=None)
