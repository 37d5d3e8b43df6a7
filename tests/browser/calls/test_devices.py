"""Tests devices that are chosen, lost or denied before and during calls, and the layouts of a call."""

import asyncio

from playwright.async_api import Locator, Page, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People, Person
from tests.kit.notifications import listen, sounds
from tests.kit.text_channels import open_channel
from tests.kit.wait import wait_until

__all__ = ["axe"]

# Returns the id of the device that the microphone or the camera uses.
DEVICE = "(line) => svc.call?.pc?.getSenders()[line]?.track?.getSettings().deviceId ?? ''"
PULLED_OUT = "(line) => svc.call.pc.getSenders()[line].track.dispatchEvent(new Event('ended'))"
TRACK = "(line) => svc.call?.pc?.getSenders()[line]?.track?.id ?? ''"
MICROPHONE, CAMERA = 0, 1
MIRRORED = "matrix(-1, 0, 0, 1, 0, 0)"
REFUSE = """(kinds) => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const kind = kinds.find((each) => constraints[each]);
    if (kind) throw new DOMException("as a person does", "NotAllowedError");
    return open(constraints);
  };
}"""
# Makes the browser behave like a phone, which can open only one camera at a time. If `window.works` is set,
# all other cameras fail.
ONE_CAMERA = """(line) => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  let cameras = [svc.call.pc.getSenders()[line].track];
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (!constraints.video) return open(constraints);
    const fails = window.works && constraints.video.deviceId?.exact !== window.works;
    if (fails || cameras.some(({ readyState }) => readyState === "live"))
      throw new DOMException("as a phone does", "NotReadableError");
    const stream = await open(constraints);
    cameras = stream.getVideoTracks();
    return stream;
  };
}"""
# Returns the browser's settings for the microphone: the filters and the number of channels.
FILTERED = """() => {
  const { echoCancellation, noiseSuppression, autoGainControl, channelCount } =
    svc.call.pc.getSenders()[0].track?.getSettings() ?? {};
  return [echoCancellation, noiseSuppression, autoGainControl, channelCount];
}"""
AS_MUSIC = """() => {
  const [ofMicrophone] = svc.call.pc.remoteDescription.sdp.match(/a=fmtp:.*useinbandfec=1.*/);
  return ofMicrophone.includes("maxaveragebitrate=128000");
}"""
# Records the elements for which a speaker has been chosen.
NOTE_LOUDSPEAKERS = """
window.loudspeakers = [];
const { setSinkId } = HTMLMediaElement.prototype;
HTMLMediaElement.prototype.setSinkId = function (id) {
  const chosen = setSinkId.call(this, id);
  chosen.then(() => loudspeakers.push(this), () => {});
  return chosen;
};
"""
ALL_PLAY_ON = "(id) => loudspeakers.length > 1 && loudspeakers.every(({ sinkId }) => sinkId === id)"
NOTE_NOTICES = """
window.noticed = [];
new MutationObserver(() => {
  for (const { textContent } of document.querySelectorAll(".notices")) noticed.push(textContent);
}).observe(document, { childList: true, subtree: true });
"""
FORGOTTEN = """() => {
  const settings = JSON.parse(localStorage["svc.callSettings"]);
  const gone = { microphone: "no microphone", camera: "no camera", speaker: "no speaker" };
  localStorage["svc.callSettings"] = JSON.stringify({ ...settings, ...gone });
}"""
# Simulates a browser with background blur, because the test browser does not support it. `can` is whether the
# camera supports it.
BLUR = """(can) => {
  const { getSupportedConstraints } = MediaDevices.prototype;
  MediaDevices.prototype.getSupportedConstraints = function () {
    return { ...getSupportedConstraints.call(this), backgroundBlur: true };
  };
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    window.wantedBlur = constraints.video?.backgroundBlur;
    const stream = await open(constraints);
    for (const track of stream.getVideoTracks()) {
      const settings = track.getSettings.bind(track);
      track.getSettings = () => ({ ...settings(), backgroundBlur: can && window.wantedBlur });
    }
    return stream;
  };
}"""
# Simulates a browser that plays nothing before a click. This must run as an init script, because code
# evaluated by a test counts as a user gesture.
QUIET_UNTIL_PRESSED = """(() => {
  const play = HTMLMediaElement.prototype.play;
  let pressed = false;
  addEventListener("pointerdown", () => { pressed = true; }, true);
  HTMLMediaElement.prototype.play = function () {
    return pressed ? play.call(this) : Promise.reject(new DOMException("", "NotAllowedError"));
  };
})()"""
LAYERS = """() => {
  window.layers = [];
  window.widths = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (frame) {
    const { event, data } = JSON.parse(frame);
    if (event === "set_layer") {
      window.layers.push(JSON.parse(data).max_temporal_layer);
      window.widths.push(JSON.parse(data).width);
    }
    return send.call(this, frame);
  };
}"""


