"""Uploads interrupted by the server's death are resumed if possible and deleted otherwise."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, FormData

from tests.chat.chat_server import ChatServer
from tests.chat.uploads.upload_helpers import GENERAL, PNG, TUS
from tests.kit.chat_process import chat_process
from tests.kit.wait import wait_until


async def test_only_resumable_uploads_survive_when_the_server_is_killed(tmp_path: Path) -> None:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
    }
    async with chat_process(variables) as server, ClientSession(server.address) as http:
        invite = (tmp_path / "data" / "invite-code").read_text().strip()
        token = await ChatServer(server.address, http, invite).join("Ada")
        headers = {"Authorization": f"Bearer {token}"}
        async with http.post(GENERAL, headers={**headers, **TUS, "Upload-Length": "1000"}) as response:
            assert response.status == 201

        async def cut_off() -> AsyncIterator[bytes]:
            yield PNG

            async def is_receiving() -> bool:
                return [upload["state"] for upload in await uploads(http, headers)] == ["receiving"] * 2

            await wait_until("both uploads are being received", is_receiving, within_s=10)
            server.kill()

        form = FormData()
        form.add_field("file", cut_off(), filename="cat.png")
        try:
            async with http.post(GENERAL, data=form, headers=headers) as response:
                raise AssertionError(f"answered {response.status}")
        except (ClientError, ConnectionError):
            await server.ended()
    async with chat_process(variables) as server, ClientSession(server.address) as http:
        assert [upload["length"] for upload in await uploads(http, headers)] == [1000]


async def uploads(http: ClientSession, headers: dict[str, str]) -> list[dict[str, Any]]:
    async with http.get("/api/uploads", headers=headers) as response:
        listed: list[dict[str, Any]] = (await response.json())["uploads"]
        return listed
