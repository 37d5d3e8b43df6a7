"""Runs a temporary chat server to measure: `svc chat` in a folder that is deleted afterwards."""

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from svc.tools.bench.server import own_program

_LISTENING = re.compile(rb" listening address=(\S+)$")


@dataclass(frozen=True, slots=True)
class ChatServer:
    address: str
    invite: str
    pid: int | None


@asynccontextmanager
async def own_chat_server() -> AsyncIterator[ChatServer]:
    """Run `svc chat` while the block runs."""
    with TemporaryDirectory(prefix="svc-bench-") as folder:
        variables = {
            "HOST": "127.0.0.1",
            "PORT": "0",
            "DATA_DIR": folder,
            "JWT_SECRET": secrets.token_hex(),
            "ADDITIONAL_CHANNELS": "general",
            "SFU_WS_HOST": "",
            "SVC_IDENTITY_TIERS": "local",
            "MAX_MEMBERS": "100000",
        }
        async with own_program(["chat"], variables, _LISTENING) as (address, pid):
            invite = (Path(folder) / "invite-code").read_text().strip()
            yield ChatServer(address, invite, pid)
