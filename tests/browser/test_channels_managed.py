"""Channels are made, changed, ordered, hidden and deleted in the page by those who may and nobody else."""

import pytest
from playwright.async_api import Locator, expect

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
from tests.kit.people import People, Person
from tests.kit.text_channels import box, entry, open_channel, shows, write
from tests.kit.waiting import wait_until


async def create(person: Person, name: str, *, kind: str = "Text", to: str | None = None) -> None:
    """Make a channel; `to` is who alone sees it."""
    await person.press("Create a text channel")
    dialog = person.page.get_by_role("dialog", name="Create a channel")
    await dialog.get_by_role("radio", name=kind).check()
    await dialog.get_by_label("Name", exact=True).fill(name)
    if to:
        await dialog.get_by_role("switch", name="Private").check()
        await pick(dialog, "Who sees it", to)
    await dialog.get_by_role("button", name="Create a channel").click()
    await expect(dialog).to_be_hidden()
    if kind == "Text":
        await expect(person.page.locator("#text-name")).to_have_text(name)


def names(person: Person) -> Locator:
    return person.page.locator("#channels .channel-name")


async def choose(person: Person, channel: str, item: str) -> None:
    """Choose an item of a channel's menu."""
    await entry(person, channel).hover()
    await person.press(f"More about {channel}")
    await person.page.get_by_role("menuitem", name=item, exact=True).click()


@pytest.fixture
async def here(people: People) -> Community:
    return await community(people, "manage_channels")


async def test_a_channel_is_made_by_those_who_may_and_everybody_sees_it(here: Community) -> None:
    for person, name in ((here.owner, "plans"), (here.moderator, "help")):
        await create(person, name)
        await open_channel(here.member, name)
        await write(here.member, f"First in {name}")
    await create(here.owner, "Lounge", kind="Voice")
    await expect(here.member.page.locator("#voice-channels .channel-name")).to_have_text(["Voice", "Lounge"])
    await expect(here.member.page.get_by_role("button", name="Create a text channel")).to_have_count(0)
    await entry(here.member, "general").click(button="right")
    await expect(here.member.page.get_by_role("menuitem").first).to_be_visible()
    for item in ("Edit", "Permissions", "Move down", "Delete"):
        await expect(here.member.page.get_by_role("menuitem", name=item, exact=True)).to_have_count(0)
    await here.member.page.keyboard.press("Escape")
    await has_no_page(here.member, "Channels")
    assert await refusal(here.member, "POST", "/api/channels", {"name": "no", "type": "text"}) == "forbidden"


async def test_a_channel_is_changed_for_everybody(here: Community) -> None:
    await choose(here.moderator, "general", "Edit")
    page = here.moderator.page
    await page.get_by_label("Name", exact=True).fill("lobby")
    await page.get_by_label("Topic").fill("Whatever comes up")
    await page.get_by_label("Slow mode").select_option("30 seconds")
    await here.moderator.press("Save")
    await expect(page.locator(".notice")).to_contain_text("Saved.")
    await expect(here.member.page.locator("#text-name")).to_have_text("lobby")
    await expect(here.member.page.locator("#topic")).to_have_text("Whatever comes up")
    [channel] = [
        c for c in (await ask(here.owner, "GET", "/api/channels"))["channels"] if c["name"] == "lobby"
    ]
    assert channel["slow_mode_s"] == 30
    await page.keyboard.press("Escape")
    await choose(here.moderator, "Voice", "Edit")
    await page.get_by_label("Seats").fill("3")
    await page.get_by_label("Sound quality").select_option("96 kbit/s")
    await here.moderator.press("Save")

    async def saved() -> bool:
        channels = (await ask(here.owner, "GET", "/api/channels"))["channels"]
        return [(c["user_limit"], c["bitrate_kbps"]) for c in channels if c["type"] == "voice"] == [(3, 96)]

    await wait_until("the voice channel has it", saved, within_s=15)  # The notice may be the one before.


async def test_a_nameless_channel_is_refused_with_words(here: Community) -> None:
    await here.owner.press("Create a text channel")
    await here.owner.page.get_by_role("dialog").get_by_role("button", name="Create a channel").click()
    await expect(here.owner.page.get_by_role("alert").filter(has_text="Please enter a name.")).to_be_visible()


async def test_channels_are_ordered_by_keys_menus_and_dragging(here: Community) -> None:
    owner, member = here.owner, here.member

    async def are(*order: str) -> None:
        """At the owner's too: what is about to move there is not to be taken hold of."""
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
    await entry(owner, "one").drag_to(entry(owner, "general"), target_position={"x": 20, "y": 3})
    await are("one", "general", "Voice", "two")


