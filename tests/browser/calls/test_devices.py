"""Devices and layout of a call: tried before it, changed in it, lost in it; and what the browser refuses."""

from playwright.async_api import Page, expect

from tests.kit.knowing import heard, listen
from tests.kit.people import People, Person
from tests.kit.text_channels import open_channel
from tests.kit.waiting import wait_until

# Of what is sent, on the line of the microphone or the camera.
DEVICE = "(line) => svc.call?.pc?.getSenders()[line]?.track?.getSettings().deviceId ?? ''"
PULLED_OUT = "(line) => svc.call.pc.getSenders()[line].track.dispatchEvent(new Event('ended'))"
TRACK = "(line) => svc.call?.pc?.getSenders()[line]?.track?.id ?? ''"
MICROPHONE, CAMERA = 0, 1
MIRRORED = "matrix(-1, 0, 0, 1, 0, 0)"
REFUSE = """(kinds) => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wishes) => {
    const kind = kinds.find((each) => wishes[each]);
    if (kind) throw new DOMException("as a person does", "NotAllowedError");
    return open(wishes);
  };
}"""
NOTE_BLUR = """() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (wishes) => {
    window.wantedBlur = wishes.video?.backgroundBlur;
    return open(wishes);
  };
}"""
# As a browser does that wants a gesture for every page of its own.
NO_SOUND_WITHOUT_A_GESTURE = """() => {
  const play = HTMLMediaElement.prototype.play;
  let pressed = false;
  addEventListener("click", ({ target }) => { pressed ||= target.closest("#unblock") !== null; }, true);
  HTMLMediaElement.prototype.play = function () {
    if (pressed || this.tagName !== "AUDIO") return play.call(this);
    return Promise.reject(new DOMException("a gesture is missing", "NotAllowedError"));
  };
}"""
LAYERS = """() => {
  window.layers = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (frame) {
    const { event, data } = JSON.parse(frame);
    if (event === "set_layer") window.layers.push(JSON.parse(data).max_temporal_layer);
    return send.call(this, frame);
  };
}"""


async def choose_last(page: Page, label: str) -> str:
    """The last of the devices in this list; its id."""
    select = page.get_by_role("combobox", name=label)
    await expect(select.locator("option").nth(1)).to_be_attached()
    chosen = await select.locator("option").last.get_attribute("value")
    await select.select_option(chosen)
    return str(chosen)


