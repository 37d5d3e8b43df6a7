"""Tests private group conversations and the notices about changed devices."""

import re
from functools import partial
from http import HTTPStatus
from pathlib import Path

from playwright.async_api import Locator, Route, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.browser.test_private import all_bytes, both, conversation, go_to, messages, private, send_message
from tests.browser.test_sign_up import is_in, without_invite
from tests.kit.browser_users import NARROW, WIDE, People, Person, narrow_only, wide_only
from tests.kit.community import ask, own_id, post
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

__all__ = ["axe"]


async def three(people: People) -> tuple[Person, Person, Person]:
    ada, grace = await both(people)
    alan = await people.arrive("Alan", reads="general")
    await post(alan, "I am Alan")
    # Devices cannot read messages from before they joined.
    for person in (grace, alan):
        await wait_until(f"{person.name} can be let in", partial(can_be_let_in, person), within_s=30.0)
    return ada, grace, alan


async def can_be_let_in(person: Person) -> bool:
    return bool((await ask(person, "GET", "/api/private/device"))["left"])


async def choose(dialog: Locator, label: str, name: str) -> None:
    await dialog.get_by_label(label, exact=True).fill(name)
    await dialog.locator(".offered").get_by_role("button", name=name).click()


def notes(person: Person) -> Locator:
    return person.page.locator("#private .private-notes p")


async def edsger_is_removed(ada: Person, grace: Person, edsger: Person, axe: str) -> None:
    """Have a member remove Edsger, as any group member can. Check that everybody learns who removed him."""
    await grace.press("People and name")
    dialog = grace.page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Remove Grace")).to_have_count(0)
    await dialog.get_by_role("button", name="Remove Edsger").click()
    await expect(dialog.get_by_role("button", name="Remove", exact=True)).to_be_visible()
    await at_both_sizes(grace, axe, "the confirmation to remove a member")
    await dialog.get_by_role("button", name="Remove", exact=True).click()
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await grace.page.keyboard.press("Escape")
    await expect(conversation(edsger, "Regatta committee")).to_have_count(0)
    await expect(edsger.page.get_by_text("You’re no longer in Regatta committee.")).to_be_visible()
    await send_message(grace, "Just us two")
    await expect(messages(ada).last).to_have_text("Just us two")
    await expect(notes(ada).last).to_have_text("Grace removed Edsger.")


@wide_only
async def test_people_can_create_and_name_a_group_add_a_member_and_leave(
    people: People, tmp_path: Path, axe: str
) -> None:
    ada, grace, alan = await three(people)
    edsger = await people.arrive("Edsger", reads="general")
    await post(edsger, "I am Edsger")
    # A group with a third person starts from a conversation between two people.
    await private(ada, "Grace")
    await ada.press("Add people")
    dialog = ada.page.get_by_role("dialog", name="New group")
    await choose(dialog, "Add people", "Alan")
    await dialog.get_by_label("Group name").fill("Regatta committee")
    await at_both_sizes(ada, axe, "a new group")
    await dialog.get_by_role("button", name="Create group").click()
    await expect(ada.page.locator("#private-name")).to_have_text("Regatta committee")
    await send_message(ada, "Who brings the flags?")
    for person in (grace, alan):
        await go_to(person, "Regatta committee")
        await expect(messages(person)).to_have_text(["Who brings the flags?"])
    await send_message(alan, "Grace does")
    await expect(messages(grace)).to_have_text(["Who brings the flags?", "Grace does"])

    # A member who joins later can read later messages. The group has the same name for them.
    await ada.press("People and name")
    dialog = ada.page.get_by_role("dialog", name="People and name")
    await expect(dialog.get_by_role("listitem")).to_have_count(3)
    await choose(dialog, "Add people", "Edsger")
    await at_both_sizes(ada, axe, "the members of a group")
    await dialog.get_by_role("button", name="Add", exact=True).click()
    await ada.page.keyboard.press("Escape")
    # There may be an earlier notice about Alan, if his device joined a moment after the others.
    await expect(notes(grace).last).to_have_text("Edsger joined.")
    await go_to(edsger, "Regatta committee")
    await send_message(grace, "Welcome aboard")
    await expect(messages(edsger)).to_have_text(["Welcome aboard"])

    # A member who leaves cannot read later messages, and earlier messages are erased from their device.
    await alan.press("People and name")
    await alan.page.get_by_role("dialog").get_by_role("button", name="Leave group").click()
    await alan.page.get_by_role("dialog").get_by_role("button", name="Leave group").click()
    await expect(conversation(alan, "Regatta committee")).to_have_count(0)
    await send_message(edsger, "One fewer")
    await expect(notes(grace).last).to_have_text("Alan left.")
    await edsger_is_removed(ada, grace, edsger, axe)
    await at_both_sizes(grace, axe, "a group")
    kept = all_bytes(tmp_path)
    for text in (b"Regatta", b"flags", b"aboard"):
        assert text not in kept


