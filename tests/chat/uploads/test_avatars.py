"""Once processed, avatars are visible to members and the server icon is visible to everyone."""

import json
from base64 import b64decode

from tests.chat.uploads.upload_helpers import UploadServer


async def test_all_members_can_see_an_avatar_once_the_worker_has_processed_it(server: UploadServer) -> None:
    member = server.members.member
    async with server.members.live("guest") as [page]:
        await server.sent(member, "/api/me/avatar")
        assert (await member.done("GET", f"/api/members/{member.id}"))["avatar"] is None
        job = await server.claim()
        assert job is not None and (job["kind"], job["limits"]["max_side"]) == ("avatar", 256)
        results = [{"role": "original", "key": await server.store(job, b"face"), "bytes": 4}]
        results[0]["content_type"] = "image/webp"
        which = {"job": job["id"], "lease": job["lease"]}
        assert await server.command("job_finish", **which, results=results) == {}
        event = await page.pushed("member_updated")
        assert event["id"] == member.id
    async with server.chat.http.get(event["avatar"]) as response:
        assert await response.read() == b"face"
    assert (await member.done("GET", f"/api/members/{member.id}"))["avatar"] == event["avatar"]
    async with server.members.live("member") as [own]:
        assert own.welcome["member"]["avatar"] == event["avatar"]
    await member.done("DELETE", "/api/me/avatar")
    assert (await member.done("GET", f"/api/members/{member.id}"))["avatar"] is None


async def test_a_member_in_timeout_cannot_change_their_avatar(server: UploadServer) -> None:
    member, owner = server.members.member, server.members.owner
    timeout = f"/api/members/{member.id}/timeout"
    await server.sent(member, "/api/me/avatar")
    await owner.done("PUT", timeout, {"duration_s": 3600})
    status, answer = await server.send(member, "/api/me/avatar")
    assert (status, answer["error"]) == (403, "in_timeout")
    # An avatar uploaded before the timeout does not become visible, either.
    async with server.members.live("member") as [page]:
        await server.work()
        assert (await page.pushed("upload_refused"))["code"] == "in_timeout"
    assert (await member.done("GET", f"/api/members/{member.id}"))["avatar"] is None
    await owner.done("DELETE", timeout)
    await server.sent(member, "/api/me/avatar")


async def test_the_previous_avatar_is_deleted_and_the_current_one_is_kept(server: UploadServer) -> None:
    media, sweep = server.community.media, server.community.files.sweep
    for picture in (b"first", b"second"):
        await server.sent(server.members.member, "/api/me/avatar")
        await server.work(picture)
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    # The sweep deletes the first avatar, and two thumbnails that no avatar uses.
    assert await sweep.run_once() == 3
    avatar = (await server.members.member.done("GET", f"/api/members/{server.members.member.id}"))["avatar"]
    async with server.chat.http.get(avatar) as response:
        assert await response.read() == b"second"


async def test_deleting_a_members_data_deletes_the_avatar(server: UploadServer) -> None:
    member = server.members.member
    await server.sent(member, "/api/me/avatar")
    await server.work()
    await member.done("DELETE", "/api/me")
    media, sweep = server.community.media, server.community.files.sweep
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    assert await sweep.run_once() == 2


async def test_an_export_contains_the_members_uploads(server: UploadServer) -> None:
    member = server.members.member
    await server.sent(member, "/api/me/avatar")
    await server.work()
    headers = {"Authorization": f"Bearer {member.token}"}
    async with server.chat.http.get("/api/me/export", headers=headers) as response:
        exported = json.loads(await response.text())
    [upload] = exported["uploads"]
    async with server.chat.http.get(upload["result"]["url"]) as response:
        assert await response.read() == b"written anew"


async def test_anyone_can_see_the_server_icon(server: UploadServer) -> None:
    owner = server.members.owner
    async with server.chat.http.get("/icon") as response:
        assert response.status == 404
    async with server.members.live("guest") as [page]:
        await server.sent(owner, "/api/icon")
        await server.work(b"icon")
        address = (await page.pushed("icon_changed"))["icon_url"]
    async with server.chat.http.get("/info") as response:
        assert (await response.json())["iconUrl"] == address
    async with server.chat.http.get(address) as response:
        assert (response.status, response.content_type, await response.read()) == (200, "image/webp", b"icon")
    token = (await owner.done("POST", "/api/me/counts-token"))["token"]
    counts = await owner.done("POST", "/api/counts", {"token": token, "picture": True})
    assert b64decode(counts["picture"]) == b"icon"
    entries = (await owner.done("GET", "/api/audit?action=icon_change"))["entries"]
    assert [entry["actor_id"] for entry in entries] == [owner.id]
    await owner.done("DELETE", "/api/icon")
    async with server.chat.http.get("/icon") as response:
        assert response.status == 404


async def test_an_icon_uploaded_by_a_former_owner_is_not_used(server: UploadServer) -> None:
    owner, admin = server.members.owner, server.members.admin
    await server.sent(owner, "/api/icon")
    await owner.done("POST", f"/api/members/{admin.id}/owner")
    async with server.members.live("owner") as [page]:
        await server.work(b"icon")
        assert (await page.pushed("upload_refused"))["code"] == "forbidden"
    async with server.chat.http.get("/icon") as response:
        assert response.status == 404


async def test_the_operators_size_limit_applies_to_the_icon(server: UploadServer) -> None:
    status, _, answer = await server.begin(server.members.owner, 25 * 1024 * 1024 + 1, "/api/icon")
    assert (status, answer["error"], answer["limit"]) == (413, "upload_too_large", 25 * 1024 * 1024)
    status, _, _ = await server.begin(server.members.owner, 25 * 1024 * 1024, "/api/icon")
    assert status == 201
