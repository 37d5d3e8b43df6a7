"""A chat server with real members, and a real worker that uses the same data folder."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from svc.worker.app import RunningWorker, working
from svc.worker.config import read
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.worker.upload_client import UploadClient


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "ADDITIONAL_CHANNELS": "general",
        "STORAGE_BACKEND": "filesystem",
        "EMOJI_QUEUE_POLL_MS": "250",
    }


@pytest.fixture
async def client(variables: dict[str, str]) -> AsyncIterator[UploadClient]:
    async with chat_server(variables) as chat:
        yield UploadClient(chat, await newcomer(chat, "Owner"), variables)


@pytest.fixture
async def own_worker(client: UploadClient) -> AsyncIterator[RunningWorker]:
    """Run a worker that uses the chat server's data folder."""
    async with working(replace(read(client.variables), port=0)) as running:
        yield running
