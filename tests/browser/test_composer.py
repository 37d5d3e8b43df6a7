"""Tests the composer's writing aids: completion, emoji, formatting, commands and replies."""

import re

import pytest
from playwright.async_api import ViewportSize, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.kit.browser_users import NARROW, WIDE, People, narrow_only, wide_only
from tests.kit.community import ask, own_id
from tests.kit.text_channels import both, box, do, message, press_at, shows, write

__all__ = ["axe"]

SLOW = """async (seconds) => {
  const token = JSON.parse(localStorage.getItem("svc.identity")).access_token;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { channels } = await (await fetch("/api/channels", { headers })).json();
  const { id } = channels.find(({ name }) => name === "general");
  const body = JSON.stringify({ slow_mode_s: seconds });
  await fetch(`/api/channels/${id}`, { method: "PATCH", headers, body });
}"""
# Pastes text and sends it in the same task, with nothing in between.
PASTE_AND_SEND = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}"""
# Returns the left and right edges of the message grid (without its padding) and of the composer's row.
COLUMNS = """() => [".messages .message", ".composer .row"].map((name) => {
  const element = document.querySelector(name);
  const { left, right } = element.getBoundingClientRect();
  const inner = name.includes("message") ? parseFloat(getComputedStyle(element).paddingInlineStart) : 0;
  return [left + inner, right - inner].map(Math.round);
})"""
FIELD_HEIGHT = "(field) => Math.round(field.getBoundingClientRect().height)"


@pytest.mark.parametrize("viewport", [ViewportSize(width=1920, height=1080)], indirect=True)
async def test_messages_and_composer_share_a_readable_column_in_a_wide_window(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "A line " * 60)
    shown, field = await ada.page.evaluate(COLUMNS)
    assert shown == field
    assert 600 <= shown[1] - shown[0] <= 900
    # The field grows with its text and shrinks again.
    empty = await box(ada).evaluate(FIELD_HEIGHT)
    await box(ada).fill("one")
    assert await box(ada).evaluate(FIELD_HEIGHT) == empty
    await box(ada).fill("one\ntwo\nthree")
    assert await box(ada).evaluate(FIELD_HEIGHT) > empty * 1.7
    await box(ada).fill("")
    assert await box(ada).evaluate(FIELD_HEIGHT) == empty


@narrow_only
async def test_a_few_letters_of_a_name_are_enough_to_mention_someone(people: People) -> None:
    ada, grace = await both(people)
    await box(ada).press_sequentially("Hello @gr")
    await expect(ada.page.get_by_role("option", name="Grace")).to_have_attribute("aria-selected", "true")
    await ada.resize(WIDE)
    await expect(ada.page.locator(".completion")).to_have_css("width", "380px")
    await ada.resize(NARROW)
    await box(ada).press("Enter")
    await expect(box(ada)).to_have_value("Hello @Grace ")
    await box(ada).press_sequentially("and :tad")
    await expect(ada.page.get_by_role("option", name=":tada:")).to_be_visible()
    await box(ada).press("Tab")
    await box(ada).press_sequentially("in #gen")
    await expect(ada.page.get_by_role("option", name="general")).to_be_visible()
    await box(ada).press("Enter")
    await expect(ada.page.get_by_role("option")).to_have_count(0)
    await box(ada).press("Enter")
    await shows(grace, ["Hello @Grace and 🎉 in #general"])
    await expect(message(grace, "Hello").locator(".mention.own")).to_have_text("@Grace")
    # The mentions of the person and the channel are on the same line as the surrounding text.
    tops = "(all) => all.map((each) => Math.round(each.getBoundingClientRect().top))"
    assert len(set(await message(grace, "Hello").locator(".mention").evaluate_all(tops))) == 1
    # Typing a full name also mentions the person.
    await box(ada).press_sequentially("@grace, look")
    await box(ada).press("Enter")
    await expect(message(grace, "look").locator(".mention.own")).to_have_text("@Grace")
    await box(ada).press_sequentially("Done :tada:")
    await box(ada).press("Enter")
    await expect(message(grace, "Done 🎉")).to_be_visible()
    # Escape leaves the typed text unchanged.
    await box(ada).press_sequentially("@gr")
    await expect(ada.page.get_by_role("option", name="Grace")).to_be_visible()
    await box(ada).press("Escape")
    await box(ada).press("Enter")
    await shows(grace, ["Hello @Grace and 🎉 in #general", "@Grace, look", "Done 🎉", "@gr"])
    await expect(ada.page.locator(".pending")).to_have_count(0)
    # The same applies while a message is being edited.
    await box(ada).press("ArrowUp")
    editor = ada.page.get_by_role("textbox", name="Edit message")
    await expect(editor).to_have_value("@gr")
    await editor.press_sequentially("ac")
    await expect(ada.page.get_by_role("option", name="Grace")).to_be_visible()
    await editor.press("Enter")
    await expect(editor).to_have_value("@Grace ")
    await editor.press("Enter")
    await shows(grace, ["Hello @Grace and 🎉 in #general", "@Grace, look", "Done 🎉", "@Grace"])
    await expect(editor).to_have_count(0)
    await shows(ada, ["Hello @Grace and 🎉 in #general", "@Grace, look", "Done 🎉", "@Grace"])
    await box(ada).press("ArrowUp")
    await expect(editor).to_have_value("@Grace ")


@wide_only
async def test_pasted_text_that_is_sent_immediately_is_unchanged(people: People) -> None:
    ada, grace = await both(people)
    # At first, the code for emoji and names has not been loaded yet.
    for text in ("Hooray :tada: @Grace\nand all", "And more"):
        await box(ada).evaluate(PASTE_AND_SEND, text)
        await expect(box(ada)).to_have_value("")
    await shows(grace, ["Hooray 🎉 @Graceand all", "And more"])
    await expect(message(grace, "Hooray").locator(".mention.own")).to_have_text("@Grace")


@wide_only
async def test_groups_and_roles_are_offered_only_to_members_who_may_mention_them(
    people: People, axe: str
) -> None:
    ada, grace = await both(people)
    role = await ask(ada, "POST", "/api/roles", {"name": "Gardeners"})
    await ask(ada, "PUT", f"/api/members/{await own_id(grace)}/roles/{role['id']}")
    offered = ada.page.get_by_role("option")
    for begun, whole in (("@eve", "everyone"), ("@he", "here"), ("@gar", "Gardeners")):
        await box(ada).press_sequentially(begun)
        await expect(offered).to_contain_text([whole])
        await box(ada).press("Enter")
        await expect(box(ada)).to_have_value(f"@{whole} ")
        await box(ada).press_sequentially(f"to {whole}")
        await box(ada).press("Enter")
        posted = message(grace, f"to {whole}")
        await expect(posted).to_have_class(re.compile("mentions-me"))
        await expect(posted.locator(".mention")).to_have_text(f"@{whole}")
    await expect_accessible(grace, axe, "mentions of groups and roles")
    # A built-in role has the same name here as in every list.
    await box(ada).press_sequentially("@adm")
    await expect(offered).to_contain_text(["Administrators"])
    await box(ada).press("Enter")
    await expect(box(ada)).to_have_value("@Administrators ")
    await box(ada).press("Enter")
    await expect(grace.page.locator(".mention", has_text="@Administrators")).to_be_visible()
    # A member without the permission can mention only people. A role's name that they type is plain text.
    await box(grace).press_sequentially("@")
    await expect(grace.page.get_by_role("option")).to_have_text([re.compile("Ada$"), re.compile("Grace$")])
    await box(grace).press_sequentially("everyone to no one")
    await box(grace).press("Enter")
    await expect(message(ada, "to no one")).not_to_have_class(re.compile("mentions-me"))
    await expect(message(ada, "to no one").locator(".mention")).to_have_count(0)


@wide_only
async def test_formatting_is_added_around_a_selection_and_removed_again(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    await box(ada).fill("so bold")
    await box(ada).press("Control+Shift+ArrowLeft")
    await box(ada).press("Control+b")
    await expect(box(ada)).to_have_value("so **bold**")
    await box(ada).press("Control+i")
    await expect(box(ada)).to_have_value("so ***bold***")
    await box(ada).press("Control+i")
    await box(ada).press("Control+b")
    await expect(box(ada)).to_have_value("so bold")
    # The buttons above the field do the same, but appear only while text is selected.
    bar = ada.page.get_by_role("toolbar", name="Formatting")
    await bar.get_by_role("button", name="Strikethrough").click()
    await expect(box(ada)).to_have_value("so ~~bold~~")
    await expect(box(ada)).to_be_focused()
    await expect_accessible(ada, axe, "the formatting buttons")
    await bar.get_by_role("button", name="Strikethrough").click()
    await expect(box(ada)).to_have_value("so bold")
    await box(ada).press("ArrowRight")
    await expect(bar).to_have_count(0)


@wide_only
async def test_an_emoji_can_be_inserted_into_the_text_and_used_as_a_reaction(people: People) -> None:
    ada, grace = await both(people)
    await box(ada).fill("Yes")
    await ada.press("Choose emoji")
    await ada.page.get_by_role("searchbox", name="Search emoji").fill("rocket")
    await ada.page.get_by_role("gridcell").get_by_role("button").first.click()
    await expect(box(ada)).to_have_value("Yes🚀 ")
    await expect(box(ada)).to_be_focused()
    await box(ada).press("Enter")
    await do(grace, "Yes", "React")
    await grace.press("All emoji")
    await grace.page.get_by_role("searchbox", name="Search emoji").fill("unicorn")
    await expect(grace.page.get_by_role("gridcell").first).to_contain_text("🦄")
    await grace.page.keyboard.press("Enter")
    await expect(message(ada, "Yes").locator(".reaction")).to_have_accessible_name("🦄 1 person")


async def test_a_recent_emoji_can_be_used_as_a_reaction_with_one_click(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await grace.resize(WIDE)
    await write(ada, "Cake?")
    cake = message(grace, "Cake?")
    await cake.hover()
    await expect(cake.locator(".quick")).to_have_count(0)
    await press_at(cake, "React")
    await cake.get_by_role("button", name="🎉").click()
    await write(ada, "Tea?")
    tea = message(grace, "Tea?")
    await tea.hover()
    quick = tea.get_by_role("button", name="React with 🎉")
    await expect(quick).to_be_visible()
    await expect_accessible(grace, axe, "the buttons of a message")
    await quick.focus()
    await grace.page.keyboard.press("Enter")
    await expect(message(ada, "Tea?").locator(".reaction")).to_have_accessible_name("🎉 1 person")
    await expect(quick).to_have_attribute("aria-pressed", "true")
    await quick.click()
    await expect(message(ada, "Tea?").locator(".reaction")).to_have_count(0)
    # On a phone, there is no room for these emoji next to the message.
    await grace.resize(NARROW)
    await tea.hover()
    await expect(quick).to_be_hidden()
    await expect_accessible(grace, axe, "the buttons of a message")
    await press_at(tea, "More")
    await grace.page.get_by_role("menuitem", name="React with 🎉").click()
    await expect(message(ada, "Tea?").locator(".reaction")).to_have_accessible_name("🎉 1 person")


@narrow_only
async def test_emoticons_become_emoji_unless_the_conversion_is_undone(people: People) -> None:
    ada, grace = await both(people)
    await box(ada).press_sequentially("Hello :) you <3")
    await expect(box(ada)).to_have_value("Hello 🙂 you <3")
    await box(ada).press("Enter")
    await shows(grace, ["Hello 🙂 you ❤️"])
    await box(ada).press_sequentially("as :( ")
    await box(ada).press("Backspace")
    await expect(box(ada)).to_have_value("as :( ")
    await box(ada).press_sequentially("and :D is")
    await box(ada).press("Enter")
    await shows(grace, ["Hello 🙂 you ❤️", "as :( and :D is"])
    await box(ada).press_sequentially("so ;) ")
    await expect(box(ada)).to_have_value("so 😉 ")
    await box(ada).press("Control+z")
    await expect(box(ada)).to_have_value("so ;) ")
    await box(ada).press("Enter")
    await shows(grace, ["Hello 🙂 you ❤️", "as :( and :D is", "so ;)"])
    await ada.show_channels()
    await ada.press("Settings")
    await ada.press("Appearance and language")
    await ada.page.get_by_role("switch", name="Convert emoticons to emoji").uncheck()
    await ada.page.keyboard.press("Escape")
    await ada.hide_channels()
    await box(ada).press_sequentially("not :) now")
    await box(ada).press("Enter")
    await shows(grace, ["Hello 🙂 you ❤️", "as :( and :D is", "so ;)", "not :) now"])


@wide_only
async def test_commands_are_offered_after_a_slash_and_run_immediately(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await box(ada).press_sequentially("/")
    await expect(ada.page.get_by_role("option")).to_have_count(6)
    await expect_accessible(ada, axe, "suggested commands")
    await box(ada).press_sequentially("sh")
    offered = ada.page.get_by_role("option", name="/shrug")
    await expect(offered).to_contain_text("to your message")
    await box(ada).press("Enter")
    await expect(box(ada)).to_have_value("/shrug ")
    await box(ada).press_sequentially("who knows")
    await box(ada).press("Enter")
    await shows(grace, ["who knows ¯\\_(ツ)_/¯"])
    for text in ("//shrug", "/etc/hosts", "/spoiler the butler"):
        await write(ada, text)
    await shows(grace, ["who knows ¯\\_(ツ)_/¯", "/shrug", "/etc/hosts", "the butler"])
    await expect(message(grace, "the butler").get_by_role("button", name="Spoiler. Show")).to_be_visible()
    await write(ada, "/status at lunch")
    await write(ada, "/nick Ada L.")
    await grace.press("Members")
    members = grace.page.get_by_role("list", name="Members")
    await expect(members).to_contain_text("at lunch")
    await expect(members.get_by_role("button", name=re.compile("^Ada L"))).to_be_visible()
    # A message that the server rejects stays in the field, where it can be changed.
    await box(ada).fill("/nick Grace")
    await box(ada).press("Enter")
    await expect(ada.page.get_by_role("alert")).to_be_visible()
    await expect(box(ada)).to_have_value("/nick Grace")
    await expect(ada.page.locator(".messages .message")).to_have_count(4)


@narrow_only
async def test_slow_mode_counts_down_and_keeps_the_draft(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await ada.page.evaluate(SLOW, 3600)
    await expect(grace.page.locator("#typing")).to_contain_text("Slow mode")
    await write(grace, "First")
    left = grace.page.get_by_role("timer")
    await expect(left).to_contain_text("you can send another message in")
    shown = await left.inner_text()
    await expect(left).not_to_have_text(shown)
    await box(grace).fill("Second")
    await box(grace).press("Enter")
    await expect(grace.page.get_by_role("alert")).to_contain_text("you can send another message in")
    await expect_accessible(grace, axe, "slow mode")
    await expect(box(grace)).to_have_value("Second")
    await grace.page.reload()
    await expect(left).to_contain_text("you can send another message in")
    await expect(box(grace)).to_have_value("Second")
    # Moderators do not have to wait. Nobody has to wait once slow mode is off.
    await write(ada, "Third")
    await expect(ada.page.get_by_role("timer")).to_have_count(0)
    await ada.page.evaluate(SLOW, 0)
    await expect(left).to_have_count(0)
    await box(grace).press("Enter")
    await shows(ada, ["First", "Third", "Second"])


@wide_only
async def test_a_reply_quotes_its_message_and_links_to_it(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await write(ada, "Dinner at eight?")
    await do(grace, "Dinner", "Reply")
    await expect(box(grace)).to_be_focused()
    await expect(grace.page.locator(".reply-line")).to_contain_text("Replying to Ada")
    await box(grace).press_sequentially("Nine is better")
    await box(grace).press("Enter")
    # The reply does not trigger a notification if its author turned the notification off.
    await press_at(grace.page.locator(".message").first, "Reply")
    notify = grace.page.get_by_role("button", name="Notify")
    await expect(notify).to_have_attribute("aria-pressed", "true")
    await notify.click()
    await expect(notify).to_have_attribute("aria-pressed", "false")
    await box(grace).fill("Or at ten")
    await box(grace).press("Enter")
    quiet = message(ada, "Or at ten")
    await expect(quiet.locator(".replied")).to_contain_text("Dinner at eight?")
    await expect(quiet).not_to_have_class(re.compile("mentions-me"))
    answer = message(ada, "Nine is better")
    await expect(answer.locator(".replied")).to_contain_text("Dinner at eight?")
    await expect(answer).to_have_class(re.compile("mentions-me"))
    await at_both_sizes(ada, axe, "replies and their originals")
    await answer.locator(".replied").click()
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text("Dinner at eight?")
    # A link to a day leads to the day's first message.
    await ada.page.locator(".day button").click()
    dialog = ada.page.get_by_role("dialog", name="Jump to date")
    await dialog.get_by_role("button", name="Jump").click()
    await expect(dialog).to_have_count(0)
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text("Dinner at eight?")
    await expect(ada.page.locator(".message.marked")).to_be_focused()