async def test_a_category_folds_and_hides_what_is_read(here: Community) -> None:
    await create(here.owner, "Projects", kind="Category")
    await here.owner.press("Create a channel in Projects")
    await here.owner.page.get_by_label("Name", exact=True).fill("engine")
    await here.owner.page.keyboard.press("Enter")
    await expect(here.owner.page.locator("#text-name")).to_have_text("engine")
    folding = here.member.page.get_by_role("button", name="Projects", exact=True)
    await expect(names(here.member)).to_have_text(["general", "Voice", "engine"])
    await folding.click()
    await expect(folding).to_have_attribute("aria-expanded", "false")
    await expect(names(here.member)).to_have_text(["general", "Voice"])
    await write(here.owner, "News of the engine")
    await expect(names(here.member)).to_have_text(["general", "Voice", "engine"])


async def test_a_private_channel_is_seen_by_those_who_were_let_in(here: Community) -> None:
    await create(here.moderator, "secret", to="Edsger")
    await open_channel(here.member, "secret")
    await write(here.moderator, "Only for us")
    await shows(here.member, ["Only for us"])

    await choose(here.moderator, "secret", "Permissions")
    await here.moderator.page.get_by_role("button", name="Remove Edsger").click()
    await expect(entry(here.member, "secret")).to_have_count(0)
    await expect(here.moderator.page.get_by_role("button", name="Remove Edsger")).to_have_count(0)
    await here.moderator.page.get_by_role("switch", name="Private").uncheck()
    await expect(entry(here.member, "secret")).to_have_count(1)


async def test_the_matrix_shows_what_results_for_a_person(here: Community) -> None:
    await choose(here.owner, "general", "Permissions")
    page = here.owner.page

    def line(of: str) -> Locator:
        return page.get_by_role("group", name=of)

    sending = line("Send messages")
    await expect(sending).to_contain_text("may")
    await sending.get_by_role("radio", name="Deny").check()
    await expect(sending.locator(".outcome")).to_have_text("may not")
    await expect(box(here.member)).to_be_disabled()

    await pick(page.get_by_role("dialog"), "Add a role or a person", "Edsger")
    of_edsger = page.get_by_role("group", name="Permissions of Edsger in this channel")
    await expect(of_edsger.get_by_role("group", name="Send messages").locator(".outcome")).to_have_text(
        "may not"
    )
    await of_edsger.get_by_role("group", name="Send messages").get_by_role("radio", name="Allow").check()
    await expect(of_edsger.get_by_role("group", name="Send messages").locator(".outcome")).to_have_text("may")
    await expect(box(here.member)).to_be_enabled()
    told = (await ask(here.member, "GET", "/api/me/permissions"))["channels"]
    [channel] = [
        c for c in (await ask(here.owner, "GET", "/api/channels"))["channels"] if c["name"] == "general"
    ]
    assert "send_messages" in told[channel["id"]]


async def test_a_channel_goes_only_when_its_name_was_typed(here: Community) -> None:
    await create(here.owner, "mistake")
    await choose(here.moderator, "mistake", "Delete")
    dialog = here.moderator.page.get_by_role("dialog", name="Delete mistake?")
    button = dialog.get_by_role("button", name="Delete", exact=True)
    await dialog.get_by_role("textbox").fill("mistak")
    await expect(button).to_be_disabled()
    await dialog.get_by_role("textbox").fill("mistake")
    await button.click()
    await expect(names(here.member)).to_have_text(["general", "Voice"])
    await expect(here.owner.page.locator("#text-name")).to_have_text("general")
    [newest] = (await ask(here.owner, "GET", "/api/audit?limit=1"))["entries"]
    assert (newest["action"], newest["actor_id"]) == ("channel_delete", await own_id(here.moderator))


async def test_an_archived_channel_is_brought_back_from_the_settings(here: Community) -> None:
    await create(here.owner, "attic")
    await choose(here.owner, "attic", "Edit")
    await here.owner.press("Archive the channel")
    await expect(names(here.member)).to_have_text(["general", "Voice"])
    page = await open_settings(here.owner, "Channels")
    await page.get_by_role("button", name="Bring it back").click()
    await expect(names(here.member)).to_have_text(["general", "attic", "Voice"])


async def test_two_moderators_order_channels_at_once(here: Community) -> None:
    # Each of the two moves is possible before and after the other.
    for name in ("one", "two", "three"):
        await create(here.owner, name)
    for person in (here.owner, here.moderator, here.member):
        await expect(names(person)).to_have_text(["general", "one", "two", "three", "Voice"])
    order = "**/api/channels/order"
    async with here.moderator.page.expect_response(order), here.owner.page.expect_response(order):
        await entry(here.moderator, "two").press("Control+Shift+ArrowUp")
        await entry(here.owner, "one").press("Control+Shift+ArrowDown")
    told = [
        c["name"] for c in (await ask(here.owner, "GET", "/api/channels"))["channels"] if c["type"] == "text"
    ]
    for person in (here.owner, here.moderator, here.member):
        await expect(person.page.locator("#text-channels .channel-name")).to_have_text(told)
