"""Members who may not view a channel learn nothing about it from requests or events, whatever their other
permissions.

Requests about the channel get exactly the same responses as if it had never existed.
"""

import json
from typing import Any

import pytest

from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole
from tests.chat.test_permission_matrix import body_for

NEVER = "0190a000-0000-7000-8000-000000000000"
NAMES = {"text": "hidden-plans", "voice": "hidden-room"}
TEXT = "meet at the harbour"
# Neither may view the hidden channels, although the admin has all other permissions.
UNINITIATED = ("admin", "member")


async def hide(members: MembersByRole) -> dict[str, str]:
    """Create a text channel with a message and a voice channel. Hide both from the admin and the member."""
    overrides = [
        {"type": "member", "target_id": members.by_role[role].id, "deny": ["view_channel"]}
        for role in UNINITIATED
    ]
    secrets = {}
    for kind, name in NAMES.items():
        body = {"name": name, "type": kind, "overrides": overrides}
        secrets[kind] = str((await members.owner.done("POST", "/api/channels", body))["id"])
    secrets["message"] = await posted(members.owner, secrets["text"])
    return secrets


async def posted(person: HttpMember, channel_id: str) -> str:
    path, body = f"/api/channels/{channel_id}/messages", {"text": TEXT}
    answer = await person.done("POST", path, body)
    return str(answer.get("message", answer)["id"])


def leaks(answer: object, secrets: dict[str, str]) -> list[str]:
    """Return the secrets that a response or an event contains."""
    text = json.dumps(answer, ensure_ascii=False)
    return [secret for secret in (*secrets.values(), *NAMES.values(), TEXT) if secret in text]


@pytest.mark.parametrize("role", UNINITIATED)
async def test_endpoints_respond_to_excluded_members_as_if_the_channel_did_not_exist(
    members: MembersByRole, role: str
) -> None:
    secrets, member = await hide(members), members.by_role[role]
    differing = []
    for endpoint in (endpoint for endpoint in ENDPOINTS if "{channel_id}" in endpoint):
        method, template = endpoint.split(" ")
        for kind in ("text", "voice"):
            answers = []
            for channel_id in (secrets[kind], NEVER):
                path = template.format(
                    channel_id=channel_id,
                    message_id=secrets["message"],
                    type="role",
                    target_id="guest",
                    emoji="👍",
                )
                body = body_for(secrets["message"]) | {"name": "x", "deny": ["speak"]}
                answers.append(await member.ask(method, path, None if method == "GET" else body))
            if answers[0] != answers[1] or answers[0][0] < 400:
                differing.append((endpoint, kind, answers))
    assert not differing, "\n".join(map(str, differing))


@pytest.mark.parametrize("role", UNINITIATED)
async def test_live_requests_of_excluded_members_get_the_responses_for_a_missing_channel(
    members: MembersByRole, role: str
) -> None:
    secrets = await hide(members)
    differing = []
    async with members.live(role) as [page]:
        for event in (event for event in EVENTS if event != "reauthenticate"):
            for kind in ("text", "voice"):
                answers = []
                for channel_id in (secrets[kind], NEVER):
                    data = body_for(secrets["message"]) | {"channel_id": channel_id}
                    frame = await page.ask(event, **data)
                    frame.pop("id")
                    answers.append(json.dumps(frame).replace(channel_id, "it"))
                if answers[0] != answers[1]:
                    differing.append((event, kind, answers))
    assert not differing, "\n".join(map(str, differing))


@pytest.mark.parametrize("role", UNINITIATED)
async def test_no_list_for_excluded_members_contains_the_channel(members: MembersByRole, role: str) -> None:
    secrets, member = await hide(members), members.by_role[role]
    about = {"channel_id": secrets["text"], "message_id": secrets["message"], "text": "odd"}
    await members.guest.done("POST", "/api/reports", about)
    await members.owner.done("PATCH", f"/api/channels/{secrets['text']}", {"topic": TEXT})
    webhook = {"name": NAMES["text"], "channel_id": secrets["text"]}
    await members.owner.done("POST", "/api/webhooks", webhook)
    paths = [endpoint.removeprefix("GET ") for endpoint in ENDPOINTS if endpoint.startswith("GET /api/")]
    paths = [path for path in paths if "{" not in path]
    paths += [
        f"/api/search?query={query}" for query in ("harbour", "in:hidden-plans", f"in:{secrets['text']}")
    ]
    paths += [f"/api/audit?target_id={secrets['text']}", f"/api/members/{members.owner.id}"]
    for path in paths:
        _, answer = await member.ask("GET", path)
        assert leaks(answer, secrets if "in:" not in path else {}) == [], path
    assert leaks(await members.owner.done("GET", "/api/audit"), secrets)
    wrong = await member.ask("POST", "/api/reports", about)
    assert wrong == await member.ask("POST", "/api/reports", about | {"channel_id": NEVER})
    await members.owner.done("DELETE", f"/api/channels/{secrets['text']}")
    for path in ("/api/audit", "/api/webhooks"):
        assert leaks((await member.ask("GET", path))[1], secrets) == []
    async with members.live(role) as [page]:
        assert leaks(page.welcome, secrets) == []


async def test_no_events_in_the_channel_are_pushed_to_excluded_members(
    members: MembersByRole, sfu: FakeSfu
) -> None:
    async with members.live(*UNINITIATED, "guest") as [*uninitiated, guest]:
        secrets = await hide(members)
        await everything_happens(members, sfu, secrets, guest)
        for page in uninitiated:
            frames = await events(page)
            assert [frame for frame in frames if leaks(frame, secrets)] == []
            # Even the number of hidden events must not be visible.
            passing = ("channel_", "message_", "voice_", "webhook_")
            assert [frame for frame in frames if frame["event"].startswith(passing)] == []


async def everything_happens(
    members: MembersByRole, sfu: FakeSfu, secrets: dict[str, str], guest: LiveMember
) -> None:
    channel = f"/api/channels/{secrets['text']}"
    message = f"{channel}/messages/{secrets['message']}"
    owner = members.owner
    await owner.done("PATCH", message, {"text": f"{TEXT} at nine"})
    await owner.done("PUT", f"{message}/reactions/👍")
    await owner.done("PUT", f"{channel}/pins/{secrets['message']}")
    await owner.done("POST", f"{channel}/typing")
    about = {"channel_id": secrets["text"], "message_id": secrets["message"], "text": "odd"}
    await members.guest.done("POST", "/api/reports", about)
    await owner.done("PATCH", channel, {"topic": "new"})
    webhook = await owner.done("POST", "/api/webhooks", {"name": "a", "channel_id": secrets["text"]})
    await owner.done("PATCH", f"/api/webhooks/{webhook['id']}", {"name": TEXT})
    async with members.chat.http.post(webhook["url"], json={"text": TEXT}) as response:
        assert response.status == 200
    # The moderator can view it temporarily.
    path = f"{channel}/overrides/member/{members.moderator.id}"
    await owner.done("PUT", path, {"deny": ["view_channel"]})
    await owner.done("DELETE", path)
    await sfu.until("sync_request")
    await sfu.send_event("peer_joined", secrets["voice"], members.moderator.id)
    while await guest.people(secrets["voice"]) != ["Moderator"]:
        pass
    await owner.done("DELETE", message)
    await owner.done("DELETE", channel)
    while (await guest.pushed("channel_deleted"))["channel_id"] != secrets["text"]:
        pass


async def events(page: LiveMember) -> list[dict[str, Any]]:
    """Return all events that a client has received."""
    await page.ask("ping")
    return page._pushes
