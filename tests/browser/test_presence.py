"""The web client sets idle automatically, and members set do-not-disturb themselves."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, WebSocketRoute, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.notifications import listen, mention, sounds
from tests.kit.svc_up import SvcUp, running_svc_up
from tests.kit.text_channels import entry, join_and_open, open_channel
from tests.kit.wait import wait_until

__all__ = ["axe"]

SEEN_WITHIN_MS = 5_000


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SvcUp]:
    """Run a server with a second text channel."""
    monkeypatch.setenv("ADDITIONAL_CHANNELS", "random")
    async with running_svc_up(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


async def choose(person: Person, now: str, wanted: str) -> None:
    await person.show_channels()
    await person.page.get_by_role("button", name=f"How others see you: {now}").click()
    await person.page.get_by_role("menuitemradio", name=wanted).click()
    await expect(person.page.get_by_role("button", name=f"How others see you: {wanted}")).to_be_visible()


def listed(watcher: Person, name: str) -> Locator:
    """Return a member's entry in the member list."""
    return watcher.page.get_by_role("list", name="Members").locator("li").filter(has_text=name)


@wide_only
async def test_do_not_disturb_silences_notifications_and_is_visible_to_others(
    people: People, axe: str
) -> None:
    ada = await people.arrive("Ada", reads="random")
    grace = await people.arrive("Grace", reads="general")
    await listen(ada)
    await open_channel(ada, "random")
    await grace.press("Members")
    await expect(listed(grace, "Ada").get_by_role("button", name="Ada", exact=True)).to_be_visible()
    await ada.show_channels()
    await ada.page.get_by_role("button", name="How others see you: Online").click()
    await expect(ada.page.get_by_role("menuitemradio").first).to_be_visible()
    await expect_accessible(ada, axe, "a member's own status")
    await ada.page.keyboard.press("Escape")
    await choose(ada, "Online", "Do not disturb")
    await expect(listed(grace, "Ada")).to_contain_text("Do not disturb")
    await expect(listed(grace, "Ada").locator(".avatar")).to_have_attribute("data-presence", "quiet")
    await expect_accessible(grace, axe, "the members")
    await listed(grace, "Ada").get_by_role("button").first.click()
    await expect(grace.page.get_by_role("dialog", name="Ada")).to_contain_text("Do not disturb")
    await grace.page.keyboard.press("Escape")

    await mention(grace, ada, "are you there?")
    await expect(entry(ada, "general").locator(".badge")).to_have_text("1")
    assert await sounds(ada) == []

    # The status survives a reload and applies to other tabs.
    await ada.page.reload()
    await choose(ada, "Do not disturb", "Online")
    await expect(listed(grace, "Ada")).not_to_contain_text("Do not disturb")


