"""Commits are replicated to a follower over three NATS servers, are fenced, and are not lost without a
quorum.
"""

import asyncio
import resource
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest

from svc.base import commit_log
from svc.base.database import Connection, Database, StorageFailed
from svc.base.migrations import Migration, schema_version
from svc.base.write_group import Unreplicated
from svc.chat.cluster import nats_log
from svc.chat.cluster.config import ClusterConfig
from svc.chat.cluster.follower import Follower, TableCheck
from svc.chat.cluster.log_entry import ID, PART, PART_BYTES, PARTS, Assembly, Entry, encode
from svc.chat.cluster.membership import Membership, NodeStatus
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import LogTrimmed, NatsLog, Origin
from svc.chat.cluster.nats_sync_check import refuse_lazy_servers
from svc.chat.cluster.replica import Replica, table_hashes
from svc.chat.cluster.takeover import catch_up, take_over
from tests.kit.nats_cluster import NatsCluster, nats_cluster
from tests.kit.wait import eventually

WORDS = "CREATE TABLE words (n INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT UNIQUE) STRICT;"
COUNTED = (
    "CREATE TABLE counted (letters INTEGER) STRICT;"
    " CREATE TRIGGER count_words AFTER INSERT ON words BEGIN"
    " INSERT INTO counted VALUES (length(new.word)); END;"
)
SCHEMA = [Migration(1, "words", WORDS), Migration(2, "counted", COUNTED)]

WORDS_LOG = Origin("words", "")


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[NatsCluster]:
    async with nats_cluster(tmp_path) as cluster:
        yield cluster


async def files_of_a_new_community(folder: Path) -> tuple[Path, Path]:
    """Create the database files of two nodes. The second is a copy of the first. Return their paths."""
    first, second = folder / "first.sqlite3", folder / "second.sqlite3"
    await (await Database.open(first, SCHEMA[:1], folder / "backups")).close()
    with closing(sqlite3.connect(first, isolation_level=None)) as connection:
        commit_log.attach(connection, "words", 0, 0)
    shutil.copy(first, second)
    return first, second


@asynccontextmanager
async def log_of(node: str, servers: NatsCluster, kind: type[NatsLog] = NatsLog) -> AsyncIterator[NatsLog]:
    log = kind("words", node, lambda _: None)
    await asyncio.to_thread(lambda: log.open(servers.urls, origin=WORDS_LOG))
    try:
        yield log
    finally:
        log.stop()
        await asyncio.to_thread(log.close)


@asynccontextmanager
async def owning(log: NatsLog, node: str, path: Path) -> AsyncIterator[Database]:
    """Take over the community and open its database as the owner."""
    replica = await asyncio.to_thread(Replica, path)
    try:
        await asyncio.to_thread(take_over, log, replica, node)
    finally:
        replica.close()
    database = await Database.open(path, SCHEMA, path.parent / "backups", log)
    try:
        yield database
    finally:
        log.stop()
        await database.close()


async def follow(log: NatsLog, path: Path) -> None:
    replica = await asyncio.to_thread(Replica, path)
    try:
        await asyncio.to_thread(catch_up, log, replica)
    finally:
        replica.close()


async def insert_word(database: Database, word: str) -> None:
    def insert(connection: Connection) -> None:
        connection.execute("INSERT INTO words (word) VALUES (?)", (word,))

    await database.write(insert)


