"""Runs a chat server in the test's process, where members can join and open live sockets."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, web_app

from svc.chat.app import serving
from svc.chat.config import read
from tests.chat.live_member import LiveMember
from tests.kit import new_databases, page_files
from tests.kit.device import Device


@dataclass
class ChatServer:
    """A running server, as its clients see it."""

    address: str
    http: ClientSession
    invite: str

    async def join(self, nickname: str) -> str:
        """Join as a new member on a new device. Return the access token."""
        return str((await self.sign_in(Device(), nickname=nickname, invite_code=self.invite))["access_token"])

    async def sign_in(self, device: Device, **fields: object) -> dict[str, Any]:
        """Sign in with a device. Return the server's response."""
        proof = await device.proof(self.http, self.address)
        async with self.http.post("/api/auth/join", json=proof | fields) as response:
            answer: dict[str, Any] = await response.json()
            assert response.status == 200, answer
            return answer

    async def metrics(self) -> str:
        async with self.http.get("/metrics") as response:
            return await response.text()

    @asynccontextmanager
    async def member(
        self, nickname: str, token: str | None = None, **options: Any
    ) -> AsyncIterator[LiveMember]:
        """Open a live socket for a new member, or for the member with this token. `options` are additional
        request fields.
        """
        token = token or await self.join(nickname)
        async with self.http.ws_connect("/live", max_msg_size=0) as ws:
            member = LiveMember(ws, token)
            member.hello = (await member.receive())["data"]
            sign_in = await member.ask("authenticate", access_token=token, **options)
            member.welcome = sign_in["data"]
            yield member


@asynccontextmanager
async def chat_server(variables: Mapping[str, str]) -> AsyncIterator[ChatServer]:
    config = read(variables)
    page_files.reuse()
    new_databases.reuse()
    async with serving(config) as address, ClientSession(address) as http:
        invite = (config.data_dir / "invite-code").read_text().strip()
        yield ChatServer(address, http, invite)
    # aiohttp caches references to a thousand handlers, including those of stopped applications. They would
    # keep a hundred servers alive and take 4 GB.
    web_app._cached_build_middleware.cache_clear()
