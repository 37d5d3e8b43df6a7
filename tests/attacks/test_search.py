"""Deliberately slow searches run one at a time, stop at a deadline and do not delay other requests."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from svc.base import database as database_module
from svc.base.database import Database, StorageFailed
from svc.base.migrations import migrations_in
from svc.base.query_pool import PoolBusy, QueryPool, QueryTooLong, Reader, reading_for
from svc.chat.access.directory import NAME, Member, orders_of
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.errors import ChatError
from svc.chat.members import member_list
from svc.chat.messages import personal_data, search_store, store
from svc.chat.messages.message import Message
from svc.chat.messages.query import MAX_TERMS, parse
from svc.chat.text_folding import fold_name
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole

DEADLINE_S = 20.0
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT sum(n) FROM c"
AGES_S = 600.0


@asynccontextmanager
async def pool(size: int, deadline_s: float, wait_s: float, places: int = 1) -> AsyncIterator[QueryPool]:
    readers = [await Reader.open(lambda: sqlite3.connect(":memory:")) for _ in range(size)]
    made = QueryPool(readers, deadline_s, wait_s, 1_000, places)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield made
    finally:
        await made.close()


def query(sql: str) -> Callable[[sqlite3.Connection], list[tuple[object, ...]]]:
    return lambda connection: connection.execute(sql).fetchall()


async def test_a_query_is_stopped_at_its_deadline_and_the_connection_remains_usable() -> None:
    async with pool(1, deadline_s=0.01, wait_s=AGES_S) as queries:
        for _ in range(3):
            with pytest.raises(QueryTooLong):
                await queries.run(query(ENDLESS))
            assert await queries.run(query("SELECT 1")) == [(1,)]


async def test_a_cancelled_query_is_stopped_immediately() -> None:
    async with pool(1, deadline_s=AGES_S, wait_s=AGES_S) as queries:
        task = asyncio.create_task(queries.run(query(ENDLESS)))
        next_one = asyncio.create_task(queries.run(query("SELECT 1")))
        await asyncio.sleep(0)
        task.cancel()
        assert len(await next_one) == 1
        assert task.cancelled()


async def test_a_search_that_gets_no_database_connection_in_time_gets_an_error() -> None:
    async with pool(1, deadline_s=AGES_S, wait_s=0) as queries:
        task = asyncio.create_task(queries.run(query(ENDLESS)))
        await asyncio.sleep(0)
        with pytest.raises(PoolBusy):
            await queries.run(query("SELECT 1"))
        task.cancel()


async def test_slow_queries_by_one_member_leave_a_database_connection_for_others() -> None:
    async with pool(2, deadline_s=AGES_S, wait_s=AGES_S, places=16) as queries:
        with reading_for("greedy"):
            slow = [asyncio.create_task(queries.run(query(ENDLESS))) for _ in range(40)]
        await asyncio.sleep(0)
        for member in ("ada", "bob", ""):
            with reading_for(member):
                assert len(await queries.run(query("SELECT 1"))) == 1
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        with reading_for("greedy"):
            results = await asyncio.gather(*(queries.run(query("SELECT 1")) for _ in range(40)))
        assert all(len(rows) == 1 for rows in results)


async def test_the_next_query_starts_while_the_loop_is_busy() -> None:
    ended = threading.Event()
    only = await Reader.open(lambda: sqlite3.connect(":memory:"))
    await only.create_function("end", 0, ended.set)
    queries = QueryPool([only], AGES_S, AGES_S, 1_000, places=3)
    tasks = [asyncio.create_task(queries.run(query(sql))) for sql in ("SELECT 1", "SELECT 2", "SELECT end()")]
    await asyncio.sleep(0)
    # The event loop is blocked here until the last query has ended.
    assert ended.wait(DEADLINE_S)
    assert await asyncio.gather(*tasks) == [[(1,)], [(2,)], [(None,)]]
    await queries.close()


async def test_a_closed_connection_pool_refuses_queries() -> None:
    async with pool(1, deadline_s=AGES_S, wait_s=AGES_S) as queries:
        await queries.close()
        with pytest.raises(PoolBusy):
            await queries.run(query("SELECT 1"))


async def test_a_search_uses_the_event_loop_only_before_and_after_its_queries(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each additional use of the event loop would delay a search by several iterations, which are long during
    # an attack.
    ended, read_these = threading.Event(), store.read_these

    def read(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[Message]:
        messages = read_these(connection, numbers)
        ended.set()
        return messages

    async with server_with_insight(variables) as (chat, community), chat.member("Olga") as olga:
        await olga.ask("message_send", channel_id="general", text="brief words")
        await community.messages.indexer.wait_indexed()
        monkeypatch.setattr(store, "read_these", read)
        search = asyncio.create_task(community.messages.search.find(olga.id, "brief wor", None, 5))
        await asyncio.sleep(0)
        # The event loop is blocked here until the queries have ended.
        assert ended.wait(DEADLINE_S)
        messages, more = await search
        assert ([message.text for message in messages], more) == (["brief words"], False)


async def test_searches_find_indexed_messages_while_the_disk_is_full(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(connection: sqlite3.Connection, maximum: int) -> int:
        raise StorageFailed("the disk is full")

    async with server_with_insight(variables) as (chat, community), chat.member("Olga") as olga:
        await olga.ask("message_send", channel_id="general", text="brief words")
        await community.messages.indexer.wait_indexed()
        monkeypatch.setattr(search_store, "index_changes", full)
        await olga.ask("message_send", channel_id="general", text="brief and late")
        messages, _ = await community.messages.search.find(olga.id, "brief", None, 5)
        assert [message.text for message in messages] == ["brief words"]


async def test_history_pages_do_not_wait_for_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "SEARCH_DEADLINE_S", AGES_S)
    monkeypatch.setattr(database_module, "SEARCH_WAIT_S", AGES_S)
    database = await Database.open(tmp_path / "a.sqlite3", migrations_in(SCHEMA_FOLDER), tmp_path / "backups")
    async with asyncio.timeout(DEADLINE_S):
        searches = [asyncio.create_task(database.search(query(ENDLESS))) for _ in range(40)]
        await asyncio.sleep(0)
        assert len(await database.rows("SELECT 1")) == 1
        for search in searches:
            search.cancel()
        await asyncio.gather(*searches, return_exceptions=True)
        await database.close()


async def test_a_history_page_that_takes_too_long_reports_unavailable_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "READ_DEADLINE_S", 0.01)
    database = await Database.open(tmp_path / "a.sqlite3", migrations_in(SCHEMA_FOLDER), tmp_path / "backups")
    with pytest.raises(StorageFailed):
        await database.rows(ENDLESS)
    await database.close()


def test_the_number_of_words_in_a_query_is_limited_including_phrases() -> None:
    many = " ".join(f"w{n}" for n in range(MAX_TERMS + 1))
    for text in ('"' + "the " * 60 + '"', many, many.replace(" ", "-"), f"from:a {many[3:]}"):
        with pytest.raises(ChatError, match="invalid_query") as refused:
            parse(text)
        assert "use fewer" in refused.value.message


def test_repeated_words_are_looked_up_once() -> None:
    assert parse("the " * 60).phrases == ("the",)
    assert parse("The tHE the").phrases in [("The",), ("the",)]
    assert parse("from:Ada " * 20).from_names == ("Ada",)


@pytest.fixture
def slow_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every search with an endless query."""

    def find(connection: sqlite3.Connection, *_: object) -> list[int]:
        return [n for (n,) in connection.execute(ENDLESS).fetchall()]

    monkeypatch.setattr(search_store, "find", find)


@pytest.mark.usefixtures("slow_searches")
async def test_the_error_for_a_search_that_takes_too_long_suggests_a_remedy(members: MembersByRole) -> None:
    for _ in range(2):
        status, answer = await members.member.ask("GET", "/api/search?query=the")
        assert (status, answer["error"]) == (400, "search_too_long")
        assert answer["message"] == "This search takes too long. Use fewer or less common words"
    async with members.chat.member("", members.member.token) as page:
        answer = await page.ask("search", query="the")
        assert answer["data"]["error"] == "search_too_long"


@pytest.mark.usefixtures("slow_searches")
async def test_a_member_can_run_only_one_search_at_a_time(members: MembersByRole) -> None:
    requests = [members.member.ask("GET", "/api/search?query=the") for _ in range(5)]
    codes = sorted(answer["error"] for _, answer in await asyncio.gather(*requests))
    assert codes == ["search_running"] * 4 + ["search_too_long"]
    # Searches by other members are not affected.
    assert await members.admin.refused("GET", "/api/search?query=the") == "search_too_long"


async def test_a_flood_of_searches_does_not_slow_history(members: MembersByRole) -> None:
    """Check an attack that once blocked both database reader threads for 42 s."""
    attack = "/api/search?query=" + "%22" + "the%20" * 60 + "%22"
    searches = [members.member.ask("GET", attack) for _ in range(40)]
    answers = await asyncio.gather(members.owner.ask("GET", "/api/channels/general/messages"), *searches)
    assert [status for status, _ in answers] == [200] + [400] * 40
    assert {answer["error"] for _, answer in answers[1:]} == {"invalid_query"}


async def test_an_export_does_not_read_other_members_reactions(tmp_path: Path) -> None:
    # Otherwise, exporting a member's few reactions would read everybody's reactions, and history requests
    # would have to wait.
    database = await Database.open(tmp_path / "chat.db", migrations_in(SCHEMA_FOLDER), tmp_path)
    plan = await database.rows(f"EXPLAIN QUERY PLAN {personal_data.REACTIONS_OF}", ("ada", 0, "", 100))
    await database.close()
    assert any("reactions_by_member (member_id=?" in row["detail"] for row in plan), [*map(tuple, plan)]


def test_each_name_is_case_folded_once_for_all_searches() -> None:
    # Case-folding a name of 64 characters may take 50 µs. Without the cache, each search would do so for all
    # 10,000 members on the event loop.
    fold_name.cache_clear()
    members = {f"m{number}": Member(f"m{number}", f"One of {number}") for number in range(50)}
    wanted = member_list.MembersQuery(query="One of 4", sort=NAME)
    for _ in range(3):
        listed, _ = member_list.page(members, orders_of(members), wanted, 0.0, {})
        assert len(listed) == 11
    assert fold_name.cache_info().misses == len(members)
