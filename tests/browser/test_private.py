"""The server cannot read private conversations, and the web client restores them after a reload."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import Capture, People, Person, narrow_only, wide_only
from tests.kit.community import confirm, open_settings, post
from tests.kit.notifications import hears, listen, look_away, look_back, notices, want_notices
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import (
    box,
    join_and_open,
    message,
    open_channel,
    press_at,
    stays_at_the_end,
    write,
)
from tests.kit.wait import wait_until

__all__ = ["axe"]

NOTHING_KEPT = """() => new Promise((resolve) => {
  const request = indexedDB.open("svc.private");
  request.onsuccess = () => {
    const count = request.result.transaction("kept").objectStore("kept").count();
    count.onsuccess = () => { request.result.close(); resolve(count.result === 0); };
  };
})"""


async def private(person: Person, other: str) -> None:
    """Open a private conversation from the other person's profile, which their channel message links to."""
    await message(person, f"I am {other}").locator(".author").click()
    await person.page.get_by_role("dialog", name=other).get_by_role("button", name="Message").click()
    await expect(person.page.locator("#private-name")).to_have_text(other)


def field(person: Person) -> Locator:
    return person.page.locator("#private-draft")


def messages(person: Person) -> Locator:
    return person.page.locator("#private .message:not(.pending) .text")


def private_message(person: Person, text: str) -> Locator:
    words = person.page.locator(".text").filter(has_text=text)
    return person.page.locator("#private .message:not(.pending)").filter(has=words)


async def find(person: Person, words: str, axe: str) -> None:
    """Search the browser's own store for the only message with these words. Open the message."""
    await person.press("Search private messages")
    dialog = person.page.get_by_role("dialog", name="Search private messages")
    await dialog.get_by_label("Search terms").fill(words)
    await expect(dialog.get_by_role("listitem")).to_have_count(1)
    await at_both_sizes(person, axe, "the search in private messages")
    await dialog.get_by_role("button", name="Jump to message").click()


async def send_message(person: Person, text: str) -> None:
    await field(person).fill(text)
    await field(person).press("Enter")
    await expect(messages(person).filter(has_text=text.replace("*", "").removesuffix(":)"))).to_be_visible()
    await expect(person.page.locator("#private .pending")).to_have_count(0)


async def both(people: People, capture: Capture | None = None) -> tuple[Person, Person]:
    ada, grace = [await people.arrive(name, capture=capture, reads="general") for name in ("Ada", "Grace")]
    for person in (ada, grace):
        await post(person, f"I am {person.name}")
    return ada, grace


