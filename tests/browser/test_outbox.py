"""Messages written while the network or the server is down arrive exactly once and in order."""

import os
import signal

import pytest
from playwright.async_api import expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import People, narrow_only, wide_only
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import LiveConnection, both, box, do, is_listed_as, open_channel, shows, write

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("second_channel")


@narrow_only
async def test_the_web_client_resumes_a_lost_connection(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await write(grace, "before")
    await write(grace, "wrong")
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await shows(ada, ["before", "wrong"])

    await line.cut()
    reconnecting = ada.page.get_by_text("Reconnecting…").filter(visible=True)
    await expect(reconnecting).to_have_count(1)
    await expect(reconnecting).to_have_css("text-align", "center")
    await write(grace, "during")
    await do(grace, "wrong", "Delete")
    await grace.press("Delete message")
    await shows(grace, ["before", "during"])
    await open_channel(grace, "random")
    await write(grace, "elsewhere")
    # Typed text appears immediately, even without a connection.
    await box(ada).press_sequentially("too early")
    assert await box(ada).input_value() == "too early"
    await box(ada).press("Enter")
    await expect(ada.page.locator(".pending")).to_contain_text("It will be sent when you’re back online.")

    line.restore()
    await shows(ada, ["before", "during", "too early"])
    await is_listed_as(ada, "random", "random 1 unread")
    await expect(ada.page.get_by_text("Reconnecting…")).to_have_count(0)
    assert line.first_events == ["authenticate", "resume"]
    await expect(ada.page.locator(".pending")).to_have_count(0)

    # Pending messages survive a reload.
    await line.cut()
    await box(ada).fill("kept")
    await box(ada).press("Enter")
    await expect(ada.page.locator(".pending")).to_have_count(1)
    await expect_accessible(ada, axe, "a lost connection")
    await ada.page.reload()
    line.restore()
    await shows(ada, ["before", "during", "too early", "kept"])


@wide_only
async def test_a_message_whose_response_was_lost_appears_only_once(people: People) -> None:
    ada, grace = await both(people)
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await expect(box(ada)).to_be_enabled()
    await expect(ada.page.locator("#beginning")).to_be_visible()
    line.cut_after("message_send")
    await box(ada).fill("only once")
    await box(ada).press("Enter")
    await shows(grace, ["only once"])
    await expect(ada.page.locator(".pending")).to_have_count(1)

    line.restore()
    # The pushed event proves that the message has arrived.
    await expect(ada.page.locator(".pending")).to_have_count(0)
    await write(ada, "and this")
    for person in (ada, grace):
        await shows(person, ["only once", "and this"])
    # The page resends a message that the server did not receive, with the same nonce.
    line.cut_before("message_send")
    await box(ada).fill("once more")
    await box(ada).press("Enter")
    await expect(ada.page.locator(".pending")).to_contain_text("It will be sent when you’re back online.")
    line.restore()
    for person in (ada, grace):
        await shows(person, ["only once", "and this", "once more"])
    await expect(ada.page.locator(".pending")).to_have_count(0)
    assert len(line.nonces[-2:]) == 2
    assert len(set(line.nonces[-2:])) == 1


@narrow_only
async def test_a_rejected_message_can_be_resent_edited_or_deleted(people: People, axe: str) -> None:
    ada, grace = await both(people)
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await expect(box(ada)).to_be_enabled()
    line.fail_next("message_send")
    refused = ada.page.locator(".pending.refused")
    for number, text in enumerate(("tea", "cake", "salt"), start=1):
        await box(ada).fill(text)
        await box(ada).press("Enter")
        await expect(refused).to_have_count(number)
        await expect(refused.last).to_contain_text("Not sent. This channel was deleted")
    await expect_accessible(ada, axe, "refused messages")
    line.restore()
    await refused.filter(has_text="salt").get_by_role("button", name="Delete").click()
    await refused.filter(has_text="cake").get_by_role("button", name="Edit").click()
    await expect(box(ada)).to_have_value("cake")
    await box(ada).fill("two cakes")
    await box(ada).press("Enter")
    await shows(grace, ["two cakes"])
    await refused.filter(has_text="tea").get_by_role("button", name="Try again").click()
    for person in (ada, grace):
        await shows(person, ["two cakes", "tea"])
    await expect(refused).to_have_count(0)


@wide_only
async def test_a_server_restart_neither_loses_nor_duplicates_a_message(
    people: People, product: SvcUp
) -> None:
    ada, grace = await both(people)
    await write(ada, "before")
    await shows(grace, ["before"])
    killed = product.program("chat")
    os.kill(killed, signal.SIGKILL)
    await expect(ada.page.locator("#text-state")).to_have_text("Reconnecting…")
    await box(ada).fill("after")
    await box(ada).press("Enter")
    await expect(ada.page.locator(".pending")).to_have_count(0)
    await expect(grace.page.locator("#text-state")).to_have_text("")
    await write(grace, "and more")
    for person in (ada, grace):
        await shows(person, ["before", "after", "and more"])
    # The unread counts arrive again.
    await open_channel(grace, "random")
    await write(ada, "last")
    await is_listed_as(grace, "general", "general 1 unread")
