"""Microphone, camera and screen are switched in mid-call, each without disturbing the others.

Spec: media document sections 2 (Peer) and 3.2 (step 4), and 6.2, `renegotiate`.
"""

from tests.kit.people import People
from tests.kit.waiting import wait_until

# What is asked of the encoder: layers and bits a second; and of the browser: pictures a second.
SCREENS = (
    ("text", "Share text: sharp", ["L1T2", 4_000_000, 15]),
    ("motion", "Share motion: smooth", ["L1T3", 8_000_000, 60]),
)
NOTE_RATE = """() => {
  const share = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getDisplayMedia = (wishes) => {
    window.wantedRate = wishes.video.frameRate;
    return share(wishes);
  };
}"""
OF_SCREEN = """() => {
  const { sender } = svc.call.pc.getTransceivers().find(({ mid }) => mid === "2");
  const [{ scalabilityMode, maxBitrate }] = sender.getParameters().encodings;
  return [sender.track.contentHint, scalabilityMode, maxBitrate, window.wantedRate];
}"""


async def test_the_camera_is_switched_off_and_on_again(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await grace.sees(ada)

    async def dark() -> bool:
        return not await grace.shows_camera_of("Ada")

    await ada.press("Stop camera")
    await wait_until("Grace no longer sees Ada", dark, within_s=10)
    await grace.hears(ada)

    await ada.press("Start camera")
    await grace.sees(ada)
    assert await grace.shows_camera_of("Ada")


async def test_a_muted_microphone_is_silent_until_it_is_unmuted(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join(camera=False)
    await grace.join(camera=False)
    await grace.hears(ada)

    async def silent() -> bool:
        # The fake microphone beeps every second; in 1.5 s nothing comes of a muted one.
        before = (await grace.statistics()).energy("Ada")
        await grace.page.wait_for_timeout(1500)
        return (await grace.statistics()).energy("Ada") - before < 1e-6

    await ada.press("Mute")
    await wait_until("Grace hears nothing of Ada", silent, within_s=10)

    async def hardly_sends() -> bool:
        before = await ada.statistics()
        await ada.page.wait_for_timeout(1500)
        after = await ada.statistics()
        return sum(each.packets for each in after.sent) - sum(each.packets for each in before.sent) < 15

    # Fifty packets a second are a voice.
    await wait_until("Ada sends next to nothing while she is silent", hardly_sends, within_s=10)

    await ada.press("Unmute")
    await grace.hears(ada)


async def test_a_screen_share_starts_and_stops_without_disturbing_the_camera(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await grace.sees(ada)

    await ada.page.evaluate(NOTE_RATE)

    async def shared() -> bool:
        return await grace.shown_screens() == ["Ada’s screen"]

    async def not_shared() -> bool:
        return await grace.shown_screens() == []

    for kind, item, encoding in SCREENS:
        await ada.press("More call options")
        await ada.page.get_by_role("menu").get_by_text(item, exact=True).click()
        before = (await grace.statistics()).frames("Ada")
        await ada.press("Share screen")
        await wait_until("Grace is shown the screen of Ada", shared, within_s=10)
        await grace.sees(ada, source="screen")
        await grace.sees(ada)
        assert await ada.page.evaluate(OF_SCREEN) == [kind, *encoding]

        await ada.press("Stop sharing")
        await wait_until("the screen of Ada goes away", not_shared, within_s=10)
        await grace.sees(ada)
        # One connection and one track all along: the count went on.
        assert (await grace.statistics()).frames("Ada") > before
        assert await grace.shows_camera_of("Ada")


async def test_who_comes_later_sees_a_screen_that_is_already_shared(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await ada.press("Share screen")
    await ada.page.get_by_role("button", name="Stop sharing").wait_for()

    await grace.join(camera=False)
    await grace.sees(ada, source="screen")
    await grace.sees(ada)


async def test_somebody_without_microphone_and_camera_can_listen(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join(camera=False, microphone=False)

    await grace.sees(ada)
    await grace.hears(ada)
    assert (await ada.statistics()).received == ()
