"""The server gives different information to the public, to members and to operators."""

import re
from datetime import datetime
from typing import Any

import pytest

from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight


async def info(chat: ChatServer, **headers: str) -> dict[str, Any]:
    async with chat.http.get("/info", headers=headers) as response:
        assert response.status == 200
        shown: dict[str, Any] = await response.json()
        return shown


async def test_the_health_endpoint_reports_the_name_and_the_time(chat: ChatServer) -> None:
    async with chat.http.get("/health") as response:
        body = await response.json()
    assert datetime.fromisoformat(body.pop("timestamp")).utcoffset() is not None
    assert body == {"status": "healthy", "service": "chat", "serverName": "Tests"}


async def test_the_info_endpoint_previews_the_server_for_invited_people(variables: dict[str, str]) -> None:
    variables["SERVER_DESCRIPTION"] = "Where we test"
    async with server_with_insight(variables) as (chat, community):
        shown = {
            "serverId": "s1",
            "name": "Tests",
            "description": "Where we test",
            "members": 0,
            "lanOpen": False,
            "identityTiers": list(community._config.identity.tiers),
            "signIn": {"open": True, "local": True, "account": None, "certificateIssuers": []},
            "joinPolicy": "invite",
            "iconUrl": None,
            "rules": "",
            "rulesVersion": "",
        }
        assert await info(chat) == shown
        await chat.join("Ada")
        await community.settings.apply({"joinPolicy": "open", "lanOpen": True}, None, 0.0)
        changed = {**shown, "members": 1, "joinPolicy": "open", "lanOpen": True}
        assert await info(chat) == changed


async def test_the_info_endpoint_contains_the_operators_instance_name(
    variables: dict[str, str],
) -> None:
    variables["SERVER_INSTANCE_ID"] = "left"
    async with server_with_insight(variables) as (chat, _):
        assert (await info(chat))["instanceId"] == "left"


async def test_only_members_can_read_the_version(variables: dict[str, str]) -> None:
    variables["SERVER_VERSION"] = "1.6.0-test"
    async with server_with_insight(variables) as (chat, _):
        token = await chat.join("Ada")
        assert (await info(chat, Authorization=f"Bearer {token}"))["version"] == "1.6.0-test"
        for header in ("Bearer nonsense", f"Basic {token}", "", token):
            assert "version" not in await info(chat, Authorization=header)


async def test_a_new_server_has_no_icon(chat: ChatServer) -> None:
    async with chat.http.get("/icon") as response:
        assert (response.status, (await response.json())["error"]) == (404, "not_found")


def value(exposition: str, sample: str) -> float:
    match = re.search(rf"^{re.escape(sample)} (\S+)$", exposition, re.MULTILINE)
    return float(match[1]) if match else 0.0


async def test_the_metrics_count_requests_by_route_and_by_event(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await ada.ask("voice_mute_self", muted=True)
        await ada.ask("voice_mute_self")
        for path in ("/api/members/nobody", "/no/such/path", "/web/nothing.js"):
            async with chat.http.get(path, headers={"Authorization": f"Bearer {ada.token}"}):
                pass
        counted = await chat.metrics()
    live, http = "svc_chat_live_requests_total", "svc_chat_http_requests_total"
    assert value(counted, live + '{event="voice_mute_self",outcome="ok"}') == 1
    assert value(counted, live + '{event="voice_mute_self",outcome="invalid_request"}') == 1
    assert value(counted, http + '{route="GET /api/members/{member_id}",status="404"}') == 1
    assert value(counted, http + '{route="none",status="404"}') == 1
    assert "/no/such/path" not in counted
    assert value(counted, "svc_chat_members") == 1


async def test_the_metrics_include_the_size_of_the_database(chat: ChatServer) -> None:
    before = await chat.metrics()
    await chat.join("Ada")
    after = await chat.metrics()
    writes = "svc_chat_database_writes_total"
    assert value(after, writes) > value(before, writes)
    assert value(after, "svc_chat_database_group_size_sum") == value(after, writes)
    commits = value(after, "svc_chat_database_group_size_count")
    assert 0 < commits == value(after, "svc_chat_database_commit_seconds_count") <= value(after, writes)
    assert value(after, "svc_chat_database_commit_seconds_sum") > 0
    # The size may be 0, because a checkpoint may have emptied the write-ahead log.
    assert value(after, "svc_chat_database_log_bytes") >= 0
    assert re.search(r'svc_chat_database_info{engine="sqlite",version="3\.\d+\.\d+"} 1.0', after)


@pytest.mark.parametrize("path", ["/health", "/info", "/metrics"])
async def test_status_endpoints_respond_without_a_media_service(variables: dict[str, str], path: str) -> None:
    variables["SFU_WS_HOST"] = ""
    async with server_with_insight(variables) as (chat, _), chat.http.get(path) as response:
        assert response.status == 200
