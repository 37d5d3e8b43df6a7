"""The member list is grouped by role and presence, and only the visible rows of a long list are rendered."""

import asyncio
import re
from pathlib import Path

import pytest
from aiohttp import ClientSession
from playwright.async_api import Locator, expect

from tests.browser.test_sign_up import installation, without_invite
from tests.kit.browser_users import NARROW, WIDE, People, Person, SharedBrowsers, wide_only
from tests.kit.community import ask, own_id
from tests.kit.device import Device
from tests.kit.text_channels import join_and_open, open_channel

CROWD = 1000
AT_ONCE = 20
# The rows in a window of 800 px and the additional rendered rows.
MAX_DRAWN = 60

pytestmark = pytest.mark.timeout(240)

# Scrolls the list to a fraction of its height.
SCROLL = """(list, share) => {
  const scroller = list.closest(".aside-body");
  scroller.scrollTop = share * scroller.scrollHeight;
}"""


async def crowd(address: str, size: int) -> None:
    """Have this many members join, with one device each."""
    waiting = iter(range(1, size + 1))

    async def some() -> None:
        for number in waiting:
            body = await Device().proof(http, address) | {"nickname": f"Member {number:04}"}
            async with http.post(f"{address}/api/auth/join", json=body) as response:
                assert response.status == 200, await response.text()

    async with ClientSession() as http, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(some())


def row(members: Locator, name: str) -> Locator:
    """Return the button for a member, not the button that opens their menu."""
    return members.get_by_role("button", name=re.compile(f"^{name}"))


async def list_of(person: Person) -> Locator:
    await person.page.get_by_role("button", name="Members", exact=True).click()
    return person.page.get_by_role("list", name="Members")


async def walk_through(person: Person, members: Locator) -> None:
    """Move from the first member to the last and back, by keyboard."""
    rows = members.locator("li")
    assert await rows.count() < MAX_DRAWN
    await row(members, "Ada").focus()
    await person.page.keyboard.press("End")
    last = row(members, f"Member {CROWD:04}")
    await expect(last).to_be_focused()
    await expect(last).to_be_in_viewport()
    assert await rows.count() < MAX_DRAWN
    await person.page.keyboard.press("ArrowUp")
    await expect(row(members, f"Member {CROWD - 1:04}")).to_be_focused()
    await person.page.keyboard.press("Home")
    await expect(row(members, "Ada")).to_be_focused()


async def test_all_of_a_thousand_members_can_be_reached_although_few_are_rendered(
    browsers: SharedBrowsers, tmp_path: Path
) -> None:
    async with installation(browsers, tmp_path, MAX_MEMBERS=str(CROWD + 1)) as (product, people):
        ada = await people.arrive("Ada", reads="general")
        await ask(ada, "PATCH", "/api/settings", {"joinPolicy": "open"})
        await crowd(without_invite(product).rstrip("/"), CROWD)

        members = await list_of(ada)
        await expect(ada.page.get_by_role("heading", name=f"Members · {CROWD + 1:,}")).to_be_visible()
        await expect(members.get_by_role("heading", name=f"Offline {CROWD}")).to_be_visible()
        rows = members.locator("li")
        for size in (WIDE, NARROW):
            await ada.resize(size)
            await walk_through(ada, members)
            await members.evaluate(SCROLL, 0.447)
            await expect(row(members, "Member 0450")).to_be_attached()
            assert await rows.count() < MAX_DRAWN
            await members.evaluate(SCROLL, 0)
            await expect(row(members, "Ada")).to_be_attached()

        await ada.page.get_by_label("Find a member").fill("0777")
        await expect(rows).to_have_text(["Offline 1", "M0Member 0777"])
        await row(members, "Member 0777").click()
        await expect(ada.page.get_by_role("dialog", name="Member 0777")).to_be_visible()


@wide_only
async def test_members_are_grouped_by_role_and_presence_and_can_be_reached_by_keyboard(
    people: People,
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ask(ada, "PUT", f"/api/members/{await own_id(grace)}/roles/moderator", {})
    members = await list_of(ada)
    await expect(members.locator("li")).to_have_text(["Owner 1", "AAda", "Moderators 1", "GGrace"])

    # Tab moves to one member, and the arrow keys move to the others.
    await expect(members.locator("li > button[tabindex='0']")).to_have_count(1)
    await ada.page.get_by_label("Find a member").press("Tab")
    await expect(row(members, "Ada")).to_be_focused()
    await ada.page.keyboard.press("ArrowDown")
    await expect(row(members, "Grace")).to_be_focused()
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("dialog", name="Grace")).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await expect(row(members, "Grace")).to_be_focused()

    await ask(ada, "PATCH", "/api/roles/moderator", {"color": 0x3366CC})
    await expect(members.locator(".coloured")).to_have_text("Grace")
    await grace.page.close()
    # Members stay in memory for a while, because the page may be about to load the list again.
    await expect(members.locator("li")).to_have_text(["Owner 1", "AAda", "Offline 1", "GGrace"])


async def test_in_a_wide_window_the_member_list_stays_next_to_the_channel(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.resize({"width": 1440, "height": 800})
    await join_and_open(ada)
    heading = ada.page.get_by_role("heading", name="Members · 1")
    side_panel = ada.page.locator(".aside")
    await expect(heading).to_be_visible()
    # Another panel replaces the member list temporarily.
    await ada.show_aside("Pinned messages")
    await expect(heading).to_have_count(0)
    await side_panel.get_by_role("button", name="Close").click()
    await expect(heading).to_be_visible()
    # A call displays its own participants, and a small page does not have room for the list.
    await ada.enter_call()
    await expect(heading).to_have_count(0)
    await open_channel(ada, "general")
    await expect(heading).to_be_visible()
    await ada.resize({"width": 1280, "height": 800})
    await expect(heading).to_have_count(0)
    await ada.resize({"width": 1440, "height": 800})
    # A list that was closed stays closed until the person opens it again.
    await side_panel.get_by_role("button", name="Close").click()
    await expect(heading).to_have_count(0)
    await ada.page.reload()
    await open_channel(ada, "general")
    await ada.press("Members")
    await expect(heading).to_be_visible()
    await ada.page.reload()
    await expect(heading).to_be_visible()


async def test_clicking_the_backdrop_closes_the_panel(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.resize({"width": 800, "height": 700})
    await ada.show_aside("Members")
    await expect(ada.page.locator(".members")).to_contain_text("Ada")
    await ada.page.locator(".members").click(position={"x": 5, "y": 5})
    await expect(ada.page.locator(".members")).to_be_visible()
    await ada.page.mouse.click(300, 300)
    await expect(ada.page.locator(".aside")).to_have_count(0)
