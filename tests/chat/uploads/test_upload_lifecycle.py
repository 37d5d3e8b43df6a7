"""Follows uploads from the client to a message and their removal, with media in a folder and on third-party
servers.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tusclient.client import TusClient

from svc.base.object_store import ObjectMissing
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role
from tests.chat.uploads.upload_helpers import GENERAL, PNG, UploadServer
from tests.kit.object_stores import STORES, Stores


@pytest.fixture(params=STORES)
async def server(
    request: pytest.FixtureRequest, variables: dict[str, str], stores: Stores
) -> AsyncIterator[UploadServer]:
    variables |= stores.variables(request.param)
    async with server_with_insight(variables) as (chat, community):
        yield UploadServer(chat, community, await members_by_role(chat), variables)


async def test_a_file_is_posted_served_in_ranges_and_swept_with_its_message(server: UploadServer) -> None:
    member, written = server.members.member, secrets.token_bytes(3_000_000)
    upload_id = await server.sent(member)
    await server.work(written)
    path = "/api/channels/general/messages"
    posted = await member.done("POST", path, {"text": "", "attachments": [upload_id]})
    [attached] = posted["attachments"]
    async with server.chat.http.get(attached["url"]) as response:
        assert await response.read() == written
    async with server.chat.http.get(attached["url"], headers={"Range": "bytes=2000000-2000999"}) as response:
        assert (response.status, await response.read()) == (206, written[2_000_000:2_001_000])
    media, sweep = server.community.media, server.community.files.sweep
    now = [media._now() + sweep._grace_ms / 1000 + 1]
    media._now = sweep._now = lambda: now[0]
    assert await sweep.run_once() == 0
    await member.done("DELETE", f"{path}/{posted['id']}")
    now[0] += sweep._grace_ms / 1000
    assert await sweep.run_once() == 2, "the picture and its thumbnail are deleted"
    with pytest.raises(ObjectMissing):
        await media.objects.size(attached["key"])
    async with server.chat.http.get(attached["url"]) as response:
        assert response.status == 404
    assert await member.refused("GET", f"/api/uploads/{upload_id}") == "unknown_upload"


async def test_deleting_a_channel_releases_the_files_of_its_messages(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.done(member)
    body = {"text": "", "attachments": [upload_id]}
    await member.done("POST", "/api/channels/general/messages", body)
    await server.members.owner.done("DELETE", "/api/channels/general")
    await server.community.messages.indexer._tidy_up()
    media, sweep = server.community.media, server.community.files.sweep
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    assert await sweep.run_once() == 2


async def test_deleting_a_members_data_deletes_the_files(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.done(member)
    body = {"text": "", "attachments": [upload_id]}
    await member.done("POST", "/api/channels/general/messages", body)
    await member.done("DELETE", "/api/me")
    while await server.community.messages.own.erase_some(member.id):
        pass
    media, sweep = server.community.media, server.community.files.sweep
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    assert await sweep.run_once() == 2


# A third-party tus client


@pytest.mark.parametrize("server", ["folder"], indirect=True)
async def test_a_third_party_tus_client_can_upload_in_chunks_and_resume(
    server: UploadServer, tmp_path: Path
) -> None:
    content = PNG + secrets.token_bytes(3_000_000)
    file = tmp_path / "holiday.png"
    file.write_bytes(content)
    await asyncio.to_thread(_upload, server, file)
    job = await server.claim()
    assert job is not None
    assert (server.data_dir / job["source"]).read_bytes() == content
    [upload] = (await server.members.member.done("GET", "/api/uploads"))["uploads"]
    assert (upload["name"], upload["alt"], upload["state"]) == ("holiday.png", "The sea", "waiting")


def _upload(server: UploadServer, file: Path) -> None:
    headers = {"Authorization": f"Bearer {server.members.member.token}"}
    client = TusClient(server.chat.address + GENERAL, headers=headers)
    metadata = {"filename": file.name, "alt": "The sea"}
    with file.open("rb") as stream:
        first = client.uploader(file_stream=stream, chunk_size=1_000_000, metadata=metadata)
        first.upload_chunk()  # type: ignore[no-untyped-call]
    # Resume later, at the stored offset, as a new program would.
    with file.open("rb") as stream:
        again = client.uploader(file_stream=stream, chunk_size=1_000_000, url=first.url)
        assert again.offset == 1_000_000
        again.upload()
