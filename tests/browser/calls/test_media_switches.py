"""The microphone, camera and screen can be switched on and off independently during a call.

See docs/signalling.md, "How an offer is made", `renegotiate`.
"""

import asyncio

from playwright.async_api import expect

from tests.kit.browser_users import People, Person
from tests.kit.wait import wait_until

# Each kind of screen content, with the label of its option and the expected layers, bitrate and frame rate.
SCREENS = (
    ("text", "Text: sharp", ["L1T2", 4_000_000, 15]),
    ("motion", "Motion: smooth", ["L1T3", 8_000_000, 60]),
)
NOTE_RATE = """() => {
  const share = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getDisplayMedia = (constraints) => {
    window.wantedRate = constraints.video.frameRate;
    return share(constraints);
  };
}"""
# Simulates a shared 4K screen with few changes.
A_SCREEN_OF_4K = """() => {
  navigator.mediaDevices.getDisplayMedia = async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 3840, height: 2160 });
    const pen = canvas.getContext("2d");
    setInterval(() => pen.fillText(String(Math.random()), 100, 100), 200);
    return canvas.captureStream();
  };
}"""
IS_4K = """() => {
  const { videoWidth, videoHeight } = document.querySelector("#screens video");
  return videoWidth === 3840 && videoHeight === 2160;
}"""
OF_SCREEN = """() => {
  const { sender } = svc.call.pc.getTransceivers().find(({ mid }) => mid === "2");
  const [{ scalabilityMode, maxBitrate }] = sender.getParameters().encodings;
  return [sender.track.contentHint, scalabilityMode, maxBitrate, window.wantedRate];
}"""


async def test_the_microphone_camera_and_screen_are_switched_independently(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ada.enter_call(camera=True)
    await grace.enter_call()
    await grace.sees(ada)

    await ada.press("Stop camera")
    await expect(grace.camera_of("Ada")).to_have_count(0)
    await grace.hears(ada)

    await ada.press("Mute")
    await grace.hears_nothing_of(ada)
    await hardly_sends(ada)
    await ada.press("Unmute")
    await grace.hears(ada)

    await ada.press("Start camera")
    await grace.sees(ada)
    await expect(grace.camera_of("Ada")).to_have_count(1)

    await ada.page.evaluate(NOTE_RATE)
    screens = grace.page.locator("#screens .name")
    for kind, item, encoding in SCREENS:
        await ada.press("More call options")
        await ada.page.get_by_role("menuitem", name="Sharing options").click()
        options = ada.page.get_by_role("dialog", name="Sharing options")
        await options.locator("label", has_text=item).click()
        before = (await grace.statistics()).frames("Ada")
        await options.get_by_role("button", name="Share screen").click()
        await expect(screens).to_have_text(["Ada’s screen"])
        await grace.sees(ada, source="screen")
        await grace.hears(ada, source="screen_audio")
        await grace.sees(ada)
        assert await ada.page.evaluate(OF_SCREEN) == [kind, *encoding]

        await ada.press("Stop sharing")
        await expect(screens).to_have_count(0)
        await grace.sees(ada)
        # The frame count was not reset, so the connection and the track have not been replaced.
        assert (await grace.statistics()).frames("Ada") > before
        await expect(grace.camera_of("Ada")).to_have_count(1)


async def hardly_sends(person: Person) -> None:
    """Wait until almost nothing is being sent. Audio alone would take fifty packets per second."""

    async def so() -> bool:
        before = await person.statistics()
        await asyncio.sleep(1)
        after = await person.statistics()
        return sum(track.packets for track in after.sent) - sum(track.packets for track in before.sent) < 15

    await wait_until(f"{person.name} sends almost nothing", so, within_s=10)


async def test_a_participant_who_joins_late_without_devices_sees_and_hears_everybody(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await ada.page.evaluate(A_SCREEN_OF_4K)
    await ada.press("Share screen")
    await expect(ada.page.get_by_role("button", name="Stop sharing")).to_be_visible()

    await grace.join(camera=False, microphone=False)
    await grace.sees(ada, source="screen")
    await grace.page.wait_for_function(IS_4K)
    await grace.sees(ada)
    await grace.hears(ada)
    assert (await ada.statistics()).received == ()
