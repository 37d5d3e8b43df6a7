"""Compressed requests are rejected without decompression, because a few KB could expand to gigabytes.

After the rejection, the server discards only a limited amount of data.

See RFC 9110 sections 8.4 and 15.5.16.
"""

import gzip
import zlib
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import pytest

from svc.base import http_server
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from tests.attacks.test_malformed_http import admin_listener
from tests.chat.chat_server import ChatServer
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.raw_http import RawResponse, raw_connection

REFUSAL = {
    "error": "unsupported_encoding",
    "message": "Compressed requests are not accepted. Leave out Content-Encoding",
}


@cache
def bomb() -> bytes:
    """Return a body that expands to 64 MB."""
    return gzip.compress(b" " * 64 * 1024 * 1024)


@pytest.fixture
async def hook(members: MembersByRole) -> AsyncIterator[Hook]:
    async with hook_of(members.owner) as made:
        yield made


@pytest.fixture(autouse=True)
def inflated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record each start of a decompression."""
    begun: list[int] = []
    original = zlib.decompressobj

    def noted(*arguments: Any) -> object:
        begun.append(1)
        return original(*arguments)

    monkeypatch.setattr(zlib, "decompressobj", noted)
    return begun


async def post(address: str, path: str, *headers: str, body: bytes | None = None) -> RawResponse:
    body = bomb() if body is None else body
    async with raw_connection(address) as raw:
        return await raw.ask("POST", path, [f"Content-Length: {len(body)}", *headers], body)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP", "nonsense"])
async def test_a_compressed_body_is_rejected_without_inflating_it(
    encoding: str, hook: Hook, members: MembersByRole, inflated: list[int]
) -> None:
    member = f"Authorization: Bearer {members.member.token}"
    for path in (
        "/api/auth/join",
        "/api/channels/general/messages",
        "/api/channels/general/uploads",
        hook.path,
        f"{hook.path}/github",
    ):
        answer = await post(hook.chat.address, path, member, f"Content-Encoding: {encoding}")
        assert (answer.status, answer.json()) == (415, REFUSAL), path
    # Discord and Slack have their own formats for error responses.
    answer = await post(hook.chat.address, f"{hook.path}/discord", f"Content-Encoding: {encoding}")
    assert (answer.status, answer.json()) == (415, {"code": 0, "message": REFUSAL["message"]})
    answer = await post(hook.chat.address, f"{hook.path}/slack", f"Content-Encoding: {encoding}")
    assert (answer.status, answer.body) == (415, b"invalid_payload")
    assert inflated == []


async def test_a_compressed_tus_chunk_is_also_rejected(members: MembersByRole, inflated: list[int]) -> None:
    headers = [f"Authorization: Bearer {members.member.token}", "Tus-Resumable: 1.0.0"]
    async with raw_connection(members.chat.address) as raw:
        made = await raw.ask("POST", "/api/channels/general/uploads", [*headers, "Upload-Length: 100"])
        assert made.status == 201
        [location] = [at for at in made.head.splitlines() if at.lower().startswith("location:")]
        lines = [
            *headers,
            *("Upload-Offset: 0", "Content-Type: application/offset+octet-stream"),
            *("Content-Length: 5", "Content-Encoding: gzip"),
        ]
        assert (await raw.ask("PATCH", location.partition(": ")[2], lines, b"bytes")).json() == REFUSAL
    assert inflated == []


async def test_the_management_listener_also_rejects_compressed_bodies(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory, inflated: list[int]
) -> None:
    async with admin_listener(variables, tmp_path_factory.mktemp("none")) as address:
        headers = ["Authorization: Bearer token", "Content-Encoding: gzip", f"Content-Length: {len(bomb())}"]
        async with raw_connection(address) as raw:
            assert (await raw.ask("PATCH", "/management/settings", headers, bomb())).json() == REFUSAL
    assert inflated == []


async def test_a_compressed_body_to_a_webhook_posts_nothing(hook: Hook, members: MembersByRole) -> None:
    packed = gzip.compress(b'{"text": "packed"}')
    await post(hook.chat.address, hook.path, "Content-Encoding: gzip", body=packed)
    await post(hook.chat.address, hook.path, body=b'{"text": "plain"}')
    assert (await hook.arrived())["text"] == "plain"


async def test_the_identity_encoding_is_accepted(hook: Hook) -> None:
    answer = await post(hook.chat.address, hook.path, "Content-Encoding: identity", body=b'{"text": "plain"}')
    assert answer.status == 200


@pytest.mark.parametrize("headers", [("Transfer-Encoding: chunked",), (f"Content-Length: {10**12}",)])
async def test_a_flood_after_a_rejected_request_closes_the_connection(
    headers: tuple[str, ...], chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the server does not parse the remaining data as requests. It discards a limited amount of
    data and closes the connection.
    """
    monkeypatch.setattr(http_server, "MAX_DISCARDED_BYTES", 1024 * 1024)
    async with raw_connection(chat.address) as raw:
        answer = await raw.ask("POST", "/api/auth/join", [*headers, "Content-Encoding: gzip"])
        assert answer.status == 415
        assert "connection: close\r\n" in answer.head.lower()
        sent = 0
        with pytest.raises(OSError):
            while True:
                await raw.send(b"x" * 65_536)
                sent += 65_536
        # The system's buffers hold some data that the server has not read.
        assert sent < 64 * 1024 * 1024


async def test_the_connection_stays_open_if_the_rest_of_a_rejected_body_arrives_in_time(hook: Hook) -> None:
    body = b" " * (MAX_BODY_BYTES + 1)
    async with raw_connection(hook.chat.address) as raw:
        assert (await raw.ask("POST", hook.path, [f"Content-Length: {len(body)}"], body)).status == 413
        assert (await raw.ask("GET", "/health")).status == 200
