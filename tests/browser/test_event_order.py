"""The web client shows the latest state even if responses and pushed events arrive in a different order."""

import asyncio
import json

from playwright.async_api import Route, WebSocketRoute, expect

from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.community import ask, community, listed, open_settings, own_id
from tests.kit.text_channels import entry, join_and_open, write


class Held:
    """The first response to a kind of request, which is held back until `release`."""

    def __init__(self, person: Person, path: str) -> None:
        self._page, self._path = person.page, path
        self._given, self._gone, self._done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __aenter__(self) -> "Held":
        await self._page.route(self._path, self._hold)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._gone.set()

    async def is_given(self) -> None:
        await self._given.wait()

    async def release(self) -> None:
        """Release the response. Wait until the page has received it."""
        self._gone.set()
        await self._done.wait()

    async def _hold(self, route: Route) -> None:
        if self._given.is_set():
            await route.continue_()
            return
        answer = await route.fetch()
        self._given.set()
        await self._gone.wait()
        await route.fulfill(response=answer)
        self._done.set()


@wide_only
async def test_a_late_response_does_not_restore_an_old_permission_or_an_old_name(people: People) -> None:
    server = await community(people, pages=("owner", "member"))
    await server.member.show_channels()
    invite = server.member.page.get_by_role("button", name="Invite people")
    await expect(invite).to_be_visible()
    [role] = [
        role for role in (await ask(server.owner, "GET", "/api/roles"))["roles"] if role["id"] == "member"
    ]
    remaining = [permission for permission in role["permissions"] if permission != "create_invites"]
    async with Held(server.member, "**/api/me/permissions") as first:
        await ask(
            server.owner, "PATCH", "/api/roles/member", {"permissions": [*remaining, "create_invites"][1:]}
        )
        await first.is_given()
        await ask(server.owner, "PATCH", "/api/roles/member", {"permissions": remaining})
        await expect(invite).to_have_count(0)
        async with server.member.page.expect_event("requestfinished"):
            await first.release()
        await expect(invite).to_have_count(0)

    async with Held(server.owner, "**/api/members?*") as first:
        await server.owner.press("Members")
        await first.is_given()
        path = f"/api/members/{await own_id(server.member)}"
        await ask(server.owner, "PATCH", path, {"nickname": "Hopper"})
        await expect(server.member.page.locator("#own-name")).to_have_text("Hopper")
        await first.release()
        await expect(server.owner.page.get_by_role("region", name="Members · 3")).to_be_visible()
        await expect(listed(server.owner, "Hopper")).to_be_visible()


async def test_the_results_of_the_newer_search_are_shown(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "Apples")
    await write(ada, "Pears")
    await ada.press("Search messages")
    field = ada.page.get_by_role("searchbox", name="Search messages")
    async with Held(ada, "**/api/search?*") as first:
        await field.fill("apples")
        await field.press("Enter")
        await first.is_given()
        await field.fill("pears")
        await field.press("Enter")
        lines = ada.page.locator(".message-lines .message-line")
        await expect(lines).to_have_count(1)
        await expect(lines).to_contain_text("Pears")
        async with ada.page.expect_event("requestfinished"):
            await first.release()
        await expect(lines).to_contain_text("Pears")


@narrow_only
async def test_a_new_channel_opens_even_if_its_event_arrives_after_the_response(people: People) -> None:
    ada = await people.arrive("Ada")
    answered = asyncio.Event()

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        async def later(text: str | bytes) -> None:
            if json.loads(text)["event"] == "channel_created":
                await answered.wait()
            socket.send(text)

        server.on_message(later)

    await ada.page.route_web_socket("**/live", connect)
    await ada.page.reload()
    await join_and_open(ada)
    await ada.show_channels()
    await ada.press("Create text channel")
    dialog = ada.page.get_by_role("dialog", name="Create channel")
    await dialog.get_by_label("Name", exact=True).fill("plans")
    await dialog.get_by_role("button", name="Create channel").click()
    await expect(dialog).to_have_count(0)
    await expect(entry(ada, "plans")).to_have_count(0)
    answered.set()
    await expect(ada.page.locator("#text-name")).to_have_text("plans")


@wide_only
async def test_a_late_response_does_not_close_a_settings_page_opened_in_the_meantime(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ask(ada, "POST", "/api/channels", {"name": "attic", "type": "text"})
    await ada.show_channels()
    await entry(ada, "attic").click(button="right")
    await ada.page.get_by_role("menuitem", name="Channel settings", exact=True).click()
    async with Held(ada, "**/api/channels/*") as archiving:
        await ada.press("Archive channel")
        await archiving.is_given()
        await ada.page.keyboard.press("Escape")
        page = await open_settings(ada, "Channels")
        await archiving.release()
        await expect(ada.page.locator(".notice")).to_contain_text("attic")
        await expect(page).to_be_visible()
