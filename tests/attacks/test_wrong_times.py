"""A wrong time from an import or a wrong clock has no effect on later times, and nothing lasts forever."""

import asyncio
import dataclasses
import json
import sqlite3
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc.base.database import connect
from svc.base.ids import LATEST_MS, Ids, number_of, time_ms
from svc.base.migrations import migrations_in, statements_of
from svc.chat.access.tokens import LIFETIME_S, Session
from svc.chat.clock_repair.repair import MAX_AHEAD_MS, PAST, PAST_OF_LARGE
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER
from svc.chat.errors import ChatError
from svc.chat.invites.rules import HOUR_MS
from svc.chat.live.client import LocalClient
from svc.chat.messages.message import first_number_at
from svc.cli import main
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.kit.device import Device

VARIABLES = {
    "PORT": "0",
    "JWT_SECRET": "a secret of at least thirty-two bytes",
    "SVC_IDENTITY_TIERS": "account, local",
    "SERVER_NAME": "Tests",
    "DISABLE_STUN": "true",
    "STORAGE_BACKEND": "filesystem",
}
FAR_MS = 100_000_000_000_000  # in the year 5138
# The columns that may contain times in the future. The operator's settings determine how long sessions last.
ENDS = (*MAX_AHEAD_MS, ("sessions", "expires_at_ms"))
YEARS_S = 50 * 365 * 24 * 3600.0
MESSAGES = "/api/channels/general/messages"


