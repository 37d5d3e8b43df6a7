"""The page marks who speaks, by what the media service says of the sound that it forwards.

The made-up microphone beeps again before its owner counts as silent.
Design: `active_speakers`, our own addition to the client protocol; RFC 6464.
"""

import asyncio

from playwright.async_api import expect

from tests.kit.people import People, Person
from tests.kit.waiting import wait_until

# Long enough for a few beeps.
WINDOW_S = 2
WITHIN_S = 8


async def shows_speaking(person: Person, names: list[str]) -> None:
    async def shown() -> bool:
        return await person.shown_speakers() == names

    await wait_until(f"{person.name} is shown that {names} speak", shown, within_s=WITHIN_S)


async def test_who_speaks_is_marked_and_who_is_muted_is_not(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join(camera=False)
    await grace.join(camera=False)
    await asyncio.gather(shows_speaking(ada, ["Ada", "Grace"]), shows_speaking(grace, ["Ada", "Grace"]))

    await grace.press("Mute")
    await asyncio.gather(shows_speaking(ada, ["Ada"]), shows_speaking(grace, ["Ada"]))
    await asyncio.sleep(WINDOW_S)
    assert await ada.shown_speakers() == await grace.shown_speakers() == ["Ada"]

    await grace.press("Unmute")
    await asyncio.gather(shows_speaking(ada, ["Ada", "Grace"]), shows_speaking(grace, ["Ada", "Grace"]))


async def test_who_comes_later_is_shown_who_speaks_already(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join(camera=False)
    await shows_speaking(ada, ["Ada"])

    await grace.join(camera=False, microphone=False)
    await shows_speaking(grace, ["Ada"])

    await ada.press("Leave")
    await shows_speaking(grace, [])


async def test_who_is_outside_the_call_sees_in_the_list_who_speaks(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await grace.come_in()
    await ada.join(camera=False)
    ring = grace.page.locator(".voice-people .speaking").get_by_text("Ada", exact=True)
    await expect(ring).to_be_visible()
    await ada.press("Mute")
    await expect(ring).to_have_count(0)
    await ada.press("Unmute")
    await expect(ring).to_be_visible()
    # The call tells it from here on, and the server again after it.
    await grace.enter_call()
    await expect(ring).to_be_visible()
    await grace.press("Leave")
    await expect(ring).to_be_visible()
