"""A webhook's token appears only in responses to its managers. No file, log, metric or event contains it.

See docs/security.md, "Secrets".
"""

import asyncio
import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest

from svc.chat.webhooks.publisher import Publisher
from svc.chat.webhooks.rules import KEY_FILE
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook


def holding(folder: Path, secret: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret.encode() in path.read_bytes()]


async def test_no_server_file_contains_a_token(
    hook: Hook, members: MembersByRole, variables: dict[str, str]
) -> None:
    token = hook.path.rpartition("/")[2]
    async with hook.chat.http.post(hook.path, json={"text": "a"}) as response:
        assert response.status == 200
    await members.owner.done("PATCH", hook.path.rpartition("/")[0], {"name": "Another"})
    folder = Path(variables["DATA_DIR"])
    assert holding(folder, token) == []
    # The search finds other stored strings, so it would find a stored token too.
    assert any("sqlite" in name for name in holding(folder, "Another"))


async def test_the_key_is_in_a_separate_file_that_only_the_servers_user_can_read(
    hook: Hook, variables: dict[str, str]
) -> None:
    path = Path(variables["DATA_DIR"]) / KEY_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = path.read_text().strip()
    assert holding(path.parent, key) == [KEY_FILE]
    assert variables["JWT_SECRET"] not in key


async def test_a_database_without_its_key_reveals_nothing(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, _):
        owner = await newcomer(chat, "Owner")
        webhook: dict[str, Any] = await owner.done(
            "POST", "/api/webhooks", {"name": "a", "channel_id": "general"}
        )
    (Path(variables["DATA_DIR"]) / KEY_FILE).unlink()
    async with server_with_insight(variables) as (chat, _):
        owner.chat = chat
        path = f"/api/webhooks/{webhook['id']}"
        shown = await owner.done("GET", path)
        assert (shown["token"], shown["url"]) == (None, None)
        async with chat.http.post(f"{path}/{webhook['token']}", json={"text": "a"}) as response:
            assert (response.status, await response.json()) == (404, {"error": "not_found"})
        # A lost token can only be replaced.
        await owner.done("DELETE", path)


async def test_no_log_line_or_metric_contains_a_token(
    hook: Hook, members: MembersByRole, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, _, webhook_id, token = hook.path.split("/")

    async def fail(*_: object) -> object:
        raise RuntimeError("our own mistake")

    with caplog.at_level(logging.DEBUG):
        for body in ({"text": "a"}, {"text": 1}, {"avatar_url": "http://10.0.0.1/", "text": "a"}):
            async with hook.chat.http.post(hook.path, data=json.dumps(body)):
                pass
        for method in ("GET", "DELETE", "OPTIONS"):
            async with hook.chat.http.request(method, hook.path):
                pass
        await malformed(hook)
        monkeypatch.setattr(Publisher, "post", fail)
        async with hook.chat.http.post(hook.path, json={"text": "a"}) as response:
            assert response.status == 500
        await members.owner.done("DELETE", f"/api/webhooks/{webhook_id}")
    assert "our own mistake" in caplog.text
    texts = [caplog.text, *(str(vars(record)) for record in caplog.records), await hook.chat.metrics()]
    assert [text for text in texts if token in text] == []
    assert "/api/webhooks/{webhook_id}/{token}" in texts[-1]


async def malformed(hook: Hook) -> None:
    """Send malformed HTTP requests to the webhook's URL."""
    host, _, port = hook.chat.address.removeprefix("http://").rpartition(":")
    for request_line_end in ("HTTP/9.9\r\n\r\n", "HTTP/1.1\r\nno header\r\n\r\n", "nothing\r\n\r\n"):
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(f"POST {hook.path} {request_line_end}".encode())
            writer.write_eof()
            await reader.read()
            writer.close()


async def test_a_client_that_resumes_receives_no_token(members: MembersByRole) -> None:
    # Pushed events are stored for clients that resume.
    async with members.live("admin") as [admin]:
        seq = admin.welcome["seq"]
    webhook = await members.owner.done("POST", "/api/webhooks", {"name": "a", "channel_id": "general"})
    async with members.chat.http.ws_connect("/live") as ws:
        await ws.receive_str()
        await ws.send_json(
            {"event": "resume", "id": 1, "data": {"access_token": members.admin.token, "seq": seq}}
        )
        frames = [await ws.receive_str(timeout=60)]
        while "webhook_created" not in frames[-1]:
            frames.append(await ws.receive_str(timeout=60))
    assert webhook["token"] not in "".join(frames)
