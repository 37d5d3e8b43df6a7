"""Permitted members can create, edit, reorder, hide and delete channels in the web client."""

from collections.abc import Sequence
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.kit.browser_users import NARROW, UNDER_A_KEYBOARD, WIDE, People, Person
from tests.kit.community import (
    Community,
    ask,
    community,
    has_no_page,
    open_settings,
    own_id,
    pick,
    refusal,
)
from tests.kit.text_channels import box, entry, open_channel, shows, write
from tests.kit.wait import wait_for_value

__all__ = ["axe"]


async def create(person: Person, name: str, *, kind: str = "Text", to: str | None = None) -> None:
    """Create a channel. If `to` is given, only members with that role can see it."""
    await person.show_channels()
    await person.press("Create text channel")
    dialog = person.page.get_by_role("dialog", name="Create channel")
    await dialog.get_by_role("radio", name=kind).check()
    await dialog.get_by_label("Name", exact=True).fill(name)
    if to:
        await dialog.get_by_role("switch", name="Private").check()
        await pick(dialog, "Add roles or people", to)
    await dialog.get_by_role("button", name="Create channel").click()
    await expect(dialog).to_be_hidden()
    if kind == "Text":
        await expect(person.page.locator("#text-name")).to_have_text(name)


def names(person: Person) -> Locator:
    return person.page.locator("#channels .channel-name")


async def choose(person: Person, channel: str, item: str) -> None:
    """Choose an item in a channel's menu."""
    await entry(person, channel).hover()
    await person.press(f"More about {channel}")
    await person.page.get_by_role("menuitem", name=item, exact=True).click()


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await community(people, "manage_channels", pages=pages)


async def test_only_permitted_members_create_a_channel_and_everybody_sees_it(
    server: Community, axe: str
) -> None:
    for person, name, size in ((server.owner, "plans", WIDE), (server.moderator, "help", NARROW)):
        for viewer in (person, server.member):
            await viewer.resize(size)
        await create(person, name)
        await open_channel(server.member, name)
        await write(server.member, f"First in {name}")
        await person.show_channels()
        await entry(person, name).click(button="right")
        await expect(person.page.get_by_role("menuitem", name="Delete", exact=True)).to_be_visible()
        await expect_accessible(person, axe, "the menu of a channel")
        await person.page.keyboard.press("Escape")
        await person.hide_channels()
    for viewer in (server.owner, server.member):
        await viewer.show_channels()
    await create(server.owner, "Lounge", kind="Voice")
    await expect(server.member.page.locator("#voice-channels .channel-name")).to_have_text(
        ["Voice", "Lounge"]
    )
    await expect(server.member.page.get_by_role("button", name="Create text channel")).to_have_count(0)
    await entry(server.member, "general").click(button="right")
    await server.member.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await server.member.page.get_by_role("menuitem", name="Copy link").click()
    await expect(server.member.page.get_by_text("Link copied.")).to_be_visible()
    assert (await server.member.page.evaluate("navigator.clipboard.readText()")).endswith("/#channel=general")
    await entry(server.member, "general").click(button="right")
    await expect(server.member.page.get_by_role("menuitem").first).to_be_visible()
    for item in ("Channel settings", "Permissions", "Move down", "Delete"):
        await expect(server.member.page.get_by_role("menuitem", name=item, exact=True)).to_have_count(0)
    await server.member.page.keyboard.press("Escape")
    await has_no_page(server.member, "Channels")
    assert (
        await refusal(server.member, "POST", "/api/channels", {"name": "no", "type": "text"}) == "forbidden"
    )


