"""Runs a private installation to attack: chat server, SFU and media worker in a temporary folder.

Counts the programs' log output. Creates the accounts, the webhooks and the file that attacks need.
"""

import asyncio
import json
import os
import re
import resource
import secrets
import struct
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from svc.base import control_socket
from svc.tools.bench.attack.http_client import Caller
from svc.tools.bench.attack.target import LOOPBACK_SOURCES, Target
from svc.tools.bench.chat_server import ChatServer
from svc.tools.bench.errors import BenchError
from svc.tools.bench.server import own_program, own_server
from svc.tools.bench.sign_up import join_all
from svc.tools.cluster_demo import free_ports

_LISTENING = re.compile(rb" listening address=(\S+)$")
# Noise compresses poorly, so the image stays large in any format.
PICTURE_SIDE = 1024
MEDIA_DEADLINE_S = 30.0
# The message history: each member writes this many long messages, which is fewer than the rate limit allows
# in a burst.
FILLING = "the quick brown fox jumps over the lazy dog "
FILLED_BY_EACH = 10
FILLING_AT_ONCE = 8
# Each webhook accepts 15 posts before its rate limit applies. With this many webhooks, an attacker can post
# for the whole attack.
WEBHOOKS = 40
# The SFU's number of seats. It does not matter, because nobody joins a call.
SEATS = 16
# The default soft limit on open files in shells, systemd and containers.
DEFAULT_DESCRIPTORS = 1024
_POLL_S = 0.2
# Every message is checked against these rules. The check is slow only for a few very long messages.
_RULES: Sequence[Mapping[str, object]] = (
    {"kind": "words", "words": [f"q*{letter}*{other}?" for letter in "abcdefghij" for other in "klmnopqrsz"]},
    {"kind": "words", "words": [f"{('ab' * 10)[:length]}*" for length in range(2, 20)]},
    {"kind": "links", "allowed": [f"a{number}.example" for number in range(100)]},
    {"kind": "mentions", "most": 40},
)


@dataclass
class Installation:
    target: Target
    invite: str
    pid: int | None
    log_bytes: int = 0  # bytes written by all programs so far
    # path of a webhook for trying out bodies, with limits separate from those of the attacked webhooks
    tried: str = ""

    def hear(self, line: bytes) -> None:
        self.log_bytes += len(line)