class Clock:
    """A wall clock that tests can set."""

    def __init__(self) -> None:
        self._real = time.time
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return self._real() + self.ahead_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return VARIABLES | {"DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def rows(variables: dict[str, str]) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the database of a stopped server."""
    Path(variables["DATA_DIR"]).mkdir(exist_ok=True)
    with closing(connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as connection:
        yield connection


async def history(person: HttpMember) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = (await person.done("GET", MESSAGES))["messages"]
    return messages


async def looks_right(owner: HttpMember, before_ms: int, texts: list[str]) -> None:
    """Check that a new message is the last one and has the current time, and that a new member has no unread
    messages.
    """
    sent = await owner.done("POST", MESSAGES, {"text": "after it"})
    assert before_ms <= sent["posted_at_ms"] <= int(time.time() * 1000)
    messages = await history(owner)
    assert [message["text"] for message in messages] == [*texts, "after it"]
    assert all(message["posted_at_ms"] <= int(time.time() * 1000) for message in messages)
    invite = await owner.done("POST", "/api/invites")
    new = await newcomer(owner.chat, "New", invite["code"])
    async with owner.chat.member("", new.token) as live:
        assert [channel["unread"] for channel in live.welcome["unread"]] == [0] * len(live.welcome["unread"])


async def test_an_import_from_the_future_gets_the_current_date_and_is_reported(
    variables: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
    post = {"id": "1", "content": "hello", "author": {"id": "7", "name": "ada"}}
    post |= {"timestamp": "5138-11-16T09:46:40+00:00", "timestampEdited": "5138-11-16T09:46:41+00:00"}
    foreign = {"channel": {"id": "2", "name": "old"}, "messages": [post]}
    (tmp_path / "old.json").write_text(json.dumps(foreign))
    before_ms = int(time.time() * 1000)
    words = ["admin", "import", str(tmp_path / "old.json"), "--from", "discord"]
    # A command runs its own event loop.
    await run_command([*words, "--data-dir", variables["DATA_DIR"]])
    assert "left out: 1 times in the future" in capsys.readouterr().out
    async with chat_server(variables) as chat:
        owner.chat = chat
        channels = (await owner.done("GET", "/api/channels"))["channels"]
        [old] = [channel["id"] for channel in channels if channel["name"] == "old"]
        [message] = (await owner.done("GET", f"/api/channels/{old}/messages"))["messages"]
        assert before_ms <= message["posted_at_ms"] <= int(time.time() * 1000)
        assert message["edited_at_ms"] <= int(time.time() * 1000)
        await looks_right(owner, before_ms, [])


async def test_an_export_from_the_future_is_imported_and_corrected(
    variables: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        await owner.done("POST", MESSAGES, {"text": "one"})
    exported, changed = tmp_path / "whole.zip", tmp_path / "changed.zip"
    await run_command(["admin", "export", str(exported), "--data-dir", variables["DATA_DIR"]])
    from_the_future(exported, changed)
    before_ms = int(time.time() * 1000)
    other = variables | {"DATA_DIR": str(tmp_path / "other")}
    await run_command(["admin", "import", str(changed), "--data-dir", other["DATA_DIR"]])
    output = capsys.readouterr().out
    assert "times later than now were set to now" in output
    async with chat_server(other) as chat:
        secrets = Path(variables["DATA_DIR"]), Path(other["DATA_DIR"])
        assert all(folder.is_dir() for folder in secrets)
        joined = await chat.sign_in(owner.device, nickname="Owner")
        owner = HttpMember(chat, owner.device, joined["member"]["id"], joined["access_token"])
        assert joined["member"]["joined_at_ms"] <= int(time.time() * 1000)
        await looks_right(owner, before_ms, ["one"])


def from_the_future(source: Path, target: Path) -> None:
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as changed:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "export.jsonl":
                data = b"".join(map(_later, data.splitlines(keepends=True)))
            changed.writestr(name, data)


def _later(line: bytes) -> bytes:
    record = json.loads(line)
    n = first_number_at(FAR_MS)
    for name in ("joined_at_ms", "created_at_ms", "last_seen_at_ms"):
        record |= {name: FAR_MS} if name in record else {}
    if "n" in record:
        record["n"] = n
    if record["kind"] == "message":
        record["id"] = f"{n:015x}"[:8] + "-" + f"{n:015x}"[8:12] + "-7" + f"{n:015x}"[12:] + record["id"][18:]
    return json.dumps(record).encode() + b"\n"


async def test_an_export_with_the_largest_possible_time_is_rejected(
    variables: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = "ffffffff-ffff-7fff-bfff-ffffffffffff"
    message = {
        "kind": "message",
        "n": 2**60 - 1,
        "id": last,
        "channel_id": "general",
        "author_kind": "member",
        "author_id": "x",
        "display_name": "X",
        "avatar": None,
        "text": "x",
        "reply_to": None,
        "mentions": None,
        "cards": None,
        "attachments": None,
        "flagged": 0,
        "edited_at_ms": None,
    }
    lines = [{"kind": "export", "format": "svc-export", "version": 1}, message, {"kind": "end", "records": 1}]
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("export.jsonl", "\n".join(map(json.dumps, lines)))
    words = ["admin", "import", str(tmp_path / "bad.zip"), "--data-dir", variables["DATA_DIR"]]
    await run_command(words, status=2)
    assert "later than the year 9999" in capsys.readouterr().err


async def run_command(words: list[str], status: int = 0) -> None:
    assert await asyncio.to_thread(main, words) == status


async def test_a_database_with_times_in_the_year_5138_is_repaired(variables: dict[str, str]) -> None:
    """Check the repair of times that an import by an earlier version left behind."""
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        await owner.done("POST", MESSAGES, {"text": "one"})
        await owner.done("POST", "/api/invites", {"lifetime_s": 3600})
    n = first_number_at(FAR_MS) + 7
    message_id = Ids(lambda: FAR_MS / 1000, lambda bits: 0).new()
    with closing(connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as file:
        file.execute(
            "INSERT INTO messages (n, id, channel_id, author_kind, author_id, display_name, text)"
            " VALUES (?, ?, 'general', 'member', ?, 'Owner', 'from far away')",
            (number_of(message_id), message_id, owner.id),
        )
        for table, column in (*_listed(PAST), *ENDS):
            # No member has left, so there are no departure times.
            if column != "left_at_ms":
                file.execute(f"UPDATE {table} SET {column} = ?", (FAR_MS,))
        assert n > number_of(message_id)
    before_ms = int(time.time() * 1000)
    async with chat_server(variables) as chat:
        owner.chat = chat
        fresh = await chat.sign_in(owner.device)
        owner.token = fresh["access_token"]
        member = await owner.done("GET", f"/api/members/{owner.id}")
        assert member["joined_at_ms"] <= int(time.time() * 1000)
        assert member["timeout_until_ms"] <= int(time.time() * 1000) + 28 * 24 * HOUR_MS
    with closing(connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as file:
        # Otherwise, the owner would remain in timeout for up to 28 days.
        file.execute("UPDATE members SET timeout_until_ms = 0")
    async with chat_server(variables) as chat:
        owner.chat = chat
        await looks_right(owner, before_ms, ["one", "from far away"])


async def test_a_clock_that_jumped_and_was_corrected_has_no_lasting_effect(
    variables: dict[str, str], clock: Clock
) -> None:
    async with server_with_insight(variables) as (chat, community):
        owner, bob = await newcomer(chat, "Owner"), await newcomer(chat, "Bob")
        seq = await present_seq(owner)
        clock.ahead_s = YEARS_S
        await community.clock_repair.check()
        # According to this clock, earlier tokens have expired.
        late = {person.id: await chat.sign_in(person.device) for person in (owner, bob)}
        owner.token, bob.token = late[owner.id]["access_token"], late[bob.id]["access_token"]
        sent = await owner.done("POST", MESSAGES, {"text": "in fifty years"})
        await owner.done("PUT", f"/api/members/{bob.id}/timeout", {"duration_s": 600})
        await owner.done("POST", "/api/invites", {"lifetime_s": 60})
        assert sent["posted_at_ms"] > YEARS_S * 1000
        clock.ahead_s = 0.0
        await community.clock_repair.check()
        before_ms = int(time.time() * 1000)
        # Nobody stays signed in for fifty years, so the client has to sign in again, which works.
        assert await owner.refused("GET", "/api/members") == "token_invalid"
        owner.token = (await chat.sign_in(owner.device))["access_token"]
        member = await owner.done("GET", f"/api/members/{bob.id}")
        assert member["timeout_until_ms"] <= int(time.time() * 1000) + 28 * 24 * HOUR_MS
        await looks_right(owner, before_ms, ["in fifty years"])
        assert seq < await present_seq(owner) < seq + 3600 * 1_000_000
        await owner.done("DELETE", f"/api/members/{bob.id}/timeout")
        async with chat.http.post(
            "/api/auth/refresh", json={"refresh_token": late[bob.id]["refresh_token"]}
        ) as answer:
            assert answer.status == 200
    assert _latest(Path(variables["DATA_DIR"])) <= (time.time() + 3660 * 24 * 3600) * 1000


async def present_seq(person: HttpMember) -> int:
    async with person.chat.member("", person.token) as live:
        return int(live.welcome["seq"])


def _listed(tables: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(table, column) for table, columns in tables.items() for column in columns]


def _latest(folder: Path) -> int:
    with closing(connect(folder / DATABASE_NAME)) as file:
        times = [
            file.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0]
            for table, column in (*_listed(PAST), *_listed(PAST_OF_LARGE), *ENDS)
        ]
    return int(max(times))


async def test_sign_ins_at_a_wrong_time_do_not_lock_a_device_out(
    variables: dict[str, str], clock: Clock
) -> None:
    """Check that a device's oldest sessions are removed first, and that the order of sessions does not depend
    on the clock.
    """
    device = Device()
    clock.ahead_s = YEARS_S
    async with chat_server(variables) as chat:
        await chat.sign_in(device, nickname="Owner", invite_code=chat.invite)
        for _ in range(6):
            await chat.sign_in(device)
    clock.ahead_s = 0.0
    async with chat_server(variables) as chat:
        for _ in range(6):
            answer = await chat.sign_in(device)
            headers = {"Authorization": f"Bearer {answer['access_token']}"}
            async with chat.http.get("/api/members", headers=headers) as response:
                assert response.status == 200


def test_new_ids_sort_after_all_existing_ids_and_stay_valid() -> None:
    clock = iter([5000.0, 1.0, 2.0, 1.0, 1e15, 1e15, 1.0])
    ids = Ids(lambda: next(clock), lambda bits: 0)
    made = [ids.new() for _ in range(7)]
    assert made == sorted(set(made)) and {len(id_) for id_ in made} == {36}
    assert time_ms(made[-1]) == LATEST_MS
    unmoved = Ids(lambda: 1.0, lambda bits: 0)
    unmoved.rise_above(2**60 - 1)
    assert time_ms(unmoved.new()) == 1000


def test_the_time_in_an_id_comes_from_the_clock_and_not_from_earlier_ids() -> None:
    clock = iter([5000.0, 1.0])
    ids = Ids(lambda: next(clock), lambda bits: 0)
    first, second = ids.new_with_time(), ids.new_with_time()
    assert first[0] < second[0] and (first[1], second[1]) == (5_000_000, 1000)


def test_every_time_column_is_corrected_or_listed_as_exempt(
    rows: sqlite3.Connection,
) -> None:
    rows.executescript(statements_of(migrations_in(SCHEMA_FOLDER), rows))
    tables = [row[0] for row in rows.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    moments = {
        (table, row["name"])
        for table in tables
        for row in rows.execute(f"PRAGMA table_info({table})")
        if row["name"].endswith("at_ms") or row["name"].endswith(("until_ms", "since_ms"))
    }
    left_alone = {("audit_log", "at_ms"), ("messages", "posted_at_ms")}
    assert moments == {*_listed(PAST), *_listed(PAST_OF_LARGE), *ENDS} | left_alone


async def test_an_access_token_from_the_future_is_rejected(variables: dict[str, str], clock: Clock) -> None:
    async with server_with_insight(variables) as (chat, community):
        owner = await newcomer(chat, "Owner")
        member, session = community.directory.member(owner.id), owner_session(community, owner.id)
        issue = community.tokens.issue
        assert community.tokens.verify(issue(member, session, time.time() + 30), time.time())
        with pytest.raises(ChatError, match="token_invalid"):
            community.tokens.verify(issue(member, session, time.time() + 120), time.time())


def owner_session(community: Any, member_id: str) -> str:
    [session] = community.directory.sessions[member_id]
    return str(session)


@pytest.mark.parametrize(
    ("left_s", "ends"), [(1.0, False), (LIFETIME_S, False), (0.0, True), (YEARS_S, True)]
)
def test_a_client_stays_connected_as_long_as_a_token_is_valid(left_s: float, ends: bool) -> None:
    closed = []
    page: Any = object.__new__(LocalClient)
    page.session = Session("m", "s", 1000.0 + left_s)
    page.outbox = dataclasses.make_dataclass("Outbox", ["check"])(lambda now: None)
    page.cut_off = lambda code, reason: closed.append(code)
    page.check(0.0, 1000.0)
    assert bool(closed) is ends
    # A bot's token does not expire.
    closed.clear()
    page.session = dataclasses.replace(page.session, lasting=True)
    page.check(0.0, 1000.0)
    assert closed == []