async def test_changes_to_a_channel_appear_for_everybody(server: Community, axe: str) -> None:
    async def channels(kind: str) -> list[dict[str, Any]]:
        channels = (await ask(server.owner, "GET", "/api/channels"))["channels"]
        return [channel for channel in channels if channel["type"] == kind]

    changes = (
        (server.owner, "general", "hall", "Whatever goes", "10 seconds", 10),
        (server.moderator, "hall", "lobby", "Whatever comes up", "30 seconds", 30),
    )
    for person, before, name, topic, slow_mode, seconds in changes:
        await choose(person, before, "Channel settings")
        await person.page.get_by_label("Name", exact=True).fill(name)
        await person.page.get_by_label("Topic").fill(topic)
        await person.page.get_by_label("Slow mode").select_option(slow_mode)
        if person is server.owner:
            await at_both_sizes(person, axe, "the settings of a channel")
        await person.press("Save")
        await expect(person.page.locator(".notice")).to_contain_text("Saved.")
        await expect(server.member.page.locator("#text-name")).to_have_text(name)
        await expect(server.member.page.locator("#topic")).to_have_text(topic)
        [channel] = await channels("text")
        assert channel["slow_mode_s"] == seconds
        await person.page.keyboard.press("Escape")
    path = f"/api/channels/{channel['id']}"
    for body in ({"name": "mine"}, {"topic": "mine"}, {"slow_mode_s": 0}, {"archived": True}):
        assert await refusal(server.member, "PATCH", path, body) == "forbidden"
    assert await refusal(server.member, "DELETE", path) == "forbidden"

    for person, seats, quality, outcome in (
        (server.owner, "5", "128 kbit/s", (5, 128, True)),
        (server.moderator, "3", "96 kbit/s", (3, 96, False)),
    ):
        await choose(person, "Voice", "Channel settings")
        await person.page.get_by_label("User limit").fill(seats)
        await person.page.get_by_label("Audio quality").select_option(quality)
        await person.page.get_by_role("switch", name="Encrypt calls").click()
        if person is server.owner:
            await at_both_sizes(person, axe, "the settings of a voice channel")
        await person.press("Save")

        async def now() -> list[tuple[int, int, bool]]:
            names = ("user_limit", "bitrate_kbps", "encrypted")
            return [tuple(channel[name] for name in names) for channel in await channels("voice")]

        await wait_for_value(now, [outcome])  # The earlier notice may still be visible.
        await person.page.keyboard.press("Escape")


@pytest.mark.pages("owner")
async def test_a_channel_without_a_name_is_rejected_with_a_message(server: Community, axe: str) -> None:
    await server.owner.press("Create text channel")
    creates = server.owner.page.get_by_role("dialog").get_by_role("button", name="Create channel")
    await server.owner.resize(UNDER_A_KEYBOARD)
    await expect(creates).to_be_in_viewport(ratio=1)
    await creates.click()
    await server.owner.resize(WIDE)
    await expect(server.owner.page.get_by_role("alert").filter(has_text="Enter a name.")).to_be_visible()
    await at_both_sizes(server.owner, axe, "a new channel without a name")


async def test_channels_can_be_reordered_by_keyboard_by_menu_and_by_dragging(server: Community) -> None:
    owner, member = server.owner, server.member

    async def are(*order: str) -> None:
        """Wait until both pages show this order, because elements that are still moving cannot be dragged."""
        for person in (member, owner):
            await expect(names(person)).to_have_text(list(order))

    for name in ("one", "two"):
        await create(owner, name)
    await are("general", "one", "two", "Voice")
    await entry(owner, "two").press("Control+Shift+ArrowUp")
    await are("general", "two", "one", "Voice")
    await choose(owner, "general", "Move down")
    await are("two", "general", "one", "Voice")
    await create(owner, "Projects", kind="Category")
    category = owner.page.get_by_role("button", name="Projects", exact=True)
    await expect(category).to_be_visible()
    await entry(owner, "two").drag_to(category)
    await are("general", "one", "Voice", "two")
    # A line shows the future position of the channel.
    await entry(owner, "one").hover()
    await owner.page.mouse.down()
    for y in (6, 3):
        await entry(owner, "general").hover(position={"x": 20, "y": y})
    await expect(owner.page.locator("[data-drop=before]")).to_contain_text("general")
    await owner.page.mouse.up()
    await expect(owner.page.locator("[data-drop]")).to_have_count(0)
    await are("one", "general", "Voice", "two")

    moderator = server.moderator
    await expect(names(moderator)).to_have_text(["one", "general", "Voice", "two"])
    await entry(moderator, "general").drag_to(entry(moderator, "one"), target_position={"x": 20, "y": 3})
    await are("general", "one", "Voice", "two")
    assert await entry(member, "one").get_attribute("draggable") != "true"
    order = {
        "channels": [channel["id"] for channel in (await ask(owner, "GET", "/api/channels"))["channels"]]
    }
    assert await refusal(member, "PUT", "/api/channels/order", order) == "forbidden"