def all_bytes(folder: Path) -> bytes:
    """Return the bytes of all files in the installation: the database, its log and the programs' output."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def conversation(person: Person, other: str) -> Locator:
    return person.page.locator("#private-talks").get_by_role("button", name=other)


async def go_to(person: Person, other: str) -> None:
    """Open an existing conversation from the list of conversations."""
    await person.show_channels()
    await conversation(person, other).click()
    await expect(person.page.locator("#private-name")).to_have_text(other)


async def marks(person: Person, other: str, *counts: str) -> None:
    """Wait until the list of conversations shows this unread count."""
    await person.show_channels()
    await expect(conversation(person, other).locator(".badge")).to_have_text(counts)
    await person.hide_channels()


@wide_only
async def test_two_people_write_to_each_other_and_the_server_cannot_read_their_messages(
    people: People, product: SvcUp, tmp_path: Path
) -> None:
    ada, grace = await both(people)
    await private(ada, "Grace")
    await send_message(ada, "The cellar key is under the mat")
    # The message reaches a member who is reading a channel and counts as unread.
    await marks(grace, "Ada", "1")
    await expect(grace.page).to_have_title("(1) general · svc")
    await go_to(grace, "Ada")
    await expect(messages(grace)).to_have_text(["The cellar key is under the mat"])
    await marks(grace, "Ada")
    await send_message(grace, "Which mat?")
    await expect(messages(ada)).to_have_text(["The cellar key is under the mat", "Which mat?"])

    # After a reload, the page restores the conversation and its read state, and the conversation continues.
    await ada.page.reload()
    await expect(ada.page.locator("#private-name")).to_have_text("Grace")
    await expect(messages(ada)).to_have_text(["The cellar key is under the mat", "Which mat?"])
    await send_message(ada, "The blue one")
    await expect(messages(grace).last).to_have_text("The blue one")

    # Both people have the same verification number.
    numbers = []
    for person in (ada, grace):
        await person.press("About encryption")
        number = person.page.locator(".private-number")
        await expect(number).to_have_text(re.compile(r"^\d+( \d+){11}$"))
        numbers.append(await number.inner_text())
        await person.page.keyboard.press("Escape")
    assert numbers[0] == numbers[1]

    kept = all_bytes(tmp_path)
    assert b"I am Ada" in kept  # channel messages, by contrast, are readable on the server
    for text in (b"cellar", b"Which mat", b"blue one"):
        assert text not in kept


@narrow_only
async def test_replies_reactions_edits_and_deletions_work_but_the_server_cannot_read_them(
    people: People, tmp_path: Path, axe: str
) -> None:
    ada, grace = await both(people)
    await private(ada, "Grace")
    await send_message(ada, "The **lighthouse** at noon")
    await go_to(grace, "Ada")
    await expect(messages(grace).locator("strong")).to_have_text("lighthouse")

    # Grace replies and reacts with the same controls as in channels.
    await press_at(private_message(grace, "lighthouse"), "Reply")
    await send_message(grace, "Which lighthouse :)")
    answer = private_message(ada, "Which lighthouse 🙂")
    await expect(answer.locator(".replied")).to_contain_text("The lighthouse at noon")
    await press_at(private_message(grace, "noon"), "React")
    await grace.page.get_by_role("group", name="React with").get_by_role("button", name="🎉").click()
    for person in (ada, grace):
        await expect(private_message(person, "noon").locator(".reaction")).to_contain_text("🎉")
    await private_message(ada, "noon").locator(".reaction").click()
    await expect(private_message(grace, "noon").locator(".reaction")).to_contain_text("2")
    await private_message(grace, "noon").locator(".reaction").click()
    await expect(private_message(ada, "noon").locator(".reaction")).to_contain_text("1")

    # The up arrow edits only the user's own last message.
    await field(ada).press("ArrowUp")
    editor = ada.page.get_by_label("Edit message")
    await expect(editor).to_have_value("The **lighthouse** at noon")
    await editor.fill("The harbour office at nine")
    await editor.press("Enter")
    await expect(messages(grace).first).to_have_text("The harbour office at nine")
    await expect(private_message(grace, "harbour")).to_contain_text("edited")
    await expect(
        private_message(grace, "harbour").get_by_role("button", name="Edit", exact=True)
    ).to_have_count(0)
    await send_message(ada, "Forget the windmill")
    await expect(messages(grace).last).to_have_text("Forget the windmill")
    await press_at(private_message(ada, "windmill"), "Delete")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete message").click()
    for person in (ada, grace):
        await expect(messages(person)).to_have_text(["The harbour office at nine", "Which lighthouse 🙂"])

    # All messages and changes survive a reload.
    await grace.page.reload()
    await expect(messages(grace)).to_have_text(["The harbour office at nine", "Which lighthouse 🙂"])
    await expect(private_message(grace, "harbour").locator(".reaction")).to_contain_text("1")
    # The quote links to the original message.
    await private_message(grace, "Which lighthouse").locator(".replied").click()
    await expect(private_message(grace, "harbour")).to_be_focused()
    # A search result also links to the original message.
    await find(grace, "WHICH light", axe)
    await expect(private_message(grace, "Which lighthouse")).to_be_focused()
    kept = all_bytes(tmp_path)
    for text in ("lighthouse", "harbour", "windmill", "🎉", "🙂"):
        assert text.encode() not in kept
    await can_be_read_by_keyboard_and_left(ada, axe)


async def can_be_read_by_keyboard_and_left(person: Person, axe: str) -> None:
    """Check that the open conversation is accessible and can be left for a channel."""
    await at_both_sizes(person, axe, "a private conversation")
    # As in a channel, the arrow keys move between messages.
    await person.page.locator("#private-box").focus()
    await person.page.keyboard.press("ArrowUp")
    await expect(person.page.locator("#private .message").last).to_be_focused()
    await stays_at_the_end(person.page.locator("#private .message").last)
    await person.press("About encryption")
    await expect(person.page.locator(".private-number")).to_be_visible()
    await at_both_sizes(person, axe, "the safety number")
    await person.page.keyboard.press("Escape")
    await person.press("Show channels")
    await open_channel(person, "general")
    await expect(box(person)).to_be_enabled()


@wide_only
async def test_pending_messages_survive_a_reload(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    # Grace's page is open, but its device has not been registered for private conversations yet.
    await grace.page.route("**/api/private/**", lambda route: route.abort())
    for person in (ada, grace):
        await join_and_open(person)
    await write(grace, "I am Grace")
    await private(ada, "Grace")
    for text in ("first", "second"):
        await field(ada).fill(text)
        await field(ada).press("Enter")
    waiting = ada.page.locator("#private .pending")
    await expect(waiting).to_have_count(2)
    await expect(ada.page.locator("#private-state")).to_contain_text("doesn’t have a device")
    await ada.page.reload()
    await expect(waiting.locator(".text")).to_have_text(["first", "second"])
    await waiting.last.get_by_role("button", name="Delete").click()
    await expect(waiting.locator(".text")).to_have_text(["first"])
    await grace.page.unroute("**/api/private/**")
    await grace.page.reload()
    await expect(messages(ada)).to_have_text(["first"])
    await expect(waiting).to_have_count(0)
    await go_to(grace, "Ada")
    await expect(messages(grace)).to_have_text(["first"])


@wide_only
@pytest.mark.usefixtures("whole_browser", "service_worker")
async def test_a_private_message_causes_a_notification_and_is_erased_on_signing_out(people: People) -> None:
    ada, grace = await both(people)
    await ada.page.context.grant_permissions(["notifications"])
    await listen(ada)
    await want_notices(ada)
    await private(grace, "Ada")
    await send_message(grace, "one")
    await wait_until("a sound plays", lambda: hears(ada, "mention"), within_s=15)
    await look_away(ada)
    await send_message(grace, "two")

    async def is_notified() -> bool:
        return [(notice["title"], notice["body"]) for notice in await notices(ada.page)] == [("Grace", "two")]

    await wait_until("a notice is shown", is_notified, within_s=15)
    await look_back(ada)
    await go_to(ada, "Grace")
    await expect(messages(ada)).to_have_text(["one", "two"])

    async def cleared() -> bool:
        return await notices(ada.page) == []

    await wait_until("the notifications of read messages are closed", cleared, within_s=15)
    await ada.show_channels()
    await ada.press("Settings")
    await ada.press("Session")
    await ada.press("Sign out")
    await confirm(ada, "Sign out")
    await expect(ada.page.get_by_role("button", name="Sign in as Ada")).to_be_visible()
    await ada.page.wait_for_function(NOTHING_KEPT)


async def test_moderators_receive_only_the_reported_message_and_its_proof(
    people: People, product: SvcUp, tmp_path: Path, axe: str
) -> None:
    ada, grace = await both(people)
    await private(ada, "Grace")
    await send_message(ada, "Nobody likes you")
    await send_message(ada, "The cellar key is under the mat")
    await conversation(grace, "Ada").click()
    await expect(messages(grace)).to_have_count(2)
    await press_at(private_message(grace, "Nobody likes you"), "More")
    await grace.page.get_by_role("menuitem", name="Report to moderators").click()
    dialog = grace.page.get_by_role("dialog", name="Report a message from Ada")
    await expect(dialog).to_contain_text("Nobody likes you")
    await expect(dialog).to_contain_text("The rest of the conversation stays secret.")
    await at_both_sizes(grace, axe, "the report of a private message")
    await dialog.get_by_label("What’s wrong?").fill("This hurts.")
    await dialog.get_by_role("button", name="Send report").click()
    await expect(grace.page.get_by_text("Report sent to the moderators.")).to_be_visible()

    reports = await open_settings(ada, "Reports")
    report = reports.get_by_role("listitem")
    await expect(report).to_contain_text("Grace reported Ada")
    await expect(report.locator("blockquote")).to_have_text("Ada Nobody likes you")
    await expect(report).to_contain_text("Verified: Ada sent exactly this.")
    await at_both_sizes(ada, axe, "a reported private message")
    kept = all_bytes(tmp_path)
    assert b"Nobody likes you" in kept
    assert b"cellar" not in kept
