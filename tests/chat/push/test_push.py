"""Devices are notified of mentions, replies and messages in chosen channels unless a client is visible."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.push import notifier
from svc.chat.push.encryption import base64url
from svc.chat.push.vapid_contact import Contact
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.chat.push.service import Browser, PushService, Received, push_service, vouched

OWN, GENERAL = "/api/me/push", "/api/channels/general"


@dataclass
class Scene:
    chat: ChatServer
    community: Community
    members: MembersByRole
    service: PushService
    delays: list[float]

    async def subscribed(self, person: HttpMember, name: str = "device") -> Browser:
        browser = Browser(self.service, name)
        await person.done("PUT", OWN, browser.subscription())
        return browser

    async def post(self, person: HttpMember, text: str, **more: object) -> Any:
        return await person.done("POST", f"{GENERAL}/messages", {"text": text, **more})

    async def mention(self, text: str = "look") -> Any:
        """Post a message as the owner, mentioning the member."""
        return await self.post(self.members.owner, f"[You](mention:{self.members.member.id}) {text}")

    async def is_quiet(self) -> None:
        """Wait until the server has sent all push messages. Check that there are no unread notifications."""
        senders = self.community.notifications.ringing._senders
        assert senders is not None
        while sending := list(senders._tasks):
            await asyncio.wait(sending, timeout=60)
        assert self.service.received.empty()

    def outcomes(self) -> dict[str, int]:
        return {outcome: count for (outcome,), count in self.community.tally.pushes.items()}


@pytest.fixture
async def scene(variables: dict[str, str]) -> AsyncIterator[Scene]:
    async with push_service() as service, server_with_insight(variables) as (chat, community):
        community.notifications.poster.exempt.add(service.origin)
        delays: list[float] = []

        async def sleep(seconds: float) -> None:
            delays.append(seconds)

        community.notifications.ringing._sleep = sleep
        yield Scene(chat, community, await members_by_role(chat), service, delays)


async def test_a_mention_sends_a_notification_that_only_the_device_can_read(scene: Scene) -> None:
    browser = await scene.subscribed(scene.members.member)
    sent = await scene.mention("at this")
    received = await scene.service.next()
    assert browser.read(received) == {
        "kind": "mention",
        "channel_id": "general",
        "channel": "general",
        "message_id": sent["id"],
        "thread": None,
        "author": "Owner",
        "text": sent["text"],
        "files": 0,
        "posted_at_ms": sent["posted_at_ms"],
    }
    assert b"at this" not in received.body
    headers = received.headers
    assert (headers["Content-Encoding"], headers["Urgency"], headers["TTL"]) == ("aes128gcm", "high", "86400")
    assert len(headers["Topic"]) == 32
    assert vouched(received)["aud"] == scene.service.origin
    assert vouched(received)["key"] == (await scene.members.member.done("GET", OWN))["public_key"]


async def test_a_reply_notifies_unless_ping_is_false(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    question = await scene.post(scene.members.member, "who knows?")
    await scene.post(scene.members.owner, "not I", reply_to=question["id"], ping=False)
    await scene.is_quiet()
    await scene.post(scene.members.owner, "I do", reply_to=question["id"])
    await scene.service.next()


async def test_the_notification_level_determines_which_messages_cause_notifications(scene: Scene) -> None:
    browser, member = await scene.subscribed(scene.members.member), scene.members.member
    await scene.post(scene.members.owner, "nobody in particular")
    await scene.is_quiet()
    await member.done("PUT", f"{GENERAL}/notifications", {"level": "all"})
    await scene.post(scene.members.owner, "news")
    received = await scene.service.next()
    assert browser.read(received)["kind"] == "message" and received.headers["Urgency"] == "normal"
    for choice in ({"level": "nothing"}, {"level": "all", "muted": True}):
        await member.done("PUT", f"{GENERAL}/notifications", choice)
        await scene.mention()
        await scene.is_quiet()


async def test_followers_of_a_thread_are_notified_of_replies(scene: Scene) -> None:
    browser, member = await scene.subscribed(scene.members.member), scene.members.member
    await member.done("PUT", f"{GENERAL}/notifications", {"level": "all"})
    root = (await scene.post(member, "cake?"))["id"]
    await scene.post(scene.members.owner, "chocolate", thread=root)
    assert browser.read(await scene.service.next())["thread"] == root
    await member.done("DELETE", f"{GENERAL}/messages/{root}/follow")
    await scene.post(scene.members.owner, "lemon", thread=root)
    await scene.is_quiet()
    await scene.post(scene.members.owner, f"[You](mention:{member.id})", thread=root)
    assert browser.read(await scene.service.next())["kind"] == "mention"


async def test_no_notifications_are_sent_while_a_client_is_visible(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    async with scene.members.live("member", "member") as [one, two]:
        await one.ask("in_sight", visible=True)
        await two.ask("in_sight", visible=False)
        await scene.mention()
        await scene.is_quiet()
        await one.ask("in_sight", visible=False)
        await scene.mention()
        await scene.service.next()
        assert (await one.ask("in_sight"))["event"] == "error"


async def test_own_messages_and_messages_of_blocked_members_trigger_no_notifications(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    await scene.members.member.done("PUT", f"{GENERAL}/notifications", {"level": "all"})
    await scene.post(scene.members.member, f"[Me](mention:{scene.members.member.id})")
    await scene.members.member.done("PUT", f"/api/me/blocks/{scene.members.owner.id}")
    await scene.mention()
    await scene.is_quiet()


async def test_messages_in_invisible_channels_cause_no_notifications(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    override = f"{GENERAL}/overrides/role/member"
    await scene.members.owner.done("PUT", override, {"deny": ["view_channel"]})
    await scene.post(scene.members.owner, "[@everyone](mention:everyone)")
    await scene.is_quiet()


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_unknown_to_the_push_service_is_deleted(scene: Scene, status: int) -> None:
    await scene.subscribed(scene.members.member)
    scene.service.answers["/device"] = [(status, {})]
    await scene.mention()
    await scene.service.next()
    await scene.is_quiet()
    assert not (await scene.members.member.done("GET", OWN))["subscribed"]
    assert await stored(scene) == 0


async def test_a_push_is_retried_when_a_busy_push_service_requests_it(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    scene.service.answers["/device"] = [(429, {"Retry-After": "77"}), (503, {}), (201, {})]
    await scene.mention()
    for _ in range(3):
        await scene.service.next()
    await scene.is_quiet()
    assert scene.delays[0] == 77 and notifier.FIRST_DELAY_S / 2 <= scene.delays[1] <= 77
    assert scene.outcomes() == {"busy": 2, "sent": 1}


async def test_a_push_is_abandoned_if_the_push_service_stays_busy(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    scene.service.answers["/device"] = [(500, {})]
    await scene.mention()
    for _ in range(notifier.ATTEMPTS):
        await scene.service.next()
    await scene.is_quiet()
    assert scene.outcomes() == {"busy": notifier.ATTEMPTS, "given_up": 1}
    assert (await scene.members.member.done("GET", OWN))["subscribed"]


async def test_a_newer_notification_replaces_one_that_is_waiting_to_be_retried(scene: Scene) -> None:
    browser = await scene.subscribed(scene.members.member)
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.set()
        await goes_on.wait()

    scene.community.notifications.ringing._sleep = sleep
    scene.service.answers["/device"] = [(503, {}), (201, {})]
    await scene.mention("first")
    await waits.wait()
    for number in range(3):
        await scene.mention(f"later {number}")
    goes_on.set()
    assert "first" in browser.read(await scene.service.next())["text"]
    assert "later 2" in browser.read(await scene.service.next())["text"]
    await scene.is_quiet()


async def test_a_retry_sends_the_current_text_and_nothing_for_a_deleted_message(scene: Scene) -> None:
    browser, owner = await scene.subscribed(scene.members.member), scene.members.owner
    changes = [("PATCH", {"text": "corrected"}), ("DELETE", None)]
    paths: list[str] = []

    async def sleep(seconds: float) -> None:
        method, body = changes.pop(0)
        await owner.done(method, paths[-1], body)

    scene.community.notifications.ringing._sleep = sleep
    for statuses in ([503, 201], [503]):
        scene.service.answers["/device"] = [(status, {}) for status in statuses]
        paths.append(f"{GENERAL}/messages/{(await scene.mention('mistaken'))['id']}")
        assert "mistaken" in browser.read(await scene.service.next())["text"]
        if 201 in statuses:
            assert browser.read(await scene.service.next())["text"] == "corrected"
        await scene.is_quiet()
    assert scene.outcomes() == {"busy": 2, "sent": 1, "not_needed": 1}


async def test_notifications_to_a_member_are_rate_limited(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene.community.notifications.ringing, "_now", lambda: 1_000_000_000.0)
    await scene.subscribed(scene.members.member)
    for _ in range(notifier.BURST + 3):
        await scene.mention()
    assert scene.outcomes()["rate_limited"] == 3


async def test_signing_out_leaving_or_unlinking_ends_a_subscription(scene: Scene) -> None:
    members = scene.members
    for number, person in enumerate((members.member, members.guest, members.moderator, members.admin)):
        await scene.subscribed(person, f"device-{number}")
    await members.member.done("POST", "/api/me/leave")
    await members.guest.done("DELETE", OWN)
    await members.owner.done("POST", f"/api/members/{members.moderator.id}/kick")
    answer = await scene.chat.sign_in(members.admin.device)
    members.admin.token = answer["access_token"]
    await scene.subscribed(members.admin, "device-9")
    await members.admin.done("POST", "/api/auth/logout", {"refresh_token": answer["refresh_token"]})
    assert await stored(scene) == 1, "the subscription of the admin's earlier sign-in"
    await scene.post(members.owner, "[@everyone](mention:everyone)")
    await scene.service.next()
    await scene.is_quiet()


async def test_a_subscription_survives_a_session_refresh(scene: Scene) -> None:
    member = scene.members.member
    answer = await scene.chat.sign_in(member.device)
    member.token = answer["access_token"]
    await scene.subscribed(member)
    await member.done("POST", "/api/auth/refresh", {"refresh_token": answer["refresh_token"]})
    assert await stored(scene) == 1
    await scene.mention()
    await scene.service.next()


async def test_a_browser_gets_notifications_only_for_the_member_who_subscribed_last(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    await scene.subscribed(scene.members.guest)
    await scene.mention()
    await scene.is_quiet()
    assert await stored(scene) == 1


async def test_devices_still_get_notifications_after_a_restart(variables: dict[str, str]) -> None:
    async with push_service() as service:
        async with server_with_insight(variables) as (chat, community):
            community.notifications.poster.exempt.add(service.origin)
            members = await members_by_role(chat)
            browser = Browser(service)
            await members.member.done("PUT", OWN, browser.subscription())
            key = (await members.member.done("GET", OWN))["public_key"]
        async with server_with_insight(variables) as (chat, community):
            community.notifications.poster.exempt.add(service.origin)
            owner = HttpMember(chat, members.owner.device, members.owner.id, members.owner.token)
            mention = f"[You](mention:{members.member.id}) again"
            await owner.done("POST", f"{GENERAL}/messages", {"text": mention})
            received = await service.next()
            assert browser.read(received)["text"] == mention and vouched(received)["key"] == key


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example.org/x",
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://10.0.0.1/x",
        "https://[::1]/x",
        "https://push.example.org:22/x",
        "ftp://push.example.org/x",
        "push",
    ],
)
async def test_only_public_https_addresses_are_accepted(scene: Scene, endpoint: str) -> None:
    subscription = Browser(scene.service).subscription() | {"endpoint": endpoint}
    assert await scene.members.member.refused("PUT", OWN, subscription) == "invalid_request"


async def test_invalid_subscription_keys_are_rejected(scene: Scene) -> None:
    browser = Browser(scene.service)
    good = {"p256dh": base64url(browser.public), "auth": base64url(browser.secret)}
    for wrong in ({"auth": "x"}, {"auth": "AAAA"}, {"p256dh": "AAAA"}, {"p256dh": None}):
        subscription = {"endpoint": browser.endpoint, "keys": good | wrong}
        assert await scene.members.member.refused("PUT", OWN, subscription) == "invalid_request"
    assert await scene.members.member.refused("PUT", OWN, {"endpoint": "x", "keys": []}) == "invalid_request"


async def test_an_endpoint_that_later_resolves_to_an_internal_address_is_not_requested(scene: Scene) -> None:
    await scene.subscribed(scene.members.member)
    scene.community.notifications.poster.exempt.clear()
    await scene.mention()
    await scene.is_quiet()
    assert scene.outcomes() == {"blocked": 1} and await stored(scene) == 0


async def test_nothing_secret_is_logged(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await scene.subscribed(scene.members.member, "very-secret-device")
    scene.service.answers["/very-secret-device"] = [(400, {})]
    scene.service.response_text = (
        f'{{"reason":"BadJwtToken"}} at {scene.service.origin}/very-secret-device, token {"abc" * 20}'
    )
    await scene.mention("between us")
    received: Received = await scene.service.next()
    await scene.is_quiet()
    [refusal] = [vars(record) for record in caplog.records if "refused a notification" in record.getMessage()]
    assert refusal["service"] == "127.0.0.1" and '{"reason":"BadJwtToken"}' in refusal["answer"]
    ours = " ".join(str(vars(r)) for r in caplog.records if r.name.startswith("svc."))
    assert "refused a notification" in ours
    for secret in ("very-secret-device", "between us", "abcabc", received.headers["Authorization"]):
        assert secret not in ours


@pytest.mark.parametrize(
    ("origin", "contact"),
    [
        ("https://chat.example.org", "https://chat.example.org"),
        ("https://chat.example.org:8443", "https://chat.example.org:8443"),
        *((origin, None) for origin in ("http://chat.example.org", "https://localhost", "https://127.0.0.1")),
        *((origin, None) for origin in ("https://svc.local", "https://nas")),
    ],
)
async def test_the_vapid_contact_is_the_public_address_that_members_use(
    scene: Scene, variables: dict[str, str], origin: str, contact: str | None
) -> None:
    await scene.subscribed(scene.members.member)
    headers = {"Origin": origin, "Host": origin.partition("://")[2]}
    async with scene.chat.http.ws_connect("/live", headers=headers) as page:
        member = LiveMember(page, scene.members.owner.token)
        await member.ask("authenticate", access_token=member.token)
        await member.ask("ping")
    await scene.mention()
    assert vouched(await scene.service.next()).get("sub") == contact
    database = scene.community.notifications.subscriptions._database
    for names, expected in (([], contact or ""), (["chat.example.net"], "https://chat.example.net")):
        again = Contact(database, names)
        await again.load()
        assert again.address == expected


async def stored(scene: Scene) -> int:
    rows = await scene.community.notifications.subscriptions._database.rows(
        "SELECT * FROM push_subscriptions"
    )
    return len(rows)
