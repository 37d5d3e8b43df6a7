"""Five people see and hear each other in encrypted calls, in a private conversation and in a channel."""

import asyncio

import pytest
from playwright.async_api import ViewportSize, expect

from tests.browser.calls.test_encrypted_channels import agree_on_number, encrypted
from tests.browser.calls.test_private_calls import ringing
from tests.browser.test_private import go_to, private
from tests.browser.test_private_groups import choose
from tests.kit.browser_users import Capture, People, Person
from tests.kit.text_channels import join_and_open, write

NAMES = ("Ada", "Grace", "Alan", "Edsger", "Barbara")
# The window has room for the side panel as well, because video that is not displayed is not sent.
ROOM = ViewportSize(width=1000, height=720)
SMALL = Capture(160, 120, 8)


async def in_a_group(people: People) -> list[Person]:
    """Have all five people open their private conversation."""
    everybody = [await people.arrive(name, capture=SMALL) for name in NAMES]
    for person in everybody:
        await join_and_open(person)
        await write(person, f"I am {person.name}")
        await person.resize(ROOM)
    ada, *others = everybody
    await private(ada, "Grace")
    await ada.press("Add people")
    dialog = ada.page.get_by_role("dialog", name="New group")
    for person in others[1:]:
        await choose(dialog, "Add people", person.name)
    await dialog.get_by_label("Group name").fill("Regatta committee")
    await dialog.get_by_role("button", name="Create group").click()
    await expect(ada.page.locator("#private-name")).to_have_text("Regatta committee")
    for person in others:
        await go_to(person, "Regatta committee")
    return everybody


async def see_and_hear(everybody: list[Person], others: list[Person]) -> None:
    """Wait until everybody has received further video and audio from all others."""
    pairs = [(person, other) for person in everybody for other in others if person is not other]
    await asyncio.gather(*(person.sees(other, within_s=40) for person, other in pairs))
    await asyncio.gather(*(person.hears(other, within_s=40) for person, other in pairs))


@pytest.mark.nightly("74 s of processor time; smaller encrypted calls run daily")
@pytest.mark.timeout(300)
async def test_five_people_see_and_hear_each_other_in_a_private_call_and_in_an_encrypted_channel(
    people: People,
) -> None:
    everybody = await in_a_group(people)
    ada, *others = everybody
    await ada.press("Call")
    for person in others:
        await expect(ringing(person)).to_contain_text("Ada is calling")
        await person.press("Answer")
    for person in everybody:
        await person.is_connected()
        await person.press("Start camera")
        await expect(person.page.locator("#sealed")).to_be_visible()
    await see_and_hear(everybody, everybody)

    # People move from the private call to a channel, where each arrival and departure starts a new epoch.
    await encrypted(ada)
    for person in everybody:
        await person.page.locator("#voice-channels .channel").first.click()
        await expect(person.page.locator("#encrypted")).to_be_visible()
        await person.is_connected()
    await see_and_hear(everybody, everybody)
    await agree_on_number(*everybody, devices=5)
    *rest, barbara = everybody
    await barbara.press("Leave")
    await expect(barbara.page.locator("#call-state")).to_have_count(0)
    await agree_on_number(*rest, devices=4)
    await see_and_hear(rest, rest)
    await barbara.enter_call(camera=True)
    await see_and_hear([barbara], rest)
    await see_and_hear(rest, [barbara])
