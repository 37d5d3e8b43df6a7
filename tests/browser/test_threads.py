"""Threads have their own unread counts, drafts and side panel, and can be followed."""

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import NARROW, People, Person, narrow_only, wide_daily
from tests.kit.text_channels import box, do, message, shows, write

__all__ = ["axe"]


def thread(person: Person) -> Locator:
    return person.page.get_by_role("region", name="Thread")


async def answer(person: Person, text: str) -> None:
    field = thread(person).get_by_role("textbox", name="Reply in thread")
    await field.fill(text)
    await field.press("Enter")
    await expect(thread(person).locator(".message").filter(has_text=text)).to_be_visible()
    await expect(person.page.locator(".pending")).to_have_count(0)


@wide_daily
async def test_replies_are_shown_in_a_side_panel_with_their_own_count(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await write(ada, "Where shall we meet?")
    await do(grace, "Where", "More")
    await grace.page.get_by_role("menuitem", name="Reply in thread").click()
    await answer(grace, "At the river")
    await answer(grace, "Or at mine")

    # The channel shows the number of replies but does not count them as unread.
    hint = message(ada, "Where").locator(".answers")
    await expect(hint).to_contain_text("2 replies")
    await expect(hint).to_contain_text("2 unread")
    await shows(ada, ["Where shall we meet?"])
    await expect(ada.page.locator("#channels .badge")).to_have_count(0)

    await hint.click()
    await expect(thread(ada).locator(".message .body > .text")).to_have_text(
        ["Where shall we meet?", "At the river", "Or at mine"]
    )
    await expect(hint).not_to_contain_text("unread")
    await answer(ada, "The river it is")
    await expect(thread(grace)).to_contain_text("The river it is")
    await expect_accessible(grace, axe, "a thread with its replies")
    # The thread and the channel have separate message fields and drafts. On a phone, the thread covers the
    # channel's field.
    if ada.page.viewport_size == NARROW:
        await ada.press("Close")
        await expect(thread(ada)).to_have_count(0)
    await box(ada).fill("Elsewhere")
    await box(ada).press("Enter")
    channel = grace.page.locator("#messages .message .body > .text")
    await expect(channel).to_have_text(["Where shall we meet?", "Elsewhere"])


@narrow_only
async def test_followed_threads_are_listed_and_can_be_unfollowed(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "Bread or rolls?")
    await do(ada, "Bread", "More")
    await ada.page.get_by_role("menuitem", name="Reply in thread").click()
    await answer(ada, "Bread for me")
    # On a phone, the thread covers the buttons above the channel.
    await ada.page.keyboard.press("Escape")
    await ada.show_aside("Followed threads")
    listed = ada.page.get_by_role("region", name="Followed threads")
    await expect(listed).to_contain_text("Bread or rolls?")
    await expect_accessible(ada, axe, "followed threads")
    await listed.get_by_role("button", name="Jump to message").click()
    await ada.press("Unfollow thread")
    await expect(ada.page.get_by_role("button", name="Follow thread", exact=True)).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await ada.show_aside("Followed threads")
    await expect(listed).to_contain_text("You don’t follow any threads yet.")
    await ada.page.keyboard.press("Escape")
    await expect(listed).to_have_count(0)
