"""Provides a running or stopped server, and runs `svc admin` commands on it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.cli import main
from tests.chat.chat_server import ChatServer, chat_server


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
    """Run a server that has an owner. For tests that need a stopped server, stop it before the test."""
    async with chat_server(variables) as server:
        await server.join("Olga")
        if request.param == "running":
            yield server
    if request.param == "stopped":
        yield None


class Admin:
    def __init__(self, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data_dir = data_dir
        self._capsys = capsys

    async def __call__(self, *words: str) -> tuple[int, str, str]:
        """Run a command, in a new thread because the server may run in this one. Return the exit status, the
        output and the errors.
        """
        arguments = ["admin", *words, "--data-dir", str(self.data_dir)]
        status = await asyncio.to_thread(main, arguments)
        written = self._capsys.readouterr()
        return status, written.out, written.err

    def at(self, data_dir: Path) -> "Admin":
        """Return the commands for another data folder."""
        return Admin(data_dir, self._capsys)

    async def json(self, *words: str) -> Any:
        status, output, complaints = await self(*words, "--json")
        assert (status, complaints) == (0, "")
        (line,) = output.splitlines()
        return json.loads(line)


@pytest.fixture
def admin(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Admin:
    return Admin(data_dir, capsys)
