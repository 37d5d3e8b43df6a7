"""A file is received in one or more requests, processed and then attached to a message."""

import asyncio
import base64
import os
from typing import cast

import pytest

from svc.chat.community import Community
from svc.chat.media import usage
from svc.chat.uploads import limits
from tests.chat.chat_server import chat_server
from tests.chat.http_member import newcomer
from tests.chat.members_by_role import MembersByRole
from tests.chat.uploads.upload_helpers import GENERAL, PNG, TUS, UploadServer
from tests.kit.wait import eventually, wait_until


async def test_the_worker_processes_a_file_before_it_is_attached_to_a_message(server: UploadServer) -> None:
    member = server.members.member
    async with server.members.live("member", "guest") as [page, other]:
        status, upload = await server.send(member, name="../My Cat.png")
        assert (status, upload["state"], upload["name"]) == (201, "waiting", "My Cat.png")
        assert upload["result"] is None, "the result is still hidden"
        assert (await page.pushed("upload_progress"))["progress"] == 0
        job = await server.claim()
        assert job is not None
        assert (job["kind"], job["attempt"], job["source"]) == ("picture", 1, f"incoming/{upload['id']}")
        assert (server.data_dir / job["source"]).read_bytes() == PNG
        await server.command("job_fail", job=job["id"], lease=job["lease"], message="later")
        server.community.files.queue._now = lambda: 10**10
        await server.work()
        done = await page.pushed("upload_done")
        assert (done["state"], done["result"]["name"], done["result"]["width"]) == (
            "done",
            "My Cat.webp",
            320,
        )
        sent = await page.ask("message_send", channel_id="general", text="look", attachments=[upload["id"]])
        [attached] = sent["data"]["attachments"]
        event = await other.pushed("message_posted")
        assert event["attachments"] == [attached]
        assert "upload_done" not in other.kept_events(), "other members get no event"
    async with server.chat.http.get(attached["url"]) as response:
        assert await response.read() == b"written anew"
    async with server.chat.http.get(attached["thumbnail"]["url"]) as response:
        assert await response.read() == b"small"


