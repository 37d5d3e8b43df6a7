"""People in Firefox and Chromium see and hear each other in calls."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.kit.browser_users import People
from tests.kit.firefox import Firefox
from tests.kit.svc_up import SvcUp

# The codecs that Chromium sends. H264 is missing, because Firefox would download a decoder from the internet.
SENDERS = {"Ada": "VP8", "Alan": "VP9", "Edsger": "AV1"}


@pytest.mark.nightly("four pages with software encoders; two browsers each run daily")
async def test_firefox_and_chromium_see_and_hear_each_other_with_any_codec(
    people: People, fox: Firefox, product: SvcUp
) -> None:
    others = {codec: await people.arrive(name, codec=codec) for name, codec in SENDERS.items()}
    for other in others.values():
        await other.join()
    grace = await fox.arrive("Grace", product.url)
    await grace.join()

    for other in others.values():
        await asyncio.gather(other.sees(grace, frames=30), grace.sees(other, frames=60))
        await asyncio.gather(other.hears(grace), grace.hears(other))
    at_grace = await grace.statistics()
    # The test cannot choose the codec that Firefox sends, because Firefox uses the first supported codec in
    # the offer.
    for codec, other in others.items():
        assert at_grace.track(other.name).codec == f"video/{codec}"
        assert at_grace.track(other.name, "mic").codec == "audio/opus"
    assert at_grace.srtp_ciphers == ("SRTP_AEAD_AES_128_GCM",)


@pytest.mark.nightly("Firefox and Chromium are tested together daily, in a private call and over TCP")
async def test_two_people_in_firefox_see_and_hear_each_other(fox: Firefox, product: SvcUp) -> None:
    ada, grace = await fox.arrive("Ada", product.url), await fox.arrive("Grace", product.url)
    await ada.join()
    await grace.join()

    await asyncio.gather(ada.sees(grace, frames=60), grace.sees(ada, frames=60))
    await asyncio.gather(ada.hears(grace), grace.hears(ada))


async def test_a_person_in_firefox_can_mute_stop_the_camera_watch_a_screen_and_leave(
    people: People, fox: Firefox, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.enter_call()
    grace = await fox.arrive("Grace", product.url)
    await grace.join()
    await asyncio.gather(ada.sees(grace, frames=30), ada.hears(grace), grace.hears(ada))
    entry = ada.page.locator(".voice-people button").filter(has_text="Grace")

    await grace.does('await press("Mute");')
    await expect(entry).to_have_accessible_name("Grace camera muted")
    await grace.does('await press("Stop camera");')
    await expect(entry).to_have_accessible_name("Grace muted")
    await grace.does('await press("Unmute");')
    await expect(entry).to_have_accessible_name("Grace")
    await ada.hears(grace)

    await ada.press("Share screen")
    await grace.sees(ada, source="screen", frames=10)
    await grace.does('await one(".voice-people [data-icon=screen]");')
    await ada.press("Stop sharing")
    await grace.does('await there(() => !document.querySelector(".voice-people [data-icon=screen]"));')

    await grace.does('await press("Leave");')
    await expect(entry).to_have_count(0)
    assert await ada.shown_people() == ["Ada"]


@pytest.mark.nightly("a camera is sent in a codec that everybody can decode in the daily tests")
async def test_a_publisher_switches_to_a_codec_that_a_late_joiner_supports(
    people: People, fox: Firefox, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", reads="general")
    alan = await people.arrive("Alan", reads="general")
    await ada.enter_call()
    await alan.enter_call()
    await ada.press("Share screen")
    await alan.sees(ada, source="screen", frames=10)
    # This Firefox does not have a decoder for H264.
    assert (await alan.statistics()).track("Ada", "screen").codec == "video/H264"
    grace = await fox.arrive("Grace", product.url)
    await grace.join()

    await asyncio.gather(*(person.sees(ada, source="screen", frames=20) for person in (grace, alan)))
    assert (await grace.statistics()).track("Ada", "screen").codec == "video/VP9"
