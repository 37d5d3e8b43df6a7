"""Tests the web client's notifications: levels, mutes, sounds, system notifications and the badge."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import NARROW, WIDE, People, narrow_only, wide_only
from tests.kit.community import ask, post
from tests.kit.notifications import (
    choose,
    click_notice,
    hears,
    listen,
    look_away,
    look_back,
    mention,
    notices,
    open_settings,
    wait_until_silent,
    want_notices,
)
from tests.kit.text_channels import (
    box,
    entry,
    in_random,
    in_two_channels,
    message,
    open_channel,
    shows,
    write,
)
from tests.kit.wait import wait_until

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("second_channel")

PNG = re.compile("^data:image/png;base64,")
# Records the number that the system would display on the installed web client's icon.
BADGE = """
navigator.setAppBadge = async (count) => { window.badge = count; };
navigator.clearAppBadge = async () => { window.badge = 0; };
"""


@narrow_only
async def test_a_muted_channel_is_quiet_until_it_is_unmuted(people: People, axe: str) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await choose(ada, "general", "For 8 hours")
    await expect(entry(ada, "general")).to_have_accessible_name("general muted")
    # The button that lifts a mute is next to the time at which the mute ends.
    await entry(ada, "general").click(button="right")
    await ada.page.get_by_role("menuitem", name="Notifications").click()
    await expect(ada.page.get_by_role("menu")).to_contain_text(re.compile(r"Muted until .*\d:\d\d"))
    await expect_accessible(ada, axe, "the level of a muted channel")
    await ada.page.keyboard.press("Escape")
    await post(grace, "Anybody?")
    await expect(entry(ada, "general")).to_have_accessible_name("general muted 1 unread")
    await expect(entry(ada, "general").locator(".badge")).to_have_count(0)
    await expect(entry(ada, "general")).not_to_have_class("unread")
    await expect(ada.page).to_have_title("random · svc")
    await ada.page.reload()
    await ada.show_channels()
    await expect(entry(ada, "general")).to_have_accessible_name("general muted 1 unread")
    await choose(ada, "general", "Unmute")
    await expect(entry(ada, "general").locator(".badge")).to_have_text("1")
    await expect(ada.page).to_have_title("• random · svc")


@narrow_only
async def test_the_server_name_opens_the_server_menu(people: People, axe: str) -> None:
    ada, grace = await in_two_channels(people)
    await write(grace, "Anybody?")
    await ada.show_channels()
    await expect(entry(ada, "general")).to_have_accessible_name("general 1 unread")
    name = ada.page.locator(".server-head h2").get_by_role("button")
    await name.click()
    await expect(ada.page.get_by_role("menuitem", name="Server settings")).to_be_visible()
    await expect_accessible(ada, axe, "the menu of the server")
    await ada.page.get_by_role("menuitem", name="Mark all as read").click()
    await expect(entry(ada, "general")).to_have_accessible_name("general")
    await name.click()
    await expect(ada.page.get_by_role("menuitem", name="Mark all as read")).to_have_count(0)
    await ada.page.get_by_role("menuitem", name="Server settings").click()
    await expect(ada.page.get_by_role("region", name="This server")).to_be_visible()
    # The menu contains only items that the member may use.
    await grace.show_channels()
    await grace.page.locator(".server-head").click(button="right")
    items = grace.page.get_by_role("menuitem")
    await expect(items).to_have_text(["Invite people", "Notifications", "Leave server"])


@wide_only
async def test_a_channels_level_follows_the_default_until_it_has_its_own(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await open_settings(ada)
    await ada.page.get_by_role("radio", name="All messages").check()
    await ada.page.keyboard.press("Escape")
    await ada.hide_channels()
    menu = ada.page.get_by_role("menu")
    await ada.show_aside("Notifications")
    await expect(menu.get_by_role("menuitemradio", checked=True)).to_have_text("Default (All messages)")
    await menu.get_by_text("Nothing", exact=True).click()

    async def kept() -> bool:
        notifications = (await ask(ada, "GET", "/api/me/notifications"))["notifications"]
        return [entry["level"] for entry in notifications if entry["channel_id"]] == ["nothing"]

    await wait_until("the server keeps it", kept, within_s=15)
    await ada.page.reload()
    await ada.show_aside("Notifications")
    await expect(menu.get_by_role("menuitemradio", checked=True)).to_have_text("Nothing")


@wide_only
async def test_events_outside_the_current_view_are_announced(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await listen(ada)
    await open_channel(ada, "random")
    await choose(ada, "general", "All messages")
    await post(grace, "one")
    await wait_until("a sound plays for a message", lambda: hears(ada, "message"), within_s=15)
    await mention(grace, ada, "two")
    await wait_until("a sound plays for a mention", lambda: hears(ada, "mention"), within_s=15)
    await open_channel(ada, "general")
    await expect(ada.page).to_have_title("general · svc")  # The end is visible, so nothing is unread.
    await post(grace, "three")
    await shows(ada, ["one", "@Ada two", "three"])
    await open_settings(ada)
    await ada.page.get_by_role("switch", name="New message", exact=True).uncheck()
    await ada.page.keyboard.press("Escape")
    await open_channel(ada, "random")
    await post(grace, "four")
    await expect(entry(ada, "general").locator(".badge")).to_have_text("1")
    await mention(grace, ada, "five")
    await wait_until("a sound plays only for the mention", lambda: hears(ada, "mention"), within_s=15)


async def test_sounds_announce_joins_leaves_and_mutes_in_a_call(people: People) -> None:
    ada, grace = await in_two_channels(people)
    await ada.resize(WIDE)
    await listen(ada)
    await ada.enter_call()
    await wait_until("a sound plays on joining", lambda: hears(ada, "join"), within_s=15)
    await wait_until_silent(ada)
    await grace.enter_call()
    await wait_until("a sound plays when Grace joins", lambda: hears(ada, "join"), within_s=15)
    await ada.press("Mute")
    await wait_until("a sound plays on muting", lambda: hears(ada, "mute"), within_s=15)
    await grace.press("Leave")
    await wait_until("a sound plays when Grace leaves", lambda: hears(ada, "leave"), within_s=15)

    await ada.resize(NARROW)
    await open_settings(ada)
    for sound in ("Someone joins your call", "Someone leaves your call", "Mute or unmute yourself"):
        await ada.page.get_by_role("switch", name=sound).uncheck()
    await ada.page.keyboard.press("Escape")
    await ada.hide_channels()
    callers = ada.page.locator(".voice-people li")  # On a phone, this list is hidden during a call.
    await ada.press("Unmute")
    await grace.enter_call()
    await expect(callers).to_have_count(2)
    await grace.press("Leave")
    await expect(callers).to_have_count(1)
    await mention(grace, ada, "Still there?")
    await wait_until("a sound plays only for the mention", lambda: hears(ada, "mention"), within_s=15)
    await open_settings(ada)
    await ada.page.get_by_role("switch", name="Mention or reply").uncheck()
    await ada.page.get_by_role("switch", name="Someone leaves your call").check()
    await ada.page.keyboard.press("Escape")
    await ada.hide_channels()
    await mention(grace, ada, "Good night")
    await expect(entry(ada, "general").locator(".badge")).to_have_text("2")
    await ada.press("Leave")
    await wait_until("a sound plays only on leaving", lambda: hears(ada, "leave"), within_s=15)


@narrow_only
@pytest.mark.usefixtures("whole_browser", "service_worker")
async def test_a_hidden_page_shows_a_notification_that_opens_the_message(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    await want_notices(ada)
    await look_away(ada)
    await mention(grace, ada, "**dinner** is ready")

    async def is_notified() -> bool:
        return [notice["title"] for notice in await notices(ada.page)] == ["Grace · #general"]

    await wait_until("a notification is shown", is_notified, within_s=15)
    assert (await notices(ada.page))[0]["body"] == "Ada dinner is ready"
    await click_notice(ada, "Ada dinner is ready")
    await expect(ada.page.locator("#text-name")).to_have_text("general")
    await expect(message(ada, "dinner")).to_be_focused()
    await look_back(ada)
    await expect(ada.page).to_have_title("general · svc")


@wide_only
async def test_the_icon_shows_the_unread_count_while_the_page_is_hidden(people: People) -> None:
    ada, grace = await in_random(people), await people.join("Grace")
    icon = ada.page.locator("link[rel=icon]")
    await ada.page.add_init_script(BADGE)
    await ada.page.reload()
    await expect(ada.page).to_have_title("random · svc")
    await expect(icon).to_have_attribute("href", "/web/icon.svg")
    await post(grace, "one")
    await expect(ada.page).to_have_title("• random · svc")
    await expect(icon).to_have_attribute("href", PNG)
    dot = await icon.get_attribute("href")
    await mention(grace, ada, "two")
    await expect(icon).not_to_have_attribute("href", dot or "")
    await expect(ada.page).to_have_title("(1) random · svc")
    await ada.page.wait_for_function("() => window.badge === 1")
    await open_channel(ada, "general")
    await expect(ada.page).to_have_title("general · svc")
    await ada.page.wait_for_function("() => window.badge === 0")
    # Messages stay unread while the page does not have focus.
    await look_away(ada)
    await post(grace, "Hello?")
    await expect(message(ada, "Hello?")).to_be_visible()
    await expect(ada.page).to_have_title("• general · svc")
    await look_back(ada)
    await expect(ada.page).to_have_title("general · svc")
    await expect(box(ada)).to_be_enabled()
    await expect(icon).to_have_attribute("href", "/web/icon.svg")