@narrow_only
async def test_an_invisible_member_looks_offline_only_to_others(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await grace.press("Members")
    await expect(listed(grace, "Ada").locator(".avatar")).to_have_attribute("data-presence", "online")
    await choose(ada, "Online", "Invisible")
    await expect(listed(grace, "Ada").locator(".avatar")).to_have_attribute("data-presence", "away")
    await expect(ada.page.locator(".who-am-i")).to_contain_text("Invisible")
    await ada.page.reload()
    await choose(ada, "Invisible", "Online")
    await expect(listed(grace, "Ada").locator(".avatar")).to_have_attribute("data-presence", "online")


@wide_only
async def test_a_member_without_input_for_ten_minutes_is_idle(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.page.clock.install()
    await join_and_open(ada)
    await join_and_open(grace)
    await grace.press("Members")

    async def idle() -> bool:
        # The idle detection is loaded after the first messages, so keep advancing the clock until it has been
        # loaded.
        await ada.page.clock.fast_forward("11:00")
        # Advance it in several steps. If the clock jumped by hours, the page would consider the server dead.
        try:
            await expect(listed(grace, "Ada")).to_contain_text("Idle", timeout=SEEN_WITHIN_MS)
        except AssertionError:
            return False
        return True

    await wait_until("Ada is idle", idle, within_s=20)
    await expect(listed(grace, "Ada").locator(".avatar")).to_have_attribute("data-presence", "idle")
    await ada.page.keyboard.press("Shift")
    await expect(listed(grace, "Ada")).not_to_contain_text("Idle")


class Takeovers:
    """A page's live connection, on which the test simulates the events of a relay after a takeover.

    `requests` contains the names of the page's live requests and the paths of its HTTP requests.
    """

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._greeting: dict[str, Any] = {}
        self._socket: WebSocketRoute

    async def intercept(self, person: Person) -> None:
        """Intercept the page's connection after its next load."""
        person.page.on("request", lambda request: self.requests.append(request.url.split("/", 3)[3]))
        await person.page.route_web_socket("**/live", self._connect)

    def happens(self, presences: list[dict[str, object]], **changes: object) -> None:
        """Send the sign-in state again, without the online members, and then the changed presences."""
        left_out = ("online", "idle", "do_not_disturb")
        state = {name: value for name, value in self._greeting.items() if name not in left_out}
        for event, data in [("authenticated", state | changes), *(("presence", data) for data in presences)]:
            self._socket.send(json.dumps({"event": event, "data": data}))

    def newer(self) -> list[object]:
        """Return the channels' unread counts after another message in each channel."""
        return [counts | {"last": "~"} for counts in self._greeting["unread"]]

    async def requested(self, *names: str) -> None:
        async def are_there() -> bool:
            return {*names} <= {*self.requests}

        await wait_until(f"requests {names}", are_there, within_s=5)

    def _connect(self, socket: WebSocketRoute) -> None:
        self._socket, server = socket, socket.connect_to_server()

        def asked(text: str | bytes) -> None:
            frame = json.loads(text)
            assert frame["event"] != "authenticate" or frame["data"]["keeps_online"] is True
            self.requests.append(frame["event"])
            server.send(text)

        def answered(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["event"] == "authenticated":
                self._greeting = frame["data"]
            socket.send(text)

        socket.on_message(asked)
        server.on_message(answered)


@wide_only
async def test_after_a_takeover_a_client_keeps_the_online_members_and_delays_its_requests(
    people: People,
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    takeovers = Takeovers()
    await takeovers.intercept(grace)
    await grace.page.reload()
    await open_channel(grace, "general")
    picture = listed(grace, "Ada").locator(".avatar")
    if not await picture.is_visible():
        await grace.press("Members")
    await expect(picture).to_have_attribute("data-presence", "online")
    await takeovers.requested("history", "drafts")
    ada_id = await ada.page.evaluate("JSON.parse(localStorage['svc.identity']).member.id")

    # Only presences change. The page's first random delay would be eleven days.
    await grace.page.evaluate("Math.random = () => 1e5")
    takeovers.requests.clear()
    idle = {"member_id": ada_id, "online": True, "idle": True, "do_not_disturb": False}
    takeovers.happens([idle], quiet=True)
    await expect(picture).to_have_attribute("data-presence", "idle")
    # The last owner node stored the member's own setting, but did not announce it.
    await expect(grace.page.get_by_role("button", name="How others see you: Do not disturb")).to_be_visible()
    assert takeovers.requests == []

    # The page immediately fetches a message that the last owner node did not announce.
    takeovers.happens([], unread=takeovers.newer())
    await takeovers.requested("history")
    assert takeovers.requests == ["history"]

    await grace.page.evaluate("Math.random = () => 0")
    takeovers.requests.clear()
    takeovers.happens([idle | {"idle": False}])
    await expect(picture).to_have_attribute("data-presence", "online")
    await takeovers.requested("history", "drafts")
    assert takeovers.requests.count("history") == takeovers.requests.count("drafts") == 1
    assert "info" not in takeovers.requests