@pytest.mark.pages("owner", "member")
async def test_a_collapsed_category_hides_channels_without_unread_messages(server: Community) -> None:
    await create(server.owner, "Projects", kind="Category")
    await server.owner.press("Create channel in Projects")
    await server.owner.page.get_by_label("Name", exact=True).fill("engine")
    await server.owner.page.keyboard.press("Enter")
    await expect(server.owner.page.locator("#text-name")).to_have_text("engine")
    folding = server.member.page.get_by_role("button", name="Projects", exact=True)
    await expect(names(server.member)).to_have_text(["general", "Voice", "engine"])
    await folding.click()
    await expect(folding).to_have_attribute("aria-expanded", "false")
    await expect(names(server.member)).to_have_text(["general", "Voice"])
    await write(server.owner, "News of the engine")
    await expect(names(server.member)).to_have_text(["general", "Voice", "engine"])


async def test_a_private_channel_is_visible_only_to_admitted_members(server: Community, axe: str) -> None:
    await create(server.moderator, "secret", to="Edsger")
    await open_channel(server.member, "secret")
    await write(server.moderator, "Only for us")
    await shows(server.member, ["Only for us"])

    await choose(server.moderator, "secret", "Permissions")
    await expect(server.moderator.page.get_by_role("button", name="Remove Edsger")).to_be_visible()
    await at_both_sizes(server.moderator, axe, "the viewers of a private channel")
    await server.moderator.page.get_by_role("button", name="Remove Edsger").click()
    await expect(entry(server.member, "secret")).to_have_count(0)
    await expect(server.moderator.page.get_by_role("button", name="Remove Edsger")).to_have_count(0)
    await server.moderator.page.get_by_role("switch", name="Private").uncheck()
    await expect(entry(server.member, "secret")).to_have_count(1)
    await server.moderator.page.keyboard.press("Escape")

    await create(server.owner, "council", to="Helpers")
    await expect(entry(server.moderator, "council")).to_have_count(1)
    await expect(entry(server.member, "secret")).to_have_count(1)
    await expect(entry(server.member, "council")).to_have_count(0)
    [council] = [
        channel
        for channel in (await ask(server.owner, "GET", "/api/channels"))["channels"]
        if channel["name"] == "council"
    ]
    messages = f"/api/channels/{council['id']}/messages"
    assert await refusal(server.member, "GET", messages) == "unknown_channel"
    assert await refusal(server.member, "POST", messages, {"text": "Hello?"}) == "unknown_channel"