@asynccontextmanager
async def own_installation(*, tls: Path | None) -> AsyncIterator[Installation]:
    """Run a complete installation while the block runs. `tls` is a PEM file with a certificate."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="svc-bench-"))
        installed, management = Installation(Target(""), "", None), free_ports(1)[0]
        storage = {"DATA_DIR": folder, "STORAGE_BACKEND": "filesystem"}
        with _usual_descriptors():
            sfu = await stack.enter_async_context(own_server(SEATS, hear=installed.hear))
            variables = _variables(urlsplit(sfu.url).netloc, management) | storage
            command = ["chat", *(("--tls-cert", str(tls)) if tls else ())]
            chat = own_program(command, variables, _LISTENING, installed.hear)
            address, installed.pid = await stack.enter_async_context(chat)
            worker = own_program(["worker", "--port", "0"], storage, _LISTENING, installed.hear)
            await stack.enter_async_context(worker)
        installed.invite = (Path(folder) / "invite-code").read_text().strip()
        installed.target = Target(
            address,
            LOOPBACK_SOURCES,
            folder=folder,
            management=f"http://127.0.0.1:{management}",
            sfu=sfu.url.replace("ws", "http", 1),
        )
        yield installed


def _variables(sfu: str, management: int) -> dict[str, str]:
    return {
        "HOST": "127.0.0.1",
        "PORT": "0",
        "JWT_SECRET": secrets.token_hex(),
        "ADDITIONAL_CHANNELS": "general",
        "SFU_WS_HOST": sfu,
        "SERVER_ID": "attacked",
        "SERVER_PASSWORD": secrets.token_hex(),
        "SVC_IDENTITY_TIERS": "local",
        "SVC_ADMIN_TOKEN": secrets.token_hex(),
        "SVC_ADMIN_PORT": str(management),
        "MAX_MEMBERS": "100000",
    }


@contextmanager
def _usual_descriptors() -> Iterator[None]:
    """Start programs within the block with the default limit on open files, regardless of our own limit."""
    before, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DEFAULT_DESCRIPTORS, before), maximum))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, maximum))


async def prepare(installed: Installation) -> None:
    """Create the owner, an invite and webhooks, and turn on the profanity filter. Raises BenchError."""
    (owner,) = await create_members(installed, 1)
    invite = await ask(installed.target, "POST", "/api/invites", owner, {})
    installed.invite = str(invite["code"])
    body = {"name": "Attacked", "channel_id": await _text_channel(installed.target, owner)}
    webhook = _path(await ask(installed.target, "POST", "/api/webhooks", owner, body))
    trial_channel = await ask(
        installed.target, "POST", "/api/channels", owner, {"name": "tried", "type": "text"}
    )
    installed.tried = _path(
        await ask(
            installed.target,
            "POST",
            "/api/webhooks",
            owner,
            {"name": "Tried", "channel_id": trial_channel["id"]},
        )
    )
    paths = [await _of_operator(installed.target, str(body["channel_id"])) for _ in range(WEBHOOKS)]
    installed.target = replace(installed.target, webhook=webhook, webhooks=tuple(paths))
    await ask(installed.target, "PATCH", "/api/settings", owner, {"profanityMode": "flag"})
    for rule in _RULES:
        wanted = {"name": rule["kind"], "action": "censor", "enabled": True, **rule}
        await ask(installed.target, "POST", "/api/automod/rules", owner, wanted)


async def _of_operator(target: Target, channel_id: str) -> str:
    """Create a webhook as the operator, because such webhooks have their own limits. Return its path. Raises
    BenchError.
    """
    arguments = {"channel": channel_id, "name": "Attacked"}
    try:
        answer = await control_socket.ask(Path(target.folder), "webhook_create", arguments)
    except (control_socket.NotRunning, control_socket.ControlFailed) as fault:
        raise BenchError(f"no webhook could be created: {fault}") from None
    made = answer.get("result")
    if not isinstance(made, dict):
        raise BenchError(f"no webhook could be created: {answer.get('message', '')}")
    return str(made["path"])


def _path(webhook: Mapping[str, object]) -> str:
    return f"/api/webhooks/{webhook['id']}/{webhook['token']}"


async def create_members(installed: Installation, count: int) -> list[str]:
    """Create members and return their access tokens. Raises BenchError."""
    tokens: list[str] = []

    async def arrive(token: str) -> None:
        tokens.append(token)

    server = ChatServer(installed.target.address, installed.invite, installed.pid)
    await join_all(server, count, min(count, 16), arrive)
    return tokens


async def with_accounts(target: Target, tokens: list[str]) -> Target:
    """Return the target with the attacker accounts added. Raises BenchError."""
    target = replace(target, channel_id=await _text_channel(target, tokens[0]), tokens=tuple(tokens))
    return replace(target, media=await _stored_picture(target, tokens[0]))


async def fill_history(target: Target, tokens: list[str]) -> None:
    """Make each member write a few long messages, so that searches find matches."""
    path = f"/api/channels/{target.channel_id}/messages"
    body = json.dumps({"text": (FILLING * 100)[:4000]}).encode()
    posts = iter([target.request("POST", path, token=token, body=body) for token in tokens * FILLED_BY_EACH])

    async def one_by_one() -> None:
        for post in posts:
            await _response(target, path, post)

    await asyncio.gather(*(one_by_one() for _ in range(FILLING_AT_ONCE)))


async def _text_channel(target: Target, token: str) -> str:
    channels = (await ask(target, "GET", "/api/channels", token))["channels"]
    assert isinstance(channels, list)
    for channel in channels:
        if channel["type"] == "text":
            return str(channel["id"])
    raise BenchError("the community has no text channel")


async def _stored_picture(target: Target, token: str) -> str:
    """Store a large image. Return its path, or "" if the server does not accept uploads or has no media
    worker.
    """
    try:
        async with asyncio.timeout(MEDIA_DEADLINE_S):
            upload_id = await _upload(target, token)
            while (upload := await ask(target, "GET", f"/api/uploads/{upload_id}", token))["state"] != "done":
                if upload["state"] == "refused":
                    return ""
                await asyncio.sleep(_POLL_S)
            body = {"text": "attack", "attachments": [upload_id]}
            path = f"/api/channels/{target.channel_id}/messages"
            message = await ask(target, "POST", path, token, body)
    except (BenchError, TimeoutError):
        return ""
    attachments = message["attachments"]
    assert isinstance(attachments, list)
    url = urlsplit(str(attachments[0]["url"]))
    return f"{url.path}?{url.query}"


async def delete_members(target: Target, tokens: list[str]) -> None:
    """Delete the accounts and all messages that they wrote."""
    for token in tokens:
        await ask(target, "DELETE", "/api/me", token)


async def ask(
    target: Target, method: str, path: str, token: str, body: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Send a member's request and return the response. Raises BenchError."""
    data = None if body is None else json.dumps(body).encode()
    return await _response(target, path, target.request(method, path, token=token, body=data))


async def _upload(target: Target, token: str) -> str:
    picture = _noise(PICTURE_SIDE)
    boundary = secrets.token_hex()
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="noise.png"\r\n\r\n'
    body = head.encode() + picture + f"\r\n--{boundary}--\r\n".encode()
    path = f"/api/channels/{target.channel_id}/uploads"
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return str(
        (
            await _response(
                target, path, target.request("POST", path, token=token, body=body, headers=headers)
            )
        )["id"]
    )


async def _response(target: Target, path: str, data: bytes) -> dict[str, object]:
    caller = Caller(target.address)
    try:
        answer = await caller.ask(data)
    except (OSError, EOFError, ValueError) as fault:
        raise BenchError(f"{path} did not answer: {fault or type(fault).__name__}") from None
    finally:
        caller.close()
    if answer.status >= 400:
        raise BenchError(f"{path} answered {answer.status}: {answer.json().get('message', '')}")
    return answer.json()


def _noise(side: int) -> bytes:
    """Return a PNG of random colours."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + os.urandom(3 * side) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks
