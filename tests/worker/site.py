"""A chat server as members who upload see it, whoever runs it."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiohttp import FormData

from tests.chat.member import ChatServer, LiveMember
from tests.chat.people import Person

GENERAL = "/api/channels/general/uploads"


class TooMany(Exception):
    """A member has so many unfinished that no more is taken."""


@dataclass
class Site:
    """`owner` is the first to have joined, and may do everything."""

    chat: ChatServer
    owner: Person
    variables: dict[str, str]

    async def cancel_what_was_cut_off(self) -> None:
        """As a page does that finds uploads which it has not finished and cannot go on with."""
        for upload in (await self.owner.done("GET", "/api/uploads"))["uploads"]:
            if upload["state"] == "receiving":
                await self.owner.ask("DELETE", f"/api/uploads/{upload['id']}")

    async def send(self, content: bytes, path: str = GENERAL, name: str = "file") -> str:
        """The id of an upload that is accepted; sent again where it comes too fast. Raises TooMany."""
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