def words_in(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words ORDER BY n")]


async def test_a_node_that_was_down_until_the_log_expired_needs_a_snapshot(
    servers: NatsCluster, tmp_path: Path
) -> None:
    first, second = await files_of_a_new_community(tmp_path)
    async with log_of("one", servers) as one, log_of("two", servers) as two:
        async with owning(one, "one", first) as owner:
            await insert_word(owner, "nobody follows")
        await asyncio.to_thread(lambda: two.run(two.client.jetstream().purge_stream(two.name)))
        config = ClusterConfig(servers.urls, "two", "words")
        with pytest.raises(LogTrimmed):
            await follow(two, second)
        membership = Membership(two, config, "session", lambda: NodeStatus("two", "session"), lambda: None)
        follower = await asyncio.to_thread(Follower, two, second, TableCheck(second, membership, every=100))
        with pytest.raises(LogTrimmed):
            await asyncio.to_thread(follower.run)
        follower.replica.close()


async def test_a_follower_gets_all_commits_and_the_next_owner_fences_off_the_previous_one(
    servers: NatsCluster, tmp_path: Path
) -> None:
    first, second = await files_of_a_new_community(tmp_path)
    async with log_of("one", servers) as one, log_of("two", servers) as two:
        async with owning(one, "one", first) as owner:
            await asyncio.gather(*(insert_word(owner, f"word {number}") for number in range(50)))
            with pytest.raises(sqlite3.IntegrityError):
                await insert_word(owner, "word 1")
            await insert_word(owner, "in two parts " * (PART_BYTES // 10))
            await follow(two, second)
            assert table_hashes(first) == table_hashes(second)
            assert {"words", "counted", "sqlite_sequence"} <= set(table_hashes(second))
            async with owning(two, "two", second) as successor:
                await insert_word(successor, "of the new owner")
                with pytest.raises(StorageFailed, match="Another node owns"):
                    await insert_word(owner, "too late")
                with pytest.raises(StorageFailed):
                    await insert_word(owner, "refused at once")
        async with log_of("one", servers) as again:
            await follow(again, first)
    assert words_in(first)[-1] == "of the new owner"
    assert table_hashes(first) == table_hashes(second)


class Died(BaseException):
    """An exception that no code handles. It simulates the process's death."""


class DyingLog(NatsLog):
    """A log whose owner dies after writing a migration to the log and before writing it to the database."""

    def append_script(self, connection: sqlite3.Connection, script: str) -> None:
        super().append_script(connection, script)
        raise Died


async def test_the_next_owner_completes_a_migration_after_the_death_of_the_previous_owner(
    servers: NatsCluster, tmp_path: Path
) -> None:
    first, second = await files_of_a_new_community(tmp_path)
    async with log_of("one", servers, DyingLog) as one:
        with pytest.raises(Died):
            async with owning(one, "one", first):
                pass
    with closing(sqlite3.connect(first)) as connection:
        assert schema_version(connection) == 1
    async with log_of("two", servers) as two:
        async with owning(two, "two", second) as successor:
            await insert_word(successor, "counted")
            assert [tuple(row) for row in await successor.rows("SELECT letters FROM counted")] == [(7,)]
        await follow(two, first)
    assert table_hashes(first) == table_hashes(second)


async def test_all_nodes_ignore_an_incomplete_entry_of_an_owner_that_died(
    servers: NatsCluster, tmp_path: Path
) -> None:
    first, second = await files_of_a_new_community(tmp_path)
    third = tmp_path / "third.sqlite3"
    shutil.copy(second, third)
    async with log_of("one", servers) as one, log_of("two", servers) as two:
        async with owning(one, "one", first) as owner:
            await insert_word(owner, "whole")
            incomplete = Entry(one.epoch, "one", [("INSERT INTO words (word) VALUES (?)", [["half"]])])
            headers = {ID: "incomplete", PART: "0", PARTS: "2"}
            (data,) = encode(incomplete)
            await asyncio.to_thread(lambda: one.run(one._publish_part(data, headers, one.sequence)))
        # The second part was never written. The next owner continues after the first part.
        async with owning(two, "two", second) as successor:
            await insert_word(successor, "in two parts " * (PART_BYTES // 10))
            await insert_word(successor, "after it")
        for path in (first, third):
            await follow(two, path)
    assert [word[:12] for word in words_in(second)] == ["whole", "in two parts", "after it"]
    assert table_hashes(first) == table_hashes(second) == table_hashes(third)


def test_only_complete_entries_are_assembled() -> None:
    entries = [Entry(1, "one", [(f"DELETE FROM words -- {number}", [[]])]) for number in range(3)]
    (first,), (second,), (third,) = (encode(entry) for entry in entries)
    assembly = Assembly()
    assert assembly.add("first", 0, 1, first) == entries[0]
    assert assembly.add("second", 0, 2, second[:9]) is None
    assert assembly.add("third", 0, 2, third[:9]) is None
    assert assembly.add("second", 1, 2, second[9:]) is None, "another owner has begun in between"
    assert assembly.add("third", 0, 2, third[:9]) is None
    assert assembly.add("third", 1, 2, third[9:]) == entries[2]
    assert assembly.add("second", 1, 2, second[9:]) is None, "its first part is before the position"


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Limit the size of files that this process writes. Larger writes fail, as on a full disk."""
    before, maximum = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, maximum))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, maximum))


async def test_an_owner_with_a_full_disk_stops_and_later_applies_the_entry_from_the_log(
    servers: NatsCluster, tmp_path: Path
) -> None:
    first, second = await files_of_a_new_community(tmp_path)
    lost: list[str] = []
    one = NatsLog("words", "one", lost.append)
    await asyncio.to_thread(lambda: one.open(servers.urls, origin=WORDS_LOG))
    try:
        async with owning(one, "one", first) as owner:
            await insert_word(owner, "before")
            size = first.with_name(first.name + "-wal").stat().st_size
            with files_no_larger_than(size), pytest.raises(Unreplicated):
                await insert_word(owner, "only in the log")
            assert lost, "the node is told that it may no longer write"
            with pytest.raises((StorageFailed, Unreplicated)):
                await insert_word(owner, "refused")
    finally:
        await asyncio.to_thread(one.close)
    assert words_in(first) == ["before"]
    async with log_of("two", servers) as two, owning(two, "two", second) as successor:
        await insert_word(successor, "after")
        await follow(two, first)
    assert words_in(first) == words_in(second) == ["before", "only in the log", "after"]


async def test_without_a_quorum_nothing_is_acknowledged_and_nothing_acknowledged_is_lost(
    servers: NatsCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats_log, "DOUBT_S", 1.0)
    first, second = await files_of_a_new_community(tmp_path)
    async with log_of("one", servers) as one, owning(one, "one", first) as owner:
        await insert_word(owner, "acknowledged")
        for name in "bc":
            servers.signal(name, signal.SIGSTOP)
        with pytest.raises(Unreplicated, match="quorum"):
            await insert_word(owner, "doubtful")
        assert len(await owner.rows("SELECT word FROM words")) == 1
        for name in "bc":
            servers.signal(name, signal.SIGCONT)
        async with asyncio.timeout(90):
            while True:
                try:
                    await insert_word(owner, "later")
                    break
                except Unreplicated:
                    await asyncio.sleep(0.1)
        async with log_of("two", servers) as two:
            await follow(two, second)
        assert words_in(second) == ["acknowledged", "doubtful", "later"]


async def test_a_stream_with_too_few_replicas_or_an_unreachable_server_is_an_error(
    servers: NatsCluster,
) -> None:
    async with log_of("one", servers):
        strict = NatsLog("words", "two", lambda _: None)
        with pytest.raises(ClusterError, match="3 replicas and needs 5"):
            await asyncio.to_thread(lambda: strict.open(servers.urls, replicas=5))
    wrong = NatsLog("words", "three", lambda _: None)
    with pytest.raises(ClusterError, match="cannot be reached"):
        await asyncio.to_thread(lambda: wrong.open(["nats://127.0.0.1:9"]))


async def test_startup_waits_for_servers_that_are_slow_to_respond(
    servers: NatsCluster, caplog: pytest.LogCaptureFixture
) -> None:
    def reasons() -> int:
        return sum(record.message == "NATS does not answer yet" for record in caplog.records)

    async def after_a_pause_of(names: str, start: Callable[[], object]) -> None:
        before = reasons()
        for name in names:
            servers.signal(name, signal.SIGSTOP)
        starting = asyncio.ensure_future(asyncio.to_thread(start))
        await eventually("the reason is logged", lambda: reasons() > before, within_s=30)
        for name in names:
            servers.signal(name, signal.SIGCONT)
        await starting

    log = NatsLog("words", "one", lambda _: None)
    config = ClusterConfig(servers.urls, "one", "words")
    membership = Membership(log, config, "session", lambda: NodeStatus("one", "session"), lambda: None)
    await after_a_pause_of("abc", lambda: log.open(servers.urls, origin=WORDS_LOG))
    try:
        await after_a_pause_of("abc", lambda: refuse_lazy_servers(servers.system_urls))
        # Two of three servers form a quorum.
        await after_a_pause_of("bc", membership.start)
        await asyncio.to_thread(membership.stop)
    finally:
        await asyncio.to_thread(log.close)


async def test_the_server_check_needs_a_response_from_only_one_server(servers: NatsCluster) -> None:
    nobody = "nats://system:system@127.0.0.1:9"
    await asyncio.to_thread(refuse_lazy_servers, [nobody, servers.system_urls[1]])
    with pytest.raises(ClusterError, match="SVC_CLUSTER_SYSTEM: NATS cannot be reached"):
        await asyncio.to_thread(refuse_lazy_servers, [nobody])
