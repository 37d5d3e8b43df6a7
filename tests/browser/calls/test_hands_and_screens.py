"""Participants can raise hands, react, and choose which shared screens to watch and at which size."""

import re

import pytest_asyncio
from playwright.async_api import expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.kit.browser_users import People, Person
from tests.kit.community import Community, community
from tests.kit.wait import wait_until

__all__ = ["axe"]

# Simulates the kind of surface that is shared, which determines whether the browser can exclude the page's
# own audio.
SHARES = """([displaySurface, restrictOwnAudio]) => {
  const { getSettings } = MediaStreamTrack.prototype;
  MediaStreamTrack.prototype.getSettings = function () {
    const settings = { ...getSettings.call(this), restrictOwnAudio };
    return settings.displaySurface ? { ...settings, displaySurface } : settings;
  };
}"""
SOUND_OF_SCREEN = """() => {
  const { sender } = svc.call.pc.getTransceivers().find(({ mid }) => mid === "3");
  const { echoCancellation, noiseSuppression, autoGainControl, channelCount } = sender.track.getSettings();
  return [echoCancellation, noiseSuppression, autoGainControl, channelCount];
}"""
# Returns the maximum bitrate of the shared screen, and whether its height is at most 720 lines.
SHARED = """() => {
  const { sender } = svc.call.pc.getTransceivers().find(({ mid }) => mid === "2");
  const rates = sender.getParameters().encodings.map(({ maxBitrate }) => maxBitrate);
  return [Math.max(...rates), sender.track?.getSettings().height <= 720];
}"""
# Records reactions that float, because they disappear after 4 s.
NOTE_FLOATS = """() => {
  window.floated = [];
  const note = () => {
    for (const { textContent } of document.querySelectorAll(".floats")) window.floated.push(textContent);
  };
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People) -> Community:
    server = await community(people, "mute_members")
    await server.owner.resize({"width": 1000, "height": 600})
    for person in (server.owner, server.moderator, server.member):
        await person.enter_call()
    return server


async def receives_screens_of(person: Person, *names: str) -> None:
    """Wait until this person's page receives exactly the screens of these people."""

    async def so() -> bool:
        received = (await person.statistics()).received
        return sorted(track.name for track in received if track.source == "screen") == list(names)

    await wait_until(f"{person.name} receives the screens of {names}", so, within_s=30)


async def test_raised_hands_are_listed_in_order_and_reactions_float(server: Community, axe: str) -> None:
    ada, grace, edsger = server.owner.page, server.moderator.page, server.member.page
    await grace.get_by_role("button", name="React", exact=True).click()
    await grace.get_by_role("button", name="Raise hand").click()
    await expect(ada.locator(".hands")).to_contain_text("Grace")
    await edsger.keyboard.press("Control+Alt+h")
    await expect(edsger.locator(".hands")).to_contain_text("Grace and Edsger (you)")
    await expect(ada.get_by_role("list", name="People in Voice")).to_contain_text("hand raised")
    await at_both_sizes(server.owner, axe, "raised hands")
    await ada.evaluate(NOTE_FLOATS)
    await edsger.get_by_role("button", name="React", exact=True).click()
    await expect(edsger.get_by_role("button", name="👏")).to_be_visible()
    await expect_accessible(server.member, axe, "the reactions in a call")
    await edsger.get_by_role("button", name="👏").click()
    await ada.wait_for_function("() => floated.some((words) => words.includes('👏'))")
    await expect(edsger.locator(".floats")).to_have_count(0)
    await expect(edsger.get_by_role("button", name="Lower Grace’s hand")).to_have_count(0)
    await grace.keyboard.press("Control+Alt+h")
    await expect(ada.locator(".hands")).not_to_contain_text("Grace")
    await server.moderator.press("Lower Edsger’s hand")
    await expect(edsger.get_by_text("A moderator lowered your hand.")).to_be_visible()
    await expect(ada.locator(".hands .pill")).to_have_count(0)
    await edsger.keyboard.press("Control+Alt+h")
    await expect(ada.locator(".hands")).to_contain_text("Edsger")
    await edsger.reload()
    await expect(edsger.locator(".hands")).to_contain_text("Edsger (you)")
    await expect(edsger.get_by_text("A moderator lowered your hand.")).to_have_count(0)
    await server.member.press("Leave")
    await expect(ada.locator(".hands .pill")).to_have_count(0)