async def choose_last(page: Page, label: str) -> str:
    """Choose the last device in the given list. Return the device's id."""
    select = page.get_by_role("combobox", name=label)
    await expect(select.locator("option").nth(1)).to_be_attached()
    chosen = await select.locator("option").last.get_attribute("value")
    await select.select_option(chosen)
    return str(chosen)


async def tries_devices(person: Person) -> tuple[str, str, str]:
    """Try out devices in the lobby. Join with the last listed microphone, camera and speaker. Return the ids
    of these three devices.
    """
    await person.press("Join Voice with…")
    lobby, page = person.page.get_by_role("dialog"), person.page
    await page.wait_for_function("() => document.querySelector('dialog meter').value > 0.1")
    await lobby.get_by_role("switch", name="Camera").check()
    await expect(lobby.locator(".self-view.mirrored video")).to_be_visible()
    await page.wait_for_function("() => document.querySelector('.self-view video').videoWidth > 0")
    await sounds(person)
    loudspeaker = await choose_last(page, "Speaker")
    await lobby.get_by_role("button", name="Play test sound").click()
    await page.wait_for_function("() => window.tones.length >= 3")
    assert await sounds(person) == [523, 659, 784]
    microphone, camera = [await choose_last(page, label) for label in ("Microphone", "Camera")]
    await lobby.get_by_role("button", name="Join call").click()
    await person.is_connected()
    return microphone, camera, loudspeaker


async def applies_switched_filters(person: Person) -> None:
    """Switch filters in the voice settings. Check that the browser applies them."""
    settings = person.page.get_by_role("dialog")
    await is_filtered(person, True, True, True)
    await settings.get_by_role("switch", name="Echo cancellation").uncheck()
    await is_filtered(person, False, True, True)
    await settings.get_by_role("radio", name="Off").check()
    await is_filtered(person, False, False, True)
    await settings.get_by_role("switch", name="Automatic gain control").uncheck()
    await is_filtered(person, False, False, False)
    for name in ("Echo cancellation", "Automatic gain control"):
        await settings.get_by_role("switch", name=name).check()
    await is_filtered(person, True, False, True)
    # The encoder of the current call also switches to music.
    assert not await person.page.evaluate(AS_MUSIC)
    await settings.get_by_role("switch", name="Music mode").check()
    await is_filtered(person, False, False, False, 2)
    await person.page.wait_for_function(AS_MUSIC)
    await settings.get_by_role("switch", name="Music mode").uncheck()
    await person.page.wait_for_function(f"() => !({AS_MUSIC})()")