async def test_history_and_search_contain_attachments(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.done(member)
    body = {"text": "", "attachments": [upload_id]}
    posted = await member.done("POST", "/api/channels/general/messages", body)
    page = await member.done("GET", "/api/channels/general/messages")
    assert page["messages"][0]["attachments"] == posted["attachments"]
    await server.community.messages.indexer.wait_indexed()
    for query, count in (("has:image", 1), ("has:file", 1), ("has:video", 0)):
        answer = await member.done("GET", f"/api/search?query={query}")
        assert len(answer["messages"]) == count, query


async def test_a_message_with_a_video_is_found_with_the_has_video_filter(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.sent(member, content=b"\0\0\0\x20ftypisom" + bytes(100))
    job = await server.claim(kinds=["picture"])
    assert job is None
    await server.work(content_type="video/mp4")
    await member.done("POST", "/api/channels/general/messages", {"text": "film", "attachments": [upload_id]})
    await server.community.messages.indexer.wait_indexed()
    assert (await member.done("GET", "/api/search?query=has:video"))["messages"][0]["text"] == "film"


async def test_members_can_attach_only_their_own_finished_uploads_and_only_once(server: UploadServer) -> None:
    member, moderator = server.members.member, server.members.moderator
    path = "/api/channels/general/messages"
    waiting = await server.sent(member)
    assert await member.refused("POST", path, {"text": "x", "attachments": [waiting]}) == "upload_not_done"
    await server.work()
    body = {"text": "x", "attachments": [waiting]}
    assert await moderator.refused("POST", path, body) == "unknown_upload"
    assert (
        await member.refused("POST", path, {"text": "x", "attachments": [waiting, waiting]})
        == "invalid_request"
    )
    await member.done("POST", path, body)
    assert await member.refused("POST", path, body) == "unknown_upload"
    assert await member.refused("POST", path, {"text": "x", "attachments": ["nothing"]}) == "unknown_upload"
    eleven = {"text": "x", "attachments": [str(n) for n in range(11)]}
    assert await member.refused("POST", path, eleven) == "invalid_request"


async def test_files_from_a_rejected_message_can_be_attached_to_another_message(server: UploadServer) -> None:
    member, path = server.members.member, "/api/channels/general/messages"
    upload_id = await server.done(member)
    body = {"text": "x", "attachments": [upload_id, "nothing"]}
    assert await member.refused("POST", path, body) == "unknown_upload"
    await member.done("POST", path, {"text": "x", "attachments": [upload_id]})


async def test_members_without_the_permission_to_attach_files_cannot_upload(server: UploadServer) -> None:
    guest = server.members.guest
    status, answer = await server.send(guest)
    assert (status, answer["error"]) == (403, "forbidden")
    status, answer = await server.send(server.members.member, "/api/channels/nowhere/uploads")
    assert (status, answer["error"]) == (404, "unknown_channel")
    body = {"text": "x", "attachments": ["any"]}
    assert await guest.refused("POST", "/api/channels/general/messages", body) == "forbidden"


async def test_a_member_is_notified_when_the_worker_rejects_a_file(server: UploadServer) -> None:
    member = server.members.member
    async with server.members.live("member") as [page]:
        upload_id = await server.sent(member, content=b"%PDF-1.7 something")
        job = await server.claim()
        assert job is not None and job["kind"] == "file"
        refusal = {"code": "unsupported_type", "message": "No picture and no video"}
        await server.command("job_refuse", job=job["id"], lease=job["lease"], **refusal)
        assert await page.pushed("upload_refused") == {"upload_id": upload_id, **refusal}
    shown = await member.done("GET", f"/api/uploads/{upload_id}")
    assert (shown["state"], shown["refusal"]) == ("refused", refusal)
    file = server.data_dir / "incoming" / upload_id
    await eventually("the file is deleted", lambda: not file.exists(), within_s=10)


async def test_the_uploader_is_notified_of_progress(server: UploadServer) -> None:
    async with server.members.live("member") as [page]:
        upload_id = await server.sent(server.members.member)
        job = await server.claim()
        assert job is not None
        await server.command("job_renew", job=job["id"], lease=job["lease"], progress=0.5)
        assert (await page.pushed("upload_progress"))["state"] == "waiting"
        event = await page.pushed("upload_progress")
        assert event == {"upload_id": upload_id, "state": "working", "progress": 0.5}


async def test_alt_text_is_written_before_posting_and_appears_in_the_message(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.done(member)
    await member.done("PUT", f"/api/uploads/{upload_id}/alt", {"alt": "A cat asleep"})
    body = {"text": "", "attachments": [upload_id]}
    posted = await member.done("POST", "/api/channels/general/messages", body)
    assert posted["attachments"][0]["alt"] == "A cat asleep"
    async with server.members.live("guest") as [page]:
        await member.done("PUT", f"/api/uploads/{upload_id}/alt", {"alt": "A cat, awake"})
        event = await page.pushed("attachments_changed")
        assert (event["id"], event["attachments"][0]["alt"]) == (posted["id"], "A cat, awake")
    history = await member.done("GET", "/api/channels/general/messages")
    assert history["messages"][0]["attachments"] == event["attachments"]
    await member.done("DELETE", f"/api/channels/general/messages/{posted['id']}")
    await member.done("PUT", f"/api/uploads/{upload_id}/alt", {"alt": "Gone"})


async def test_alt_text_can_be_changed_while_its_author_may_write_in_the_channel(
    server: UploadServer,
) -> None:
    member, owner = server.members.member, server.members.owner
    upload_id = await server.done(member)
    path, body = f"/api/uploads/{upload_id}/alt", {"alt": "from outside"}
    posted = {"text": "look", "attachments": [upload_id]}
    await member.done("POST", "/api/channels/general/messages", posted)
    for denied, refusal in (("send_messages", "forbidden"), ("view_channel", "unknown_channel")):
        await owner.done("PUT", f"/api/channels/general/overrides/member/{member.id}", {"deny": [denied]})
        assert await member.refused("PUT", path, body) == refusal
    history = await owner.done("GET", "/api/channels/general/messages")
    assert history["messages"][0]["attachments"][0]["alt"] == ""


async def test_file_names_and_alt_text_are_checked_for_blocked_words(server: UploadServer) -> None:
    member, owner = server.members.member, server.members.owner
    upload_id = await server.done(member)
    await owner.done("PATCH", "/api/settings", {"profanityMode": "censor"})
    shown = await member.done("PUT", f"/api/uploads/{upload_id}/alt", {"alt": "a shit cat"})
    assert shown["alt"] == "a **** cat"
    await owner.done("PATCH", "/api/settings", {"profanityMode": "block"})
    assert (
        await member.refused("PUT", f"/api/uploads/{upload_id}/alt", {"alt": "shit"}) == "profanity_refused"
    )
    status, answer = await server.send(member, name="shit.png")
    assert (status, answer["error"]) == (400, "profanity_refused")


async def test_nobody_can_see_or_change_the_upload_of_another_member(server: UploadServer) -> None:
    upload_id = await server.sent(server.members.member)
    for method, path in (("GET", ""), ("DELETE", ""), ("PUT", "/alt")):
        refusal = await server.members.owner.refused(method, f"/api/uploads/{upload_id}{path}", {"alt": "x"})
        assert refusal == "unknown_upload"
    assert (await server.members.owner.done("GET", "/api/uploads"))["uploads"] == []
    [own] = (await server.members.member.done("GET", "/api/uploads"))["uploads"]
    assert own["id"] == upload_id


# Receiving uploads


async def test_a_large_file_is_sent_in_chunks_and_resumed(server: UploadServer) -> None:
    member, content = server.members.member, PNG * 300
    name = base64.b64encode(b"holiday.png").decode()
    status, where, _ = await server.begin(
        member, len(content), **{"Upload-Metadata": f"filename {name},flag"}
    )
    assert status == 201
    assert await server.append(member, where, 0, content[:1_000_000]) == (204, "1000000")
    headers = {**TUS, "Authorization": f"Bearer {member.token}"}
    async with server.chat.http.head(where, headers=headers) as response:
        assert response.headers["Upload-Offset"] == "1000000"
        assert response.headers["Upload-Length"] == str(len(content))
        assert response.headers["Cache-Control"] == "no-store"
        assert "Upload-Expires" in response.headers
    assert await server.append(member, where, 5, content[5:]) == (409, "offset_mismatch")
    assert await server.append(member, where, 1_000_000, content[1_000_000:]) == (204, str(len(content)))
    job = await server.claim()
    assert job is not None
    assert (server.data_dir / job["source"]).read_bytes() == content
    assert await server.append(member, where, len(content), b"more") == (409, "upload_complete")


async def test_bytes_received_before_a_lost_connection_are_kept(server: UploadServer) -> None:
    member, content = server.members.member, PNG * 1000
    _, where, _ = await server.begin(member, len(content))
    host, port = server.chat.address.removeprefix("http://").rsplit(":", 1)
    _, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"PATCH {where} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {member.token}\r\n"
        "Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content[:-1])
    await writer.drain()
    writer.close()
    received = 0

    async def kept() -> bool:
        nonlocal received
        received = int((await member.done("GET", where))["received"])
        return received > 0

    await wait_until("the received bytes are stored", kept, within_s=10)
    assert await server.append(member, where, received, content[received:]) == (204, str(len(content)))
    job = await server.claim()
    assert job is not None
    assert (server.data_dir / job["source"]).read_bytes() == content


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Tus-Resumable": "0.2.2"}, 412, "tus_version"),
        ({"Upload-Length": "-1"}, 400, "invalid_request"),
        ({"Upload-Length": "0"}, 400, "invalid_request"),
        ({"Upload-Length": "many"}, 400, "invalid_request"),
        ({"Upload-Metadata": "filename ???"}, 400, "invalid_request"),
        ({"Upload-Metadata": "filename \u00e9"}, 400, "invalid_request"),
        ({"Upload-Length": str(limits.MAX_ATTACHMENT_BYTES + 1)}, 413, "upload_too_large"),
    ],
)
async def test_invalid_tus_headers_are_rejected(
    server: UploadServer, headers: dict[str, str], status: int, code: str
) -> None:
    answered, _, body = await server.begin(server.members.member, 10, **headers)
    assert (answered, body["error"]) == (status, code)


async def test_an_empty_file_is_rejected_both_as_multipart_and_with_tus(server: UploadServer) -> None:
    member = server.members.member
    by_tus, _, refusal = await server.begin(member, 0)
    assert await server.send(member, content=b"", name="empty.txt") == (by_tus, refusal)
    assert (by_tus, refusal["error"]) == (400, "invalid_request")
    assert (await member.done("GET", "/api/uploads"))["uploads"] == [], "all of its data is deleted"


async def test_two_requests_never_write_to_the_same_upload_at_the_same_time(server: UploadServer) -> None:
    member, content = server.members.member, PNG * 100
    _, where, _ = await server.begin(member, len(content))
    answers = await asyncio.gather(*(server.append(member, where, 0, content) for _ in range(5)))
    taken = [answer for answer in answers if answer == (204, str(len(content)))]
    assert len(taken) == 1
    assert {code for status, code in answers if status >= 400} <= {"upload_busy", "upload_complete"}
    job = await server.claim()
    assert job is not None
    assert (server.data_dir / job["source"]).read_bytes() == content


async def test_more_bytes_than_announced_are_rejected(server: UploadServer) -> None:
    _, where, _ = await server.begin(server.members.member, 10)
    assert await server.append(server.members.member, where, 0, bytes(11)) == (413, "upload_too_large")


async def test_a_form_without_a_file_is_rejected(server: UploadServer) -> None:
    assert await server.members.member.refused("POST", GENERAL, {"text": "x"}) == "wrong_content_type"
    headers = {"Authorization": f"Bearer {server.members.member.token}", "Content-Type": ""}
    for kind, content in (
        ("multipart/form-data", b"nothing"),
        ("multipart/form-data; boundary=x", b"--x\r\nNone--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--x--\r\n"),
    ):
        headers["Content-Type"] = kind
        async with server.chat.http.post(GENERAL, data=content, headers=headers) as response:
            assert (response.status, (await response.json())["error"]) == (400, "invalid_request")


async def test_a_truncated_upload_is_rejected(server: UploadServer) -> None:
    headers = {"Authorization": f"Bearer {server.members.member.token}"}
    headers["Content-Type"] = "multipart/form-data; boundary=x"
    cut = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + PNG
    async with server.chat.http.post(GENERAL, data=cut, headers=headers) as response:
        assert (response.status, (await response.json())["error"]) == (400, "upload_cut_short")
    assert (await server.members.member.done("GET", "/api/uploads"))["uploads"] == []


async def test_a_file_over_the_limit_is_rejected_and_leaves_nothing_behind(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_AVATAR_BYTES", 5_000)
    status, answer = await server.send(server.members.member, "/api/me/avatar", bytes(100_000))
    assert (status, answer["error"], answer["limit"]) == (413, "upload_too_large", 5_000)
    status, answer = await server.send(server.members.member, "/api/me/avatar", bytes(6_000))
    assert (status, answer["error"]) == (413, "upload_too_large")
    assert (await server.members.member.done("GET", "/api/uploads"))["uploads"] == []
    incoming = server.data_dir / "incoming"
    assert not incoming.exists() or list(incoming.iterdir()) == []


async def test_a_document_over_100_mib_is_rejected_once_its_type_is_known(server: UploadServer) -> None:
    member, maximum = server.members.member, 100 * 1024 * 1024
    _, where, _ = await server.begin(member, maximum)
    assert await server.append(member, where, 0, b"%PDF-1.7" + bytes(92)) == (204, "100")
    # The first bytes reveal the type of the file. Videos may be larger.
    for head, answer in ((b"%PDF-1.7", (413, "upload_too_large")), (b"\0\0\0\x18ftypmp42", (204, "100"))):
        _, where, _ = await server.begin(member, maximum + 1)
        assert await server.append(member, where, 0, head[:4]) == (204, "4")
        assert await server.append(member, where, 4, head[4:] + bytes(100 - len(head))) == answer
    assert len((await member.done("GET", "/api/uploads"))["uploads"]) == 2


async def test_unfinished_uploads_are_limited_and_expire(server: UploadServer) -> None:
    member = server.members.member
    for _ in range(limits.MAX_UNFINISHED_PER_MEMBER):
        status, where, _ = await server.begin(member, 10)
        assert status == 201
    status, _, body = await server.begin(member, 10)
    assert (status, body["error"]) == (409, "too_many")
    await member.done("DELETE", where)
    status, _, _ = await server.begin(member, 10)
    assert status == 201


async def test_a_members_storage_is_limited(server: UploadServer, monkeypatch: pytest.MonkeyPatch) -> None:
    member = server.members.member
    await server.done(member)
    monkeypatch.setattr(usage, "MAX_BYTES_PER_MEMBER", 100)
    status, _, body = await server.begin(member, 100)
    assert (status, body["error"]) == (403, "quota_exceeded")
    status, _, _ = await server.begin(member, 80)
    assert status == 201


async def test_an_upload_to_a_full_server_gets_the_error_storage_full(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MIN_FREE_BYTES", 10**18)
    status, _, body = await server.begin(server.members.member, 10)
    assert (status, body["error"]) == (507, "storage_full")


async def test_abandoned_uploads_are_deleted(server: UploadServer) -> None:
    member, uploads = server.members.member, server.community.files.uploads
    _, where, _ = await server.begin(member, 10)
    await server.append(member, where, 0, bytes(5))
    await uploads.tidy_up()
    assert (await member.done("GET", where))["received"] == 5
    queue = server.community.files.queue
    now = queue._now
    queue._now = lambda: now() + limits.UNFINISHED_KEPT_S + 60
    await uploads.tidy_up()
    assert await member.refused("GET", where) == "unknown_upload"


async def test_the_unfinished_uploads_of_a_leaving_member_are_deleted(server: UploadServer) -> None:
    member = server.members.member
    await server.begin(member, 10)
    await server.sent(member)
    await member.done("POST", "/api/me/leave")
    assert await server.claim() is None


async def test_only_unused_files_are_removed(server: UploadServer) -> None:
    upload_id = await server.sent(server.members.member)
    incoming = server.data_dir / "incoming"
    for name in ("left behind", "just begun"):
        (incoming / name).write_bytes(b"data")
    for name in ("left behind", upload_id):
        os.utime(incoming / name, (1, 1))
    await server.community.files.uploads.tidy_up()
    assert {path.name for path in incoming.iterdir()} == {"just begun", upload_id}


async def test_deleting_a_members_data_deletes_the_names_of_their_files(server: UploadServer) -> None:
    admin = server.members.admin
    await server.send(admin, "/api/emoji?name=cat", name="My Family.png")
    await server.work()
    await admin.done("DELETE", "/api/me")
    database = server.community.media._database
    assert [row["name"] for row in await database.rows("SELECT name FROM uploads")] == [""]
    [emoji] = (await server.members.owner.done("GET", "/api/emoji"))["emoji"]
    assert emoji["name"] == "cat"


async def test_pages_from_listed_sites_may_use_tus(variables: dict[str, str]) -> None:
    site = {"Origin": "https://chat.example"}
    async with (
        chat_server({**variables, "CORS_ORIGIN": site["Origin"]}) as chat,
        chat.http.options(GENERAL, headers=site) as response,
    ):
        assert response.status == 204
        allowed = response.headers["Access-Control-Allow-Headers"].split(", ")
        assert {"Tus-Resumable", "Upload-Length", "Upload-Offset", "Upload-Metadata"} <= set(allowed)
        assert "PATCH" in response.headers["Access-Control-Allow-Methods"]
        seen = response.headers["Access-Control-Expose-Headers"].split(", ")
        assert {"Location", "Upload-Offset", "Upload-Length", "Tus-Version", "Tus-Extension"} <= set(seen)
        assert response.headers["Tus-Version"] == "1.0.0"
        assert response.headers["Tus-Extension"].split(",") == ["creation", "termination", "expiration"]


async def test_while_uploads_are_disabled_files_are_rejected_and_everything_else_works(
    variables: dict[str, str],
) -> None:
    for more in ({"DISABLE_S3": "true"}, {"STORAGE_BACKEND": "s3"}):
        async with chat_server({**variables, **more}) as chat:
            person = await newcomer(chat, "Member")
            server = UploadServer(chat, cast(Community, None), cast(MembersByRole, None), variables)
            status, answer = await server.send(person)
            assert (status, answer["error"]) == (503, "uploads_disabled")
            await person.done("POST", "/api/channels/general/messages", {"text": "hello"})


@pytest.mark.parametrize(("lines", "status"), [(5, 201), (100_000, 400)])
async def test_only_a_limited_number_of_bytes_before_a_form_are_read(
    server: UploadServer, lines: int, status: int
) -> None:
    """Send a hundred thousand empty lines. They once blocked the event loop for a second."""
    part = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + PNG + b"\r\n--x--\r\n"
    )
    headers = {
        "Authorization": f"Bearer {server.members.member.token}",
        "Content-Type": "multipart/form-data; boundary=x",
    }
    async with server.chat.http.post(GENERAL, data=b"\r\n" * lines + part, headers=headers) as response:
        assert response.status == status
