"""Tests upgrades and downgrades between database versions with real servers."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from svc.base.config_parsing import ConfigError
from svc.base.database import Database
from svc.base.migrations import Migration, migrate, migrations_in
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember
from tests.kit.chat_process import NotStarted, chat_process
from tests.kit.device import Device

MIGRATIONS = migrations_in(SCHEMA_FOLDER)
NEWEST = MIGRATIONS[-1].number
# The first version with messages and with members who can sign in.
OLDEST = 3
OWNER, CHANNEL = "01890000-0000-7000-8000-000000000001", "general"
MESSAGE = "01890000-0001-7000-8000-000000000002"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "DATA_DIR": str(tmp_path / "data"),
    }


def _written_by(version: int, path: Path, thumbprint: str) -> None:
    """Create a database of the given version with a message by the owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        migrate(old, MIGRATIONS[:version], path.parent / "none")
        for sql, values in (
            ("INSERT INTO members (id, nickname, joined_at_ms) VALUES (?, 'Olga', 1)", (OWNER,)),
            ("INSERT INTO member_roles VALUES (?, 'owner'), (?, 'member')", (OWNER, OWNER)),
            ("INSERT INTO identities VALUES ('', ?, ?, 1)", (thumbprint, OWNER)),
            ("INSERT INTO devices VALUES ('d', ?, ?, 'phone', 1, 1)", (OWNER, thumbprint)),
            (
                "INSERT INTO channels (id, name, kind, position, created_at_ms)"
                " VALUES (?, 'general', 'text', 0, 1)",
                (CHANNEL,),
            ),
            ("INSERT INTO facts VALUES ('channels_seeded', '1')", ()),
            (
                "INSERT INTO messages (n, id, channel_id, author_kind, author_id, display_name, text)"
                " VALUES (?, ?, ?, 'member', ?, 'Olga', 'said long ago')",
                (0x018900000001000, MESSAGE, CHANNEL, OWNER),
            ),
        ):
            old.execute(sql, values)


def _version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def _messages(variables: dict[str, str], device: Device, new_text: str = "") -> list[str]:
    """Run the current server, and post `new_text` if it is given. Return all messages that the owner sees."""
    async with chat_server(variables) as chat:
        answer = await chat.sign_in(device)
        olga = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
        assert (olga.id, answer["member"]["roles"]) == (OWNER, ["member", "owner"])
        if new_text:
            await olga.done("POST", f"/api/channels/{CHANNEL}/messages", {"text": new_text})
        history = await olga.done("GET", f"/api/channels/{CHANNEL}/messages")
        return [message["text"] for message in history["messages"]]


@pytest.mark.parametrize("version", range(OLDEST, NEWEST))
async def test_every_older_database_is_upgraded_and_its_backup_can_be_restored(
    variables: dict[str, str], version: int
) -> None:
    device, folder = Device(), Path(variables["DATA_DIR"])
    database = folder / DATABASE_NAME
    _written_by(version, database, device.thumbprint)
    assert await _messages(variables, device, "said today") == ["said long ago", "said today"]
    assert _version(database) == NEWEST
    # Downgrade as described in docs/operations.md: restore the backup copy and start the old version.
    copy = folder / "backups" / f"before-schema-{NEWEST}-from-{version}.sqlite3"
    assert _version(copy) == version
    copy.replace(database)
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    assert await _texts(database, MIGRATIONS[:version]) == ["said long ago"]
    # Then upgrade again.
    assert await _messages(variables, device) == ["said long ago"]


async def _texts(path: Path, migrations: Sequence[Migration]) -> list[str]:
    """Return the message texts, as read by a program with these migrations."""
    opened = await Database.open(path, migrations, path.parent / "backups")
    try:
        return [row["text"] for row in await opened.rows("SELECT text FROM messages ORDER BY n")]
    finally:
        await opened.close()


async def test_a_database_from_a_newer_version_is_rejected_and_left_unchanged(
    variables: dict[str, str],
) -> None:
    database = Path(variables["DATA_DIR"]) / DATABASE_NAME
    async with chat_server(variables):
        pass
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version={NEWEST + 1}")
    error = f"it was written by a newer version (schema {NEWEST + 1}, this one supports {NEWEST})"
    with pytest.raises(ConfigError) as refusal:
        async with chat_server(variables):
            pass
    assert error in str(refusal.value) and "restore the copy made before it was changed" in str(refusal.value)
    with pytest.raises(NotStarted) as ended:
        async with chat_process(variables):
            pass
    # The operator gets a one-line message and no traceback.
    assert [line.startswith("svc chat: ") for line in str(ended.value).splitlines()] == [True]
    assert _version(database) == NEWEST + 1


async def test_a_failed_migration_leaves_the_database_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "data" / DATABASE_NAME
    _written_by(OLDEST, path, "thumbprint")
    broken = [
        *MIGRATIONS,
        Migration(NEWEST + 1, "broken", "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);"),
    ]
    with pytest.raises(Exception, match="nowhere"):
        await Database.open(path, broken, tmp_path / "backups")
    assert _version(path) == OLDEST
    assert await _texts(path, MIGRATIONS[:OLDEST]) == ["said long ago"]