async def ada_sends_her_phone_the_history(ada: Person, grace: Person, phone: Person, axe: str) -> None:
    """Request the history on the phone. Compare the devices and approve the request on the old device."""
    await phone.resize(NARROW)
    await go_to(phone, "Grace")
    await expect(phone.page.locator("#beginning")).to_contain_text("before this device joined")
    await phone.press("Ask for earlier messages")
    number = phone.page.locator("#beginning .private-number")
    await expect(number).to_have_text(re.compile(r"^\d{5}( \d{5}){5}$"))
    await ada.press("Review")
    dialog = ada.page.get_by_role("dialog", name="Send earlier messages to another device?")
    await expect(dialog.locator(".private-number")).to_have_text(await number.inner_text())
    await at_both_sizes(phone, axe, "a device that asks")
    await at_both_sizes(ada, axe, "whether to send what was said")
    await expect(messages(phone)).to_have_count(0)
    await dialog.get_by_role("button", name="Numbers match: send").click()
    await expect(messages(phone)).to_have_text(["Hello"])
    await expect(notes(phone)).to_have_text(
        ["The messages above were transferred from another of your devices."]
    )
    await expect(dialog).to_have_count(0)
    await expect(ada.page.locator(".talk-ask")).to_have_count(0)
    await send_message(grace, "Nothing was said to me")
    for person in (ada, grace, phone):
        await expect(messages(person)).to_have_text(["Hello", "Nothing was said to me"])
    await phone.page.reload()
    await expect(messages(phone)).to_have_text(["Hello", "Nothing was said to me"])


async def test_a_new_device_is_announced_gets_earlier_messages_and_resets_verification(
    people: People, product: SvcUp, axe: str
) -> None:
    ada, grace = await both(people)
    await ada.resize(WIDE)
    await grace.resize(NARROW)
    await private(ada, "Grace")
    await send_message(ada, "Hello")
    await go_to(grace, "Ada")
    await expect(messages(grace)).to_have_text(["Hello"])
    await grace.press("About encryption")
    dialog = grace.page.get_by_role("dialog")
    await expect(dialog.get_by_role("img", name="Safety number as a QR code")).to_be_visible()
    await dialog.get_by_role("button", name="Mark as verified").click()
    await expect(dialog.get_by_text("You’ve verified this number.")).to_be_visible()
    await grace.page.keyboard.press("Escape")
    await grace.page.reload()
    await grace.press("About encryption")
    await expect(grace.page.get_by_text("You’ve verified this number.")).to_be_visible()
    await grace.page.keyboard.press("Escape")

    code = (await ask(ada, "POST", "/api/me/devices/link", {}))["code"]
    phone = await people.arrive("Ada", url=without_invite(product))
    await phone.press("I’m already a member on another device")
    await phone.page.get_by_label("Code", exact=True).fill(str(code))
    await phone.press("Add device")
    await is_in(phone, "Ada")
    await expect(notes(grace)).to_have_text(["Ada is using a new device. The safety number has changed."])
    await expect(notes(ada)).to_contain_text("If it isn’t yours, remove it")
    await expect(grace.page.locator("#private-state")).to_contain_text("changed since you verified it")
    await grace.press("About encryption")
    await dialog.get_by_role("button", name="Mark as verified").click()
    await grace.page.keyboard.press("Escape")
    await expect(grace.page.locator("#private-state")).to_have_count(0)
    await ada_sends_her_phone_the_history(ada, grace, phone, axe)


async def refuse_token(route: Route) -> None:
    refusal = {"error": "token_invalid", "message": "Not any more"}
    await route.fulfill(status=HTTPStatus.UNAUTHORIZED, json=refusal)


@narrow_only
async def test_a_member_who_lost_all_devices_learns_what_is_lost_and_can_continue(
    people: People, product: SvcUp
) -> None:
    ada, grace = await both(people)
    await private(ada, "Grace")
    await send_message(ada, "Hello")
    await go_to(grace, "Ada")
    await expect(messages(grace)).to_have_text(["Hello"])
    # The server may end the session while the page is reading. This is not an error of the page.
    await grace.page.route("**/api/private/conversations/**", refuse_token)
    async with grace.page.expect_response(lambda response: response.status == HTTPStatus.UNAUTHORIZED):
        await send_message(ada, "Still there?")
    code = (await ask(ada, "POST", f"/api/members/{await own_id(grace)}/recovery", {}))["code"]
    signed_in = await people.arrive("Grace", url=f"{without_invite(product)}#link={code}")
    await signed_in.press("Add device")
    await is_in(signed_in, "Grace")
    await go_to(signed_in, "Ada")
    await expect(signed_in.page.locator("#beginning")).to_contain_text(
        "This device can’t read messages from before it joined."
    )
    await expect(signed_in.page.locator("#beginning").get_by_role("button")).to_have_count(0)
    # Nobody can restore the earlier messages, not even the server. The conversation continues for both
    # people.
    await send_message(ada, "Is it you?")
    await expect(messages(signed_in)).to_have_text(["Is it you?"])
    await send_message(signed_in, "Yes, with a new phone")
    await expect(messages(ada)).to_have_text(["Hello", "Still there?", "Is it you?", "Yes, with a new phone"])