async def test_the_permission_matrix_shows_a_members_effective_permissions(
    server: Community, axe: str
) -> None:
    await choose(server.owner, "general", "Permissions")
    page = server.owner.page

    def line(of: str) -> Locator:
        return page.get_by_role("group", name=of)

    sending = line("Send messages")
    await expect(sending).to_contain_text("allowed")
    await sending.get_by_role("radio", name="Deny").check()
    await expect(sending.locator(".outcome")).to_have_text("not allowed")
    await expect(box(server.member)).to_be_disabled()

    await pick(page.get_by_role("dialog"), "Add a role or person", "Edsger")
    of_edsger = page.get_by_role("group", name="Permissions of Edsger in this channel")
    await expect(of_edsger.get_by_role("group", name="Send messages").locator(".outcome")).to_have_text(
        "not allowed"
    )
    await of_edsger.get_by_role("group", name="Send messages").get_by_role("radio", name="Allow").check()
    await expect(of_edsger.get_by_role("group", name="Send messages").locator(".outcome")).to_have_text(
        "allowed"
    )
    await expect(box(server.member)).to_be_enabled()
    await at_both_sizes(server.owner, axe, "a member's permissions in a channel")
    channels = (await ask(server.member, "GET", "/api/me/permissions"))["channels"]
    [channel] = [
        c for c in (await ask(server.owner, "GET", "/api/channels"))["channels"] if c["name"] == "general"
    ]
    assert "send_messages" in channels[channel["id"]]

    await choose(server.moderator, "general", "Permissions")
    page = server.moderator.page
    await (
        page.get_by_role("list", name="Roles and people with channel permissions")
        .get_by_role("button", name="Edsger")
        .click()
    )
    reacting = page.get_by_role("group", name="Permissions of Edsger in this channel").get_by_role(
        "group", name="Add reactions"
    )
    await expect(reacting.locator(".outcome")).to_have_text("allowed")
    await reacting.get_by_role("radio", name="Deny").check()
    await expect(reacting.locator(".outcome")).to_have_text("not allowed")

    async def may_react() -> bool:
        channels = (await ask(server.member, "GET", "/api/me/permissions"))["channels"]
        return "add_reactions" in channels[channel["id"]]

    await wait_for_value(may_react, False)
    # Members cannot grant permissions that they do not have in this channel.
    await expect(page.get_by_role("group", name="Send messages").get_by_role("radio").first).to_be_disabled()
    overrides = f"/api/channels/{channel['id']}/overrides"
    assert await refusal(server.member, "GET", overrides) == "forbidden"
    body = {"allow": ["send_messages"], "deny": []}
    own = f"{overrides}/member/{await own_id(server.member)}"
    assert await refusal(server.member, "PUT", own, body) == "forbidden"


async def test_a_channel_is_deleted_only_after_its_name_has_been_typed(server: Community, axe: str) -> None:
    for person in (server.owner, server.moderator):
        await create(server.owner, "mistake")
        await choose(person, "mistake", "Delete")
        dialog = person.page.get_by_role("dialog", name="Delete mistake?")
        button = dialog.get_by_role("button", name="Delete", exact=True)
        await dialog.get_by_role("textbox").fill("mistak")
        await expect(button).to_be_disabled()
        if person is server.owner:
            await at_both_sizes(person, axe, "the confirmation to delete a channel")
        await dialog.get_by_role("textbox").fill("mistake")
        await button.click()
        await expect(names(server.member)).to_have_text(["general", "Voice"])
        await expect(server.owner.page.locator("#text-name")).to_have_text("general")
        [newest] = (await ask(server.owner, "GET", "/api/audit?limit=1"))["entries"]
        assert (newest["action"], newest["actor_id"]) == ("channel_delete", await own_id(person))


async def test_an_archived_channel_can_be_restored_in_the_settings(server: Community) -> None:
    await create(server.owner, "attic")
    for person in (server.owner, server.moderator):
        await choose(person, "attic", "Channel settings")
        await person.press("Archive channel")
        await expect(names(server.member)).to_have_text(["general", "Voice"])
        page = await open_settings(person, "Channels")
        await page.get_by_role("button", name="Restore").click()
        await expect(names(server.member)).to_have_text(["general", "attic", "Voice"])
        await person.page.keyboard.press("Escape")


async def test_two_moderators_can_reorder_channels_concurrently(server: Community) -> None:
    # Each of the two moves is valid before and after the other.
    for name in ("one", "two", "three"):
        await create(server.owner, name)
    for person in (server.owner, server.moderator, server.member):
        await expect(names(person)).to_have_text(["general", "one", "two", "three", "Voice"])
    order = "**/api/channels/order"
    async with server.moderator.page.expect_response(order), server.owner.page.expect_response(order):
        await entry(server.moderator, "two").press("Control+Shift+ArrowUp")
        await entry(server.owner, "one").press("Control+Shift+ArrowDown")
    calls = [
        c["name"]
        for c in (await ask(server.owner, "GET", "/api/channels"))["channels"]
        if c["type"] == "text"
    ]
    for person in (server.owner, server.moderator, server.member):
        await expect(person.page.locator("#text-channels .channel-name")).to_have_text(calls)