async def test_devices_are_tried_before_a_call_changed_in_it_and_replaced(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await listen(ada)
    await grace.join(camera=False)
    await ada.press("Join Voice with…")
    lobby = ada.page.get_by_role("dialog")
    # The made-up microphone beeps once a second.
    await ada.page.wait_for_function("() => document.querySelector('dialog meter').value > 0.1")
    await lobby.get_by_role("switch", name="Camera").check()
    await expect(lobby.locator(".self-view.mirrored video")).to_be_visible()
    await ada.page.wait_for_function("() => document.querySelector('.self-view video').videoWidth > 0")
    await heard(ada)
    await lobby.get_by_role("button", name="Play a test sound").click()
    await ada.page.wait_for_function("() => window.heard.length >= 3")
    assert await heard(ada) == [523, 659, 784]
    microphone = await choose_last(ada.page, "Microphone")
    await lobby.get_by_role("button", name="Join the call").click()
    await ada.is_connected()
    await ada.page.wait_for_function(
        f"([line, chosen]) => ({DEVICE})(line) === chosen", arg=[MICROPHONE, microphone]
    )
    await grace.sees(ada)

    await ada.press("Settings")
    await ada.press("Voice and video")
    other = ada.page.get_by_role("combobox", name="Microphone")
    await other.select_option("")
    await ada.page.wait_for_function(
        f"([line, before]) => ({DEVICE})(line) !== before", arg=[MICROPHONE, microphone]
    )
    for name, constraint in (
        ("Cancel echo", "echoCancellation"),
        ("Even out my volume", "autoGainControl"),
    ):
        await ada.page.get_by_role("switch", name=name).uncheck()
        settings = f"() => svc.call.pc.getSenders()[0].track?.getSettings().{constraint} === false"
        await ada.page.wait_for_function(settings)
    # One sees oneself as in a mirror, or not; the others never do.
    own = ada.page.locator("#people .person", has_text="(you)").locator("video")
    await expect(own).to_have_css("transform", MIRRORED)
    await expect(grace.page.locator("#people .with-video video")).to_have_css("transform", "none")
    await ada.page.get_by_role("switch", name="Mirror my own picture").uncheck()
    await expect(own).to_have_css("transform", "none")
    await ada.page.keyboard.press("Escape")

    for line, name in ((MICROPHONE, "microphone"), (CAMERA, "camera")):
        before = await ada.page.evaluate(TRACK, line)
        await ada.page.evaluate(PULLED_OUT, line)
        await expect(ada.page.get_by_text(f"Your {name} was disconnected.")).to_be_visible()
        replaced = f"([line, before]) => ![before, ''].includes(({TRACK})(line))"
        await ada.page.wait_for_function(replaced, arg=[line, before])
    await grace.hears(ada)
    await grace.sees(ada)


async def test_what_the_browser_refuses_is_said_with_a_way_on(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await grace.join(camera=False)
    await ada.page.evaluate(REFUSE, ["audio"])
    await ada.page.evaluate(NO_SOUND_WITHOUT_A_GESTURE)
    await ada.enter_call()
    refused = ada.page.get_by_text("Your browser blocks the microphone. Allow it beside the address")
    await expect(refused).to_be_visible()
    # One is there all the same, and hears after a gesture.
    await expect(ada.page.locator("#mic")).to_have_text("Unmute")
    await ada.page.locator("#unblock").click()
    await expect(ada.page.locator("#unblock")).to_have_count(0)
    await ada.hears(grace)
    # Sharing that one gave up says nothing; a camera without what was wished for is there without it.
    await ada.press("Settings")
    await ada.press("Voice and video")
    can = await ada.page.evaluate("navigator.mediaDevices.getSupportedConstraints().backgroundBlur === true")
    if can:
        await ada.page.get_by_role("switch", name="Blur my background").check()
        await ada.page.keyboard.press("Escape")
        await ada.page.evaluate(NOTE_BLUR)
        await ada.press("Start camera")
        await expect(ada.page.get_by_text("Your camera does not support blurring")).to_be_visible()
        assert await ada.page.evaluate("window.wantedBlur") is True
        await grace.sees(ada)
    else:
        await expect(ada.page.get_by_text("This browser cannot blur your background.")).to_be_visible()


async def pops_out(person: Person, *names: str) -> None:
    """Open the small window: it shows these people, one of them moving, and can mute and leave."""
    await person.press("More call options")
    async with person.page.context.expect_page() as opening:
        await person.page.get_by_role("menuitem", name="Open in its own window").click()
    small = await opening.value
    await expect(small.locator("#people .name")).to_have_text(list(names))
    await small.wait_for_function("() => document.querySelector('.with-video video').currentTime > 0")
    await expect(small.locator(".call-controls button")).to_have_text(["Unmute", "Leave"])
    await small.close()


async def test_a_call_is_laid_out_as_one_likes_with_its_text_beside_it(people: People) -> None:
    ada, grace, alan = everybody = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    await ada.page.add_init_script(f"({LAYERS})()")
    await ada.page.reload()
    for person in everybody:
        await person.page.set_viewport_size({"width": 1200, "height": 700})
        await person.join(camera=person is grace, microphone=person is grace)
    await ada.sees(grace)

    async def menu(name: str) -> None:
        await ada.press("More call options")
        await ada.page.get_by_role("menu").get_by_text(name, exact=True).click()

    tiles = ada.page.locator("#people .person .name")
    await expect(tiles).to_have_text(["Grace", "Alan", "Ada (you)"])
    await menu("Large speaker")
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace"])
    await menu("Equal sizes")
    # Tiles keep their place, whoever speaks and whatever they send.
    await grace.press("Stop camera")
    await expect(ada.page.locator("#people .with-video")).to_have_count(0)
    await expect(tiles).to_have_text(["Grace", "Alan", "Ada (you)"])
    await grace.press("Start camera")
    await ada.sees(grace)

    await ada.page.locator("#people .person").first.hover()
    await ada.press("Grace in full screen")
    await ada.page.wait_for_function("() => document.fullscreenElement?.matches('.tile.person')")
    await ada.page.evaluate("document.exitFullscreen()")

    await ada.page.locator("#people .person").first.hover()
    await ada.press("Volume and quality of Grace")
    await ada.page.get_by_role("radio", name="Saver").check()
    await ada.page.wait_for_function("() => window.layers.at(-1) === 0")
    await ada.page.get_by_role("radio", name="Full").check()
    await ada.page.wait_for_function("() => window.layers.at(-1) === -1")
    await ada.page.keyboard.press("Escape")

    await pops_out(ada, "Grace", "Alan", "Ada (you)")

    await menu("Sound only")

    async def only_sound() -> bool:
        return {each.source for each in (await ada.statistics()).received} == {"mic"}

    await wait_until("no pictures are sent to Ada", only_sound, within_s=30)
    await ada.hears(grace)
    await menu("Show pictures")
    await ada.sees(grace)

    await ada.press("Text of the call")
    beside = ada.page.get_by_role("region", name="Text of the call")
    await beside.get_by_role("textbox").fill("The slides are on the table")
    await ada.page.keyboard.press("Enter")
    await expect(alan.page.locator("#voice-channels .channel.unread")).to_have_count(1)
    await alan.page.get_by_role("button", name="Text of the call, 1 unread").click()
    await expect(alan.page.get_by_role("region", name="Text of the call")).to_contain_text("The slides are")
    await expect(alan.page.locator("#voice-channels .channel.unread")).to_have_count(0)
    await open_channel(ada, "general")
    await expect(beside).to_have_count(0)
