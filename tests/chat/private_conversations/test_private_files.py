"""Encrypted files are available only to the conversation's group and are deleted with their messages."""

import asyncio
import os
import time
from io import BytesIO
from pathlib import Path
from typing import Any

from aiohttp import ClientResponse

from svc.chat.private_conversations import files
from tests.chat.private_conversations.mls_messages import Client, path
from tests.chat.private_conversations.test_private import PrivateServer, second_device, server
from tests.chat.test_shutdown import where
from tests.kit.wait import wait_until

__all__ = ["server"]

TYPE = "application/octet-stream"


async def send(
    client: Client, conversation: dict[str, Any], data: bytes, kind: str = TYPE
) -> tuple[int, Any]:
    person = client.person
    headers = {"Authorization": f"Bearer {person.token}", "Content-Type": kind}
    request = person.chat.http.post(path(conversation, "files"), data=BytesIO(data), headers=headers)
    async with request as response:
        return response.status, await response.json()


async def get(
    client: Client, conversation: dict[str, Any], file_id: str, **headers: str
) -> tuple[ClientResponse, bytes]:
    person = client.person
    request = person.chat.http.get(
        path(conversation, f"files/{file_id}"), headers={"Authorization": f"Bearer {person.token}"} | headers
    )
    async with request as response:
        return response, await response.read()


def stored(server: PrivateServer) -> list[Path]:
    return [path for path in (server.data / "uploads-store").rglob("*") if path.is_file()]


async def test_a_file_is_served_unchanged_and_only_to_devices_in_the_group(
    server: PrivateServer,
) -> None:
    ada, ben, eve = [await server.client(name) for name in ("Ada", "Ben", "Eve")]
    conversation = await server.group(ada, ben)
    # The server treats the file as opaque, so it serves even data that looks like a web page as bytes.
    sealed = b"<html><script>alert(1)</script>" + os.urandom(300_000)
    status, answer = await send(ada, conversation, sealed)
    assert status == 201
    file_id = answer["file_id"]
    response, data = await get(ben, conversation, file_id)
    assert (response.status, data) == (200, sealed)
    assert response.headers["Content-Type"] == TYPE
    assert response.headers["Content-Disposition"] == "attachment"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    response, data = await get(ben, conversation, file_id, Range="bytes=5-9")
    assert (response.status, data) == (206, sealed[5:10])

    response, data = await get(eve, conversation, file_id)
    assert response.status == 404 and b"unknown_conversation" in data
    # A member's device that has not been added yet cannot read the file. Another conversation does not
    # contain it.
    other = await server.of(await second_device(ben.person))
    response, data = await get(other, conversation, file_id)
    assert response.status == 409 and b"no_device" in data
    elsewhere = await server.group(ben, eve)
    response, data = await get(ben, elsewhere, file_id)
    assert response.status == 404 and b"unknown_file" in data
    # Media URLs do not serve the file, either.
    name = stored(server)[0].name
    async with server.chat.http.get(f"/media/{name}") as refused:
        assert refused.status == 403


async def test_oversized_and_invalid_bodies_are_rejected_and_not_stored(server: PrivateServer) -> None:
    ada, ben, eve = [await server.client(name) for name in ("Ada", "Ben", "Eve")]
    conversation = await server.group(ada, ben)
    other = Client(await second_device(ben.person), server.server_id, time.time())
    assert (await send(other, conversation, b"x"))[1]["error"] == "no_device", (
        "the device is not in the group"
    )
    status, answer = await send(ada, conversation, bytes(files.MAX_FILE_BYTES + 1))
    assert (status, answer["error"], answer["limit"]) == (413, "upload_too_large", files.MAX_FILE_BYTES)
    assert (await send(ada, conversation, b""))[1]["error"] == "upload_too_large"
    assert (await send(ada, conversation, b"{}", "application/json"))[1]["error"] == "wrong_content_type"
    assert (await send(eve, conversation, b"x"))[1]["error"] == "unknown_conversation"
    await ben.person.done("PUT", f"/api/me/blocks/{ada.person.id}")
    assert (await send(ada, conversation, b"x"))[1]["error"] == "private_refused"
    assert stored(server) == []
    incoming = server.data / "incoming"
    assert not incoming.exists() or list(incoming.iterdir()) == []


async def test_only_the_sender_can_delete_a_file_and_it_is_removed_from_the_disk(
    server: PrivateServer,
) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    file_id = (await send(ada, conversation, b"first sealed file"))[1]["file_id"]
    two = (await send(ada, conversation, b"second sealed file"))[1]["file_id"]
    assert await ben.person.refused("DELETE", path(conversation, f"files/{file_id}")) == "unknown_file"
    await ada.person.done("DELETE", path(conversation, f"files/{file_id}"))
    assert await ada.person.refused("DELETE", path(conversation, f"files/{file_id}")) == "unknown_file"
    assert [file.read_bytes() for file in stored(server)] == [b"second sealed file"]
    assert (await get(ben, conversation, file_id))[0].status == 404
    assert (await get(ben, conversation, two))[0].status == 200


async def test_files_expire_with_their_messages_and_leave_no_rows(
    server: PrivateServer,
) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    file_id = (await send(ada, conversation, b"an old sealed file"))[1]["file_id"]
    name = stored(server)[0].name
    sweep = server.community.private.sweep
    days = server.community._config.mls_retention_days
    sweep._now = lambda: time.time() + days * 24 * 60 * 60 - 60
    await sweep.run_once()
    assert (await get(ben, conversation, file_id))[0].status == 200, "not a minute before"
    sweep._now = lambda: time.time() + days * 24 * 60 * 60 + 60
    await sweep.run_once()
    assert stored(server) == []
    assert (await get(ben, conversation, file_id))[0].status == 404
    for trace in (file_id.encode(), name.encode()):
        assert trace not in server.bytes_on_disk()


async def test_files_are_deleted_with_their_conversation(server: PrivateServer) -> None:
    ada, ben, cem = [await server.client(name) for name in ("Ada", "Ben", "Cem")]
    conversation = await server.group(ada, ben, cem)
    file_id = (await send(ada, conversation, b"a sealed file"))[1]["file_id"]
    for client in (ada, ben):
        await client.person.done("POST", path(conversation, "leave"))
    sweep = server.community.private.sweep
    await sweep.run_once()
    assert (await get(cem, conversation, file_id))[0].status == 200, "another member remains"
    await cem.person.done("POST", path(conversation, "leave"))
    await sweep.run_once()
    assert stored(server) == []


async def test_an_incomplete_file_is_not_found(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    _, writer = await asyncio.open_connection(*where(server.chat.address))
    lines = [
        f"POST {path(conversation, 'files')} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {ada.person.token}",
        f"Content-Type: {TYPE}",
        "Content-Length: 1000",
    ]
    writer.write("\r\n".join([*lines, "", "half"]).encode())
    await writer.drain()
    incoming = server.data / "incoming"

    async def begun() -> bool:
        return incoming.exists() and any(incoming.iterdir())

    async def over() -> bool:
        return not any(incoming.iterdir())

    await wait_until("the upload has started", begun, within_s=10)
    writer.close()
    await wait_until("the partial upload is deleted", over, within_s=10)
    assert stored(server) == []