async def test_a_second_screen_is_shown_on_request_and_can_be_stopped_by_a_moderator(
    server: Community,
) -> None:
    ada, grace, edsger = server.owner, server.moderator, server.member
    # The audio of a window or a screen would send people's own voices back to them, so it is not shared.
    for sharing, surface in ((edsger, "monitor"), (grace, "window")):
        await sharing.page.evaluate(SHARES, [surface, False])
        await sharing.press("Share screen")
        await expect(sharing.page.get_by_text("Your screen is shared without sound")).to_be_visible()
        await expect(ada.page.locator("#screens video")).to_have_count(1)
        if sharing is edsger:
            await edsger.press("Stop sharing")
            await expect(ada.page.locator("#screens video")).to_have_count(0)
    await edsger.page.evaluate(SHARES, ["monitor", True])
    await edsger.press("Share screen")
    waiting = ada.page.locator(".unwatched")
    await expect(waiting).to_contain_text("Edsger’s screen")
    # People get only the screens they are watching.
    await receives_screens_of(ada, "Grace")
    await waiting.get_by_role("button", name="Watch").click()
    await expect(ada.page.locator("#screens li")).to_have_count(2)
    await receives_screens_of(ada, "Edsger", "Grace")
    await ada.sees(edsger, source="screen")
    await ada.hears(edsger, source="screen_audio")
    assert await edsger.page.evaluate(SOUND_OF_SCREEN) == [False, False, False, 2]
    assert {track.name for track in (await ada.statistics()).received if track.source == "screen_audio"} == {
        "Edsger"
    }
    await ada.page.locator("#screens li").filter(has_text="Grace").hover()
    await ada.press("Show Grace’s screen in full screen")
    await ada.page.wait_for_function("() => document.fullscreenElement?.matches('.tile.screen')")
    await ada.page.evaluate("document.exitFullscreen()")
    closely = ada.page.get_by_role("group", name="Grace’s screen")
    await closely.focus()
    await ada.page.keyboard.press("+")
    await ada.page.get_by_role("button", name="125% · Fit").click()
    await expect(ada.page.locator(".unzoom")).to_have_count(0)
    await closely.hover()
    await ada.page.mouse.wheel(0, -400)
    shown = closely.locator(".zoomed")
    await expect(shown).to_have_attribute("style", re.compile(r"scale\(2\.7"))
    box = await closely.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await ada.page.mouse.down()
    await ada.page.mouse.move(middle[0] + box["width"] / 10, middle[1] - box["height"] / 5)
    await ada.page.mouse.up()
    await expect(shown).to_have_attribute("style", re.compile(r"translate\((9|10)\.?\d*%, -(19|20)\.?\d*%\)"))
    await closely.focus()
    await ada.page.keyboard.press("0")
    await expect(ada.page.locator(".unzoom")).to_have_count(0)
    await ada.page.locator("#screens li").filter(has_text="Grace").hover()
    await ada.press("Stop watching Grace’s screen")
    await expect(ada.page.locator("#screens li")).to_have_count(1)
    await receives_screens_of(ada, "Edsger")
    await grace.page.locator("#screens li").filter(has_text="Edsger").hover()
    await grace.press("Stop Edsger’s screen")
    await expect(edsger.page.get_by_text("A moderator stopped your screen")).to_be_visible()
    await expect(ada.page.locator("#screens li")).to_have_count(0)
    await expect(edsger.page.locator("#screen")).to_have_text("Share screen")


async def test_the_size_of_a_shared_screen_can_be_chosen_and_changed(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.enter_call()
    await ada.press("More call options")
    await ada.page.get_by_role("menuitem", name="Sharing options").click()
    size = ada.page.get_by_label("Resolution and frame rate")
    await expect(size).to_contain_text("1440p, 60 fps")
    await size.select_option(label="720p, 15 fps, up to 1.5 Mbit/s")
    await ada.page.locator("dialog").get_by_role("button", name="Share screen").click()
    await expect(ada.page.locator("#screens video")).to_have_count(1)

    async def shared(bps: int) -> bool:
        rate, is_small = await ada.page.evaluate(SHARED)
        return bool(rate == bps and is_small)

    await wait_until("the screen is sent with the chosen settings", lambda: shared(1_500_000), within_s=20)
    await ada.press("More call options")
    await ada.page.get_by_role("menuitem", name="Sharing options").click()
    await size.select_option("720p30")
    await wait_until("the new choice applies", lambda: shared(2_500_000), within_s=20)
