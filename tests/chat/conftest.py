"""Provides a chat server and a fake media service on ports chosen by the kernel."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.chat.access import rate_limits
from svc.chat.community import SCHEMA_FOLDER
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu, fake_sfu
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.kit import new_databases


@pytest.fixture(scope="session", autouse=True)
def copied_databases() -> None:
    """Create databases by copying a file, because migrations take a third of a server's startup time."""
    new_databases.reuse()


@pytest.fixture(autouse=True)
def request_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the rate limit, because tests send an evening's worth of requests within seconds."""
    monkeypatch.setattr(rate_limits, "REQUEST_BURST", 100_000)


@pytest.fixture
async def sfu() -> AsyncIterator[FakeSfu]:
    async with fake_sfu() as running:
        yield running


@pytest.fixture
def variables(sfu: FakeSfu, tmp_path: Path) -> dict[str, str]:
    """Return the environment variables for `svc chat`. Tests that need other variables start their own
    server.
    """
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "account, local",
        "SERVER_NAME": "Tests",
        "SFU_WS_HOST": f"127.0.0.1:{sfu.port}",
        "SERVER_ID": sfu.server_id,
        "SERVER_PASSWORD": sfu.server_password,
        "VOICE_CHANNEL_ID": "lobby",
        "VOICE_CHANNEL_NAME": "Lobby",
        "ADDITIONAL_CHANNELS": "general, voice:Side Room",
        "DISABLE_STUN": "true",
        "STORAGE_BACKEND": "filesystem",
        # Tests do not use the internet.
        "SVC_LINK_PREVIEWS": "false",
    }


@pytest.fixture
async def chat(variables: dict[str, str]) -> AsyncIterator[ChatServer]:
    async with chat_server(variables) as running:
        yield running


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """Open an empty database with the server's tables, for tests that need no server."""
    opened = await Database.open(
        tmp_path / "rules.sqlite3", migrations_in(SCHEMA_FOLDER), tmp_path / "backups"
    )
    yield opened
    await opened.close()


@pytest.fixture
async def members(chat: ChatServer) -> MembersByRole:
    """Create one member with each built-in role."""
    return await members_by_role(chat)
