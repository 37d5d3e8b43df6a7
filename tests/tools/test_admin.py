"""`svc admin` does the same to a server that runs and to one that does not."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.cli import main
from tests.chat.member import ChatServer, chat_server

USUAL = {"joinPolicy": "invite", "discoverable": False, "lanOpen": False, "profanityMode": "off"}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def variables(data_dir: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "DATA_DIR": str(data_dir),
    }


@pytest.fixture(params=["running", "stopped"])
async def chat(request: pytest.FixtureRequest, variables: dict[str, str]) -> AsyncIterator[ChatServer | None]:
    """A server with its owner, which has been stopped again or not."""
    async with chat_server(variables) as server:
        await server.join("Olga")
        if request.param == "running":
            yield server
    if request.param == "stopped":
        yield None


class Admin:
    def __init__(self, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data_dir = data_dir
        self._capsys = capsys

    async def __call__(self, *words: str) -> tuple[int, str, str]:
        """Status, output and complaints. In a thread: the server may run in this one."""
        arguments = ["admin", *words, "--data-dir", str(self._data_dir)]
        status = await asyncio.to_thread(main, arguments)
        written = self._capsys.readouterr()
        return status, written.out, written.err

    async def json(self, *words: str) -> Any:
        status, output, complaints = await self(*words, "--json")
        assert (status, complaints) == (0, "")
        (line,) = output.splitlines()
        return json.loads(line)


@pytest.fixture
def admin(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Admin:
    return Admin(data_dir, capsys)


async def test_settings_are_shown_and_changed(chat: ChatServer | None, admin: Admin) -> None:
    assert await admin.json("settings", "get") == USUAL
    assert await admin.json("settings", "set", "lanOpen", "on") == {**USUAL, "lanOpen": True}
    assert await admin.json("settings", "set", "lanOpen", "false") == USUAL
    assert await admin.json("settings", "set", "joinPolicy", "open") == {**USUAL, "joinPolicy": "open"}
    assert (await admin("settings", "get"))[1].splitlines()[0] == 'joinPolicy  "open"'
    status, output, complaint = await admin("settings", "set", "joinPolicy", "perhaps")
    assert (status, output) == (2, "")
    assert complaint.startswith("svc admin: joinPolicy: ")


async def test_an_invite_lets_somebody_in(
    chat: ChatServer | None, admin: Admin, variables: dict[str, str]
) -> None:
    invite = await admin.json("invite", "create", "--uses", "1", "--hours", "2")
    assert invite["max_uses"] == 1 and invite["expires_at_ms"] > invite["created_at_ms"]
    if chat is not None:
        chat.invite = invite["code"]
        await chat.join("Ada")
    else:
        async with chat_server(variables) as server:
            server.invite = invite["code"]
            await server.join("Ada")
    names = [member["nickname"] for member in (await admin.json("member", "list"))["members"]]
    assert sorted(names) == ["Ada", "Olga"]


async def test_an_invite_can_be_revoked(chat: ChatServer | None, admin: Admin) -> None:
    invite = await admin.json("invite", "create")
    assert await admin.json("invite", "revoke", invite["id"]) == {}
    status, _, complaint = await admin("invite", "revoke", invite["id"])
    assert (status, len(complaint.splitlines())) == (2, 1)
    assert (await admin("invite", "create", "--role", "owner"))[0] == 2
    code = (await admin("invite", "create"))[1].strip()
    assert code and " " not in code


def test_where_no_server_has_run_there_is_nothing_to_do(admin: Admin, data_dir: Path) -> None:
    status, output, complaint = asyncio.run(admin("settings", "get"))
    assert (status, output) == (2, "")
    assert "no server has run" in complaint
    assert not data_dir.exists()
