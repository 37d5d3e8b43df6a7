"""A chat server with real members and a real worker beside it, on one folder."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import FormData

from svc.worker.app import Running, working
from svc.worker.config import read
from tests.chat.member import ChatServer, LiveMember, chat_server
from tests.chat.people import Person, newcomer

GENERAL = "/api/channels/general/uploads"


@dataclass
class Site:
    """`owner` is the first to have joined, and may do everything."""

    chat: ChatServer
    owner: Person
    variables: dict[str, str]

    async def send(self, content: bytes, path: str = GENERAL, name: str = "file") -> str:
        """The id of an upload that is accepted."""
        form = FormData(quote_fields=False)
        form.add_field("file", BytesIO(content), filename=name, content_type="application/octet-stream")
        headers = {"Authorization": f"Bearer {self.owner.token}"}
        async with self.chat.http.post(path, data=form, headers=headers) as response:
            answer = await response.json()
            assert response.status == 201, answer
            return str(answer["id"])

    async def upload(self, upload_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = await self.owner.done("GET", f"/api/uploads/{upload_id}")
        return shown

    async def get(self, url: str) -> bytes:
        async with self.chat.http.get(url) as response:
            assert response.status == 200
            return await response.read()

    def page(self) -> Any:
        """The owner's live socket."""
        return self.chat.member("", self.owner.token)


async def ended(page: LiveMember, upload_id: str) -> dict[str, Any]:
    """What is pushed when the worker has been through an upload: done or refused."""
    while True:
        frame = await page._next_push()
        data: dict[str, Any] = frame["data"]
        if frame["event"] == "upload_done" and data["id"] == upload_id:
            return data
        if frame["event"] == "upload_refused" and data["upload_id"] == upload_id:
            return data


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
async def site(variables: dict[str, str]) -> AsyncIterator[Site]:
    async with chat_server(variables) as chat:
        yield Site(chat, await newcomer(chat, "Owner"), variables)


@pytest.fixture
async def beside(site: Site) -> AsyncIterator[Running]:
    """A worker on the site's folder."""
    async with working(replace(read(site.variables), port=0)) as running:
        yield running
