"""Tests Web Push with a local push service, from the setting to the notification on the device."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, ViewportSize, expect

from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.push.service import Browser, PushService, push_service
from tests.kit.browser_users import People, Person, SharedBrowsers, chromium, narrow_only, wide_only
from tests.kit.community import confirm
from tests.kit.notifications import OWN_ID, click_notice, look_away, look_back, notices, open_settings
from tests.kit.push_device import Deliverer, can_subscribe
from tests.kit.text_channels import join_and_open, message, open_channel
from tests.kit.wait import wait_for_value, wait_until

SWITCH = "Notify me on this device while the page is closed"
SUBSCRIPTION = "navigator.serviceWorker.ready.then((worker) => worker.pushManager.getSubscription())"


@dataclass
class Scene:
    chat: ChatServer
    community: Community
    service: PushService
    device: Browser
    people: People
    grace: HttpMember

    async def arrive(self, *, allowed: bool = True) -> Person:
        """Open the page as a person whose device can subscribe to push messages."""
        ada = await self.people.arrive("Ada")
        if allowed:
            await ada.page.context.grant_permissions(["notifications"])
        await can_subscribe(ada.page, self.device)
        await ada.page.reload()
        await join_and_open(ada)
        return ada

    async def mention(self, ada: Person, text: str) -> None:
        member_id = await ada.page.evaluate(OWN_ID)
        body = {"text": f"[Ada](mention:{member_id}) {text}"}
        await self.grace.done("POST", "/api/channels/general/messages", body)

    async def stored(self) -> list[Any]:
        database = self.community.notifications.subscriptions._database
        return [row[0] for row in await database.rows("SELECT endpoint FROM push_subscriptions")]

    async def in_sight(self, ada: Person, wanted: bool) -> None:
        member_id = await ada.page.evaluate(OWN_ID)

        async def subscribed() -> bool:
            return self.community.hub.in_sight(member_id) is wanted

        await wait_until("the server knows whether the page is visible", subscribed, within_s=15)


@pytest_asyncio.fixture(loop_scope="session")
async def scene(browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize) -> AsyncIterator[Scene]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "SVC_LINK_PREVIEWS": "false",
        "ADDITIONAL_CHANNELS": "general, random",
    }
    async with push_service() as service, server_with_insight(variables) as (chat, community):
        community.notifications.poster.exempt.add(service.origin)
        address = f"{chat.address}/#invite={chat.invite}"
        async with browsers.people_at(address, chromium() or "", viewport=viewport) as people:
            yield Scene(chat, community, service, Browser(service), people, await newcomer(chat, "Grace"))
            assert people.faults == []


def switch(ada: Person) -> Locator:
    return ada.page.get_by_role("switch", name=SWITCH)


async def subscribe(ada: Person) -> None:
    await open_settings(ada)
    await switch(ada).check()
    await expect(ada.page.get_by_text("On. This device notifies you")).to_be_visible()
    await ada.page.keyboard.press("Escape")


@narrow_only
async def test_a_notification_about_a_mention_opens_the_message(scene: Scene) -> None:
    ada = await scene.arrive()
    await subscribe(ada)
    await scene.in_sight(ada, True)
    await scene.mention(ada, "while she looks")
    await expect(message(ada, "while she looks")).to_be_visible()
    assert scene.service.received.empty()

    await open_channel(ada, "random")
    await look_away(ada)
    await scene.in_sight(ada, False)
    await scene.mention(ada, "**dinner** is ready")
    await Deliverer(ada.page).deliver(scene.device.read(await scene.service.next()))
    # tests/chat/voice/test_private_rooms.py tests the push messages about private calls.
    await Deliverer(ada.page).deliver({"kind": "call", "talk_id": "a-conversation"})

    async def is_notified() -> bool:
        shown = sorted(notice["body"] for notice in await notices(ada.page))
        return shown == ["Ada dinner is ready", "Someone is calling you"]

    await wait_until("the device shows both notifications", is_notified, within_s=15)
    assert scene.service.received.empty(), "the page shows each pushed notification once"
    await click_notice(ada, "Ada dinner is ready")
    await expect(ada.page.locator("#text-name")).to_have_text("general")
    await expect(message(ada, "dinner")).to_be_focused()
    await look_back(ada)

    async def cleared() -> bool:
        return [notice["body"] for notice in await notices(ada.page)] == ["Someone is calling you"]

    await wait_until("a read message needs no notification", cleared, within_s=15)


@narrow_only
async def test_turning_push_off_ends_the_subscription_in_the_browser_and_on_the_server(scene: Scene) -> None:
    ada = await scene.arrive()
    await subscribe(ada)
    assert await scene.stored() == [f"{scene.service.origin}/device"]
    await open_settings(ada)
    await switch(ada).uncheck()
    await expect(ada.page.get_by_text("are delivered encrypted")).to_be_visible()
    await wait_for_value(scene.stored, [])
    await wait_for_value(lambda: ada.page.evaluate(SUBSCRIPTION), None)


@wide_only
async def test_a_subscription_is_renewed_when_the_servers_key_changes(scene: Scene) -> None:
    ada = await scene.arrive()
    await subscribe(ada)
    other_key = "localStorage.setItem('test.push', JSON.stringify({ turn: 1, key: [4, 5, 6] }))"
    await ada.page.evaluate(other_key)
    await ada.page.reload()

    async def renewed() -> bool:
        return await scene.stored() == [f"{scene.service.origin}/device-2"]

    await wait_until("the server has the new subscription", renewed, within_s=15)


@wide_only
async def test_signing_out_ends_the_subscription_and_erases_it_in_the_browser(scene: Scene) -> None:
    ada = await scene.arrive()
    await subscribe(ada)
    await open_settings(ada, "Session")
    await ada.press("Sign out")
    await confirm(ada, "Sign out")
    await expect(ada.page.get_by_role("button", name="Sign in as Ada")).to_be_visible()

    async def ended() -> bool:
        return await scene.stored() == [] and await ada.page.evaluate(SUBSCRIPTION) is None

    await wait_until("the browser and the server have no subscription", ended, within_s=15)


@narrow_only
async def test_the_settings_explain_why_push_is_unavailable(scene: Scene) -> None:
    ada = await scene.arrive(allowed=False)
    await ada.page.add_init_script("Object.defineProperty(Notification, 'permission', { value: 'denied' })")
    await ada.page.reload()
    await open_settings(ada)
    await expect(switch(ada)).to_be_disabled()
    notice = ada.page.locator(".push-state").get_by_text("Your browser blocks notifications from this page.")
    await expect(notice).to_be_visible()
    await ada.page.add_init_script("delete globalThis.PushManager")
    await ada.page.reload()
    await open_settings(ada)
    await expect(ada.page.get_by_text("This browser doesn’t support this.")).to_be_visible()
