"""The inbox lists mentions from all channels and links to them."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import NARROW, People, Person, narrow_only, wide_only
from tests.kit.community import post
from tests.kit.notifications import OWN_ID, mention
from tests.kit.text_channels import box, do, in_random, in_two_channels, message, write

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("second_channel")

OPEN = "Control+Alt+N"
# Simulates a server that rejects the first request for mentions.
REFUSE_ONCE = """
const send = WebSocket.prototype.send;
let refused = false;
WebSocket.prototype.send = function (text) {
  const first = !refused && text.includes('"event":"mentions"');
  refused ||= first;
  return send.call(this, first ? text.replace('"data":{}', '"data":{"before":"nothing"}') : text);
};
"""


def inbox(person: Person) -> Locator:
    return person.page.get_by_role("region", name="Mentions")


def lines(person: Person) -> Locator:
    return inbox(person).locator(".message-line .text")


@wide_only
async def test_mentions_from_all_channels_are_in_one_inbox_and_lead_to_their_messages(
    people: People, axe: str
) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await ada.press("Mentions")
    await expect(inbox(ada)).to_contain_text("No mentions yet.")
    await mention(grace, ada, "dinner?")
    await post(grace, "unrelated")
    # A mention that arrives while the inbox is open appears immediately.
    await expect(lines(ada)).to_have_text(["@Ada dinner?"])
    await expect(inbox(ada)).to_contain_text("#general")
    await expect(inbox(ada).locator(".message-line")).to_contain_text("New")
    await mention(grace, ada, "over here", "random")
    await expect(lines(ada)).to_have_text(["@Ada over here", "@Ada dinner?"])
    await at_both_sizes(ada, axe, "mentions of several channels")

    line = inbox(ada).locator(".message-line").filter(has_text="dinner?")
    await line.get_by_role("button", name="Jump to message").click()
    await expect(ada.page.locator("#text-name")).to_have_text("general")
    await expect(ada.page.locator("#messages .message").filter(has_text="dinner?")).to_be_focused()
    await expect(line.locator(".badge")).to_have_count(0)


@wide_only
async def test_mentions_survive_a_reload_and_can_all_be_marked_as_read(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await mention(grace, ada, "one")
    await mention(grace, ada, "two")
    await ada.page.reload()
    await ada.page.get_by_role("button", name="Mentions, 2 mentions").click()
    await expect(lines(ada)).to_have_text(["@Ada two", "@Ada one"])
    await ada.press("Mark all as read")
    await expect(inbox(ada).locator(".badge")).to_have_count(0)
    await expect(ada.page.get_by_role("button", name="Mentions", exact=True)).to_be_visible()
    await expect(inbox(ada).get_by_role("button", name="Mark all as read")).to_be_disabled()


@wide_only
async def test_edits_and_deletions_appear_in_the_inbox(people: People) -> None:
    ada, grace = await in_two_channels(people)
    await mention(grace, ada, "first")
    await mention(grace, ada, "second")
    await ada.press("Mentions, 2 mentions")
    await expect(lines(ada)).to_have_count(2)
    await do(grace, "second", "Edit")
    editor = grace.page.locator(".message textarea")
    await editor.fill("nobody")
    await editor.press("Enter")
    await expect(lines(ada)).to_have_text(["@Ada first"])


@wide_only
async def test_the_inbox_opens_and_closes_by_keyboard_and_returns_the_focus(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await box(ada).focus()
    await ada.page.keyboard.press(OPEN)
    await expect(inbox(ada).get_by_role("list")).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(inbox(ada)).to_have_count(0)
    await expect(box(ada)).to_be_focused()


@narrow_only
async def test_older_mentions_are_fetched_on_demand(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    for number in range(27):
        await mention(grace, ada, f"number {number}")
    await ada.press("Mentions, 27 mentions")
    await expect(lines(ada)).to_have_count(25)
    await expect(lines(ada).first).to_have_text("@Ada number 26")
    await ada.press("Show older messages")
    await expect(lines(ada)).to_have_count(27)
    await expect(lines(ada).last).to_have_text("@Ada number 0")
    await expect(inbox(ada).get_by_role("button", name="Show older messages")).to_have_count(0)


@narrow_only
async def test_a_mention_in_a_thread_opens_the_thread(people: People) -> None:
    ada, grace = await in_two_channels(people)
    await write(grace, "Where?")
    await do(grace, "Where", "More")
    await grace.page.get_by_role("menuitem", name="Reply in thread").click()
    field = grace.page.get_by_role("textbox", name="Reply in thread")
    await field.fill(f"[Ada](mention:{await ada.page.evaluate(OWN_ID)}) knows")
    await field.press("Enter")
    await ada.press("Mentions, 1 mention")
    await inbox(ada).get_by_role("button", name="Jump to message").click()
    thread = ada.page.get_by_role("region", name="Thread")
    await expect(thread.locator(".message").filter(has_text="knows")).to_be_focused()
    await expect(ada.page.locator("#text-name")).to_have_text("general")


async def test_on_a_phone_opening_a_message_closes_the_inbox(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await mention(grace, ada, "dinner?")
    await ada.resize(NARROW)
    await ada.press("Mentions, 1 mention")
    await inbox(ada).get_by_role("button", name="Jump to message").click()
    await expect(inbox(ada)).to_have_count(0)
    await expect(message(ada, "dinner?")).to_be_focused()


@wide_only
async def test_a_failed_request_is_shown_and_can_be_retried(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await mention(grace, ada, "dinner?")
    await ada.page.add_init_script(REFUSE_ONCE)
    await ada.page.reload()
    await ada.press("Mentions, 1 mention")
    await expect(inbox(ada)).to_contain_text("This message no longer exists.")
    await inbox(ada).get_by_role("button", name="Try again").click()
    await expect(lines(ada)).to_have_text(["@Ada dinner?"])
