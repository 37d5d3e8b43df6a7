"""The web client highlights the speakers that the media service detects from the audio levels in packets.

The fake microphone beeps again before its user counts as silent. `active_speakers` is an extension of the
client protocol. RFC 6464 defines the audio level in packets.
"""

import asyncio

from playwright.async_api import expect

from tests.kit.browser_users import People, Person
from tests.kit.wait import POLL_S, wait_until

# This many observations take a few beeps.
LOOKS = 20
# Louder speakers have wider rings around them.
RING_GROWS = "() => Number(document.querySelector('.speaking > .glow')?.style.opacity) > 0.1"
WITHIN_S = 30


async def shows_speaking(person: Person, names: list[str]) -> None:
    async def shown() -> bool:
        return await person.shown_speakers() == names

    await wait_until(f"{person.name} sees {names} speaking", shown, within_s=WITHIN_S)


async def test_speakers_are_highlighted_for_everybody_who_sees_the_call(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    # People outside the call see the speaker in the channel list.
    await grace.come_in()
    await ada.join(camera=False)
    ring = grace.page.locator(".voice-people .speaking").get_by_text("Ada", exact=True)
    await expect(ring).to_be_visible()
    await ada.press("Mute")
    await expect(ring).to_have_count(0)
    await ada.press("Unmute")
    await expect(ring).to_be_visible()

    # A late joiner sees who is already speaking, and still sees the speaker in the channel list after leaving
    # the call.
    await alan.page.emulate_media(reduced_motion="no-preference")
    await alan.join(camera=False, microphone=False)
    await shows_speaking(alan, ["Ada"])
    await alan.page.wait_for_function(RING_GROWS)
    await alan.page.emulate_media(reduced_motion="reduce")
    await grace.enter_call()
    await expect(ring).to_be_visible()
    await grace.press("Leave")
    await expect(ring).to_be_visible()

    await grace.press("Join call")
    await asyncio.gather(*(shows_speaking(person, ["Ada", "Grace"]) for person in (ada, grace, alan)))
    await grace.press("Mute")
    await asyncio.gather(*(shows_speaking(person, ["Ada"]) for person in (ada, grace, alan)))
    for _ in range(LOOKS):
        assert "Grace" not in [*await ada.shown_speakers(), *await grace.shown_speakers()]
        await asyncio.sleep(POLL_S)
    await grace.press("Unmute")
    await asyncio.gather(*(shows_speaking(person, ["Ada", "Grace"]) for person in (ada, grace, alan)))
    await ada.press("Leave")
    await shows_speaking(alan, ["Grace"])
