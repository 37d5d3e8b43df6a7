"""Uploads files to a chat server in this or another process, and waits for the worker."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiohttp import FormData

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.live_member import LiveMember

GENERAL = "/api/channels/general/uploads"


class TooMany(Exception):
    """Raised if a member has so many unfinished uploads that the server refuses another one."""


@dataclass
class UploadClient:
    """Uploads as `owner`, the first member, who has all permissions."""

    chat: ChatServer
    owner: HttpMember
    variables: dict[str, str]

    async def cancel_interrupted(self) -> None:
        """Cancel interrupted uploads, as the web client does if it cannot resume them."""
        for upload in (await self.owner.done("GET", "/api/uploads"))["uploads"]:
            if upload["state"] == "receiving":
                await self.owner.ask("DELETE", f"/api/uploads/{upload['id']}")

    async def send(self, content: bytes, path: str = GENERAL, name: str = "file") -> str:
        """Upload a file. Return the upload's id.

        Retries if rate limited. Raises TooMany if too many uploads are unfinished.
        """
        form = FormData(quote_fields=False)
        form.add_field("file", BytesIO(content), filename=name, content_type="application/octet-stream")
        headers = {"Authorization": f"Bearer {self.owner.token}"}
        async with self.chat.http.post(path, data=form, headers=headers) as response:
            answer = await response.json()
            if response.status == 409:
                raise TooMany
            if response.status == 429:
                await asyncio.sleep(answer["retry_after_ms"] / 1000)
                return await self.send(content, path, name)
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
        """Return the owner's live socket."""
        return self.chat.member("", self.owner.token)


async def ended(page: LiveMember, upload_id: str) -> dict[str, Any]:
    """Wait until the worker has finished an upload. Return the event that reports the upload as done or
    rejected.
    """
    while True:
        frame = await page._next_push()
        data: dict[str, Any] = frame["data"]
        if frame["event"] == "upload_done" and data["id"] == upload_id:
            return data
        if frame["event"] == "upload_refused" and data["upload_id"] == upload_id:
            return data