async def test_devices_are_tested_before_a_call_and_changed_or_replaced_during_it(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await ada.page.add_init_script(NOTE_LOUDSPEAKERS)
    await ada.page.evaluate("localStorage['svc.callSettings'] = '{\"quality\":\"high\"}'")
    await listen(ada)
    await grace.join(camera=False)
    microphone, camera, loudspeaker = await tries_devices(ada)
    for line, chosen in ((MICROPHONE, microphone), (CAMERA, camera)):
        await sends_from(ada, line, chosen)
    await grace.sees(ada)
    await ada.hears(grace)
    # The chosen speaker plays both the test sound and Grace's voice.
    await ada.page.wait_for_function(ALL_PLAY_ON, arg=loudspeaker)

    await ada.page.evaluate(ONE_CAMERA, CAMERA)
    await open_voice_settings(ada)
    for line, name, before in ((MICROPHONE, "Microphone", microphone), (CAMERA, "Camera", camera)):
        other = ada.page.get_by_role("combobox", name=name)
        first = await other.locator("option").nth(1).get_attribute("value")
        assert first != before
        await other.select_option(first)
        await sends_from(ada, line, first)
    await applies_switched_filters(ada)
    await grace.hears(ada)
    # The preview of one's own video may be mirrored, but others see the video unmirrored.
    own = ada.page.locator("#people .person", has_text="(you)").locator("video")
    await expect(own).to_have_css("transform", MIRRORED)
    await expect(grace.page.locator("#people .with-video video")).to_have_css("transform", "none")
    await ada.page.get_by_role("switch", name="Mirror my video").uncheck()
    await expect(own).to_have_css("transform", "none")
    await sends_from(ada, CAMERA, await choose_last(ada.page, "Camera"))
    await ada.page.keyboard.press("Escape")
    await switches_cameras_like_a_phone(ada, grace)

    for line, name in ((MICROPHONE, "microphone"), (CAMERA, "camera")):
        sent = await ada.page.evaluate(TRACK, line)
        await ada.page.evaluate(PULLED_OUT, line)
        await expect(ada.page.get_by_text(f"Your {name} was disconnected.")).to_be_visible()
        replaced = f"([line, before]) => ![before, ''].includes(({TRACK})(line))"
        await ada.page.wait_for_function(replaced, arg=[line, sent])
    await asyncio.gather(grace.hears(ada), grace.sees(ada))

    # The devices chosen earlier have been unplugged. The notice about them disappears after a moment.
    await ada.page.add_init_script(NOTE_NOTICES)
    await ada.page.evaluate(FORGOTTEN)
    await ada.page.reload()
    for name in ("microphone", "camera", "speaker"):
        words = f"The {name} you chose isn’t connected."
        await ada.page.wait_for_function("(words) => noticed.some((each) => each.includes(words))", arg=words)
    await ada.is_connected()
    await asyncio.gather(grace.hears(ada), grace.sees(ada), ada.hears(grace))
    await expect(own).to_have_css("transform", "none")


async def switches_cameras_like_a_phone(ada: Person, grace: Person) -> None:
    """Switch to the next camera during a call. Check that it stays in use if another one cannot be opened."""
    await expect(ada.page.locator("#camera")).to_have_text("Stop camera")
    sent = await ada.page.evaluate(DEVICE, CAMERA)
    await menu(ada, "Switch camera")
    await ada.page.wait_for_function(
        f"([line, sent]) => !['', sent].includes(({DEVICE})(line))", arg=[CAMERA, sent]
    )
    works = await ada.page.evaluate(f"(line) => (window.works = ({DEVICE})(line))", CAMERA)
    track = await ada.page.evaluate(TRACK, CAMERA)
    await menu(ada, "Switch camera")
    await expect(ada.page.get_by_text("Another app is using your camera.")).to_be_visible()
    await ada.page.wait_for_function(f"([line, sent]) => ({TRACK})(line) !== sent", arg=[CAMERA, track])
    await sends_from(ada, CAMERA, works)
    await grace.sees(ada)
    await ada.page.evaluate("window.works = ''")


async def sends_from(person: Person, line: int, device: str | None) -> None:
    await person.page.wait_for_function(
        f"([line, chosen]) => ({DEVICE})(line) === chosen", arg=[line, device]
    )


async def is_filtered(person: Person, *wanted: bool | int) -> None:
    so = f"(wanted) => String(({FILTERED})().slice(0, wanted.length)) === String(wanted)"
    await person.page.wait_for_function(so, arg=list(wanted))


async def test_advice_is_shown_when_the_browser_denies_access_to_a_device(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await grace.join(camera=False)
    await ada.page.evaluate(REFUSE, ["audio"])
    await ada.enter_call()
    refused = ada.page.get_by_text("Your browser blocks access to your microphone.")
    await expect(refused).to_be_visible()
    await ada.page.evaluate(REFUSE, ["video"])
    await ada.press("Start camera")
    await expect(ada.page.get_by_text("Your browser blocks access to your camera.")).to_be_visible()
    # The person still joins the call. After a reload, browsers may block audio until a user gesture.
    await expect(ada.page.locator("#mic")).to_have_text("Unmute")
    await ada.page.add_init_script(f"({REFUSE})(['audio'])")
    await ada.page.add_init_script(QUIET_UNTIL_PRESSED)
    await ada.page.reload()
    await ada.press("Your browser blocked the audio. Click or tap to play it.")
    await expect(ada.page.locator("#unblock")).to_have_count(0)
    await ada.hears(grace)
    # A camera without support for a requested feature is used without the feature.
    await open_voice_settings(ada)
    await expect(ada.page.get_by_text("This browser can’t blur your background.")).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await ada.page.evaluate(BLUR, False)
    await open_voice_settings(ada)
    await ada.page.get_by_role("switch", name="Blur my background").check()
    await ada.page.keyboard.press("Escape")
    await ada.press("Start camera")
    cannot = ada.page.get_by_text("Your camera doesn’t support background blur")
    await expect(cannot).to_be_visible()
    assert await ada.page.evaluate("window.wantedBlur") is True
    await grace.sees(ada)
    await ada.press("Stop camera")
    await ada.page.evaluate(BLUR, True)
    await expect(cannot).to_have_count(0)
    await ada.press("Start camera")
    await grace.sees(ada)
    await expect(cannot).to_have_count(0)
    # Once permission is granted, a click on Unmute is enough.
    await ada.page.evaluate("delete navigator.mediaDevices.getUserMedia")
    await ada.press("Unmute")
    await grace.hears(ada)


async def open_voice_settings(person: Person) -> None:
    await person.press("Settings")
    await person.press("Voice and video")


async def pops_out(person: Person, *names: str) -> None:
    """Open the separate window. Check that it shows these people, plays a video, and has buttons to unmute
    and leave.
    """
    await person.press("More call options")
    async with person.page.context.expect_page() as opening:
        await person.page.get_by_role("menuitem", name="Open in a separate window").click()
    small = await opening.value
    await expect(small.locator("#people .name")).to_have_text(list(names))
    await small.wait_for_function("() => document.querySelector('.with-video video')?.currentTime > 0")
    await expect(small.locator(".call-controls button")).to_have_text(["Unmute", "Leave"])
    await small.close()


async def menu(person: Person, name: str) -> None:
    await person.press("More call options")
    await person.page.get_by_role("menu").get_by_text(name, exact=True).click()


async def check_speaker_is_enlarged(ada: Person, grace: Person, alan: Person) -> None:
    """Check that the active speaker's tile is large, and that a pinned tile stays large."""
    large = ada.page.locator("#screens .name")
    await menu(ada, "Active speaker")
    await expect(large).to_have_text(["Grace"])
    await grace.press("Mute")
    await alan.press("Unmute")
    await expect(large).to_have_text(["Alan"])
    await ada.page.locator("#people .person").filter(has_text="Grace").hover()
    await ada.press("Pin Grace")
    await expect(large).to_have_text(["Grace"])
    await expect(ada.page.locator("#people .speaking .name")).to_have_text(["Alan"])
    await expect(large).to_have_text(["Grace"])
    await ada.page.locator("#screens .person").hover()
    await ada.press("Unpin Grace")
    await expect(large).to_have_text(["Alan"])
    await alan.press("Mute")
    await grace.press("Unmute")
    await expect(large).to_have_text(["Grace"])
    await menu(ada, "Grid")


async def requests_the_chosen_quality(ada: Person) -> None:
    """Check that the page requests the quality chosen for everyone and for Grace, and reports the tile's
    width.
    """
    await open_voice_settings(ada)
    of_all = ada.page.get_by_role("group", name="Incoming video")
    for choice, layer in (("Half", 1), ("Full", -1), ("Data saver", 0)):
        await of_all.get_by_role("radio", name=choice).check()
        await requests_layer(ada, layer)
    await ada.page.keyboard.press("Escape")
    of_grace = await options_of_grace(ada)
    own_choices = (("Half", 1), ("Full", -1), ("Data saver", 0), ("Automatic", -1), ("Use my settings", 0))
    for choice, layer in own_choices:
        await of_grace.get_by_role("radio", name=choice).check()
        await requests_layer(ada, layer)
    await ada.page.keyboard.press("Escape")
    await open_voice_settings(ada)
    await of_all.get_by_role("radio", name="Automatic").check()
    await requests_layer(ada, -1)
    await ada.page.keyboard.press("Escape")
    for width, minimum, maximum in ((340, 1, 340), (1200, 341, 1200)):
        await ada.resize({"width": width, "height": width * 3 // 5})
        width_is_within = f"window.widths.at(-1) >= {minimum} && window.widths.at(-1) <= {maximum}"
        await ada.page.wait_for_function(f"() => {width_is_within}")


async def options_of_grace(ada: Person) -> Locator:
    await ada.page.locator(".person").filter(has_text="Grace").hover()
    await ada.press("Volume and quality of Grace")
    return ada.page.get_by_role("group", name="Their video")


async def requests_layer(person: Person, layer: int) -> None:
    await person.page.wait_for_function("(layer) => window.layers.at(-1) === layer", arg=layer)


async def check_sound_only(ada: Person, grace: Person, axe: str) -> None:
    """Turn off incoming video. Check that no video is received until it is turned on again, even after a
    reload.
    """

    async def receives_only_sound() -> bool:
        return {track.source for track in (await ada.statistics()).received} == {"mic"}

    await menu(ada, "Active speaker")
    await (await options_of_grace(ada)).get_by_role("radio", name="Half").check()
    await requests_layer(ada, 1)
    await at_both_sizes(ada, axe, "a person's volume and video")
    await ada.page.keyboard.press("Escape")
    await menu(ada, "Audio only")
    await wait_until("no video is sent to Ada", receives_only_sound, within_s=30)
    await menu(ada, "Open in a separate window")
    await expect(ada.page.get_by_text("There is no video to show in a separate window.")).to_be_visible()
    await ada.page.reload()
    await ada.is_connected()
    await ada.hears(grace)
    await wait_until("no video is sent to Ada after a reload", receives_only_sound, within_s=30)
    await menu(ada, "Show video")
    await ada.sees(grace)
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace"])
    await requests_layer(ada, 1)


async def test_a_call_has_selectable_layouts_and_a_chat_next_to_it(people: People, axe: str) -> None:
    ada, grace, alan = [await people.arrive(name, reads="general") for name in ("Ada", "Grace", "Alan")]
    await ada.page.add_init_script(f"({LAYERS})()")
    await ada.page.evaluate(LAYERS)
    await ada.resize({"width": 1200, "height": 700})
    for person in (ada, grace, alan):
        await person.enter_call(camera=person is grace, microphone=person is grace)
    await ada.sees(grace)

    tiles = ada.page.locator("#people .person .name")
    await expect(tiles).to_have_text(["Grace", "Alan", "Ada (you)"])
    await check_speaker_is_enlarged(ada, grace, alan)
    # Tiles keep their positions when someone speaks or sends video.
    await grace.press("Stop camera")
    await expect(ada.page.locator("#people .with-video")).to_have_count(0)
    await expect(tiles).to_have_text(["Grace", "Alan", "Ada (you)"])
    await grace.press("Start camera")
    await ada.sees(grace)

    await ada.page.locator("#people .person").first.hover()
    await ada.press("Show Grace in full screen")
    await ada.page.wait_for_function("() => document.fullscreenElement?.matches('.tile.person')")
    await ada.page.evaluate("history.back()")
    await ada.page.wait_for_function("() => !document.fullscreenElement")
    await expect(ada.page.locator("#people .person").first).to_be_visible()
    await requests_the_chosen_quality(ada)

    await pops_out(ada, "Grace", "Alan", "Ada (you)")
    # In browsers that support such windows only for a single video, the window shows the largest video.
    await ada.page.evaluate("delete window.documentPictureInPicture")
    await menu(ada, "Open in a separate window")
    await ada.page.wait_for_function("() => document.pictureInPictureElement?.videoWidth > 0")
    await ada.page.evaluate("document.exitPictureInPicture()")
    await check_sound_only(ada, grace, axe)

    await ada.press("Call chat")
    call_chat = ada.page.get_by_role("region", name="Call chat")
    await call_chat.get_by_role("textbox").fill("The slides are on the table")
    await ada.page.keyboard.press("Enter")
    await expect(alan.page.locator("#voice-channels .channel.unread")).to_have_count(1)
    await alan.page.get_by_role("button", name="Call chat, 1 unread").click()
    await expect(alan.page.get_by_role("region", name="Call chat")).to_contain_text("The slides are")
    await expect(alan.page.locator("#voice-channels .channel.unread")).to_have_count(0)
    await at_both_sizes(ada, axe, "the call chat")
    await open_channel(ada, "general")
    await expect(call_chat).to_have_count(0)
