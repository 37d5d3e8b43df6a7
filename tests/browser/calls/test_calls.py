"""Tests call features: push-to-talk, music, muting, media keys, pinned tiles and the quality report."""

import re
from typing import Any

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import NARROW, VIEWPORT, People, Person
from tests.kit.community import ask
from tests.kit.text_channels import open_channel
from tests.kit.wait import wait_until

__all__ = ["axe"]

# Replaces the microphone. `speak(loudness)` sets its loudness (root mean square).
A_TONE = """
const context = new AudioContext();
const [tone, gain] = [new OscillatorNode(context, { frequency: 440 }), new GainNode(context, { gain: 0 })];
const out = context.createMediaStreamDestination();
tone.connect(gain).connect(out);
tone.start();
window.speak = (loudness) => context.resume().then(() => { gain.gain.value = loudness * Math.SQRT2; });
const opened = () => out.stream.getTracks().map((track) => track.clone());
navigator.mediaDevices.getUserMedia = async () => new MediaStream(opened());
"""
QUIETLY, LOUDLY = 0.01, 0.5
A_TONE_ON_THE_LEFT = """() => {
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: 440 });
  const [sides, out] = [context.createChannelMerger(2), context.createMediaStreamDestination()];
  tone.connect(sides, 0, 0);
  sides.connect(out);
  tone.start();
  const opened = () => out.stream.getTracks().map((track) => track.clone());
  navigator.mediaDevices.getUserMedia = async () => new MediaStream(opened());
}"""
# Records the page's handlers for the system's media keys, because tests cannot press these keys.
SYSTEM_KEYS = """() => {
  window.systemKeys = {};
  navigator.mediaSession.setActionHandler = (key, act) => { window.systemKeys[key] = act; };
}"""
PRESS = "(key) => systemKeys[key]({ action: key })"
# Media keys in the order in which they are pressed, each with an icon and whether others see this icon on
# Ada's tile afterwards.
SYSTEM_KEYS_DO = (
    ("pause", "muted", True),
    ("pause", "muted", True),
    ("play", "muted", False),
    ("togglemicrophone", "muted", True),
    ("togglecamera", "camera", False),
    ("togglecamera", "camera", True),
)
# Returns the state that the page's icon shows during a call: a green dot in the corner means "heard", and a
# pink diagonal line with a dark outline means "not heard".
ON_ICON = """async () => {
  const drawn = new Image();
  drawn.src = document.querySelector("link[rel=icon]").href;
  await drawn.decode();
  const pen = document.createElement("canvas").getContext("2d");
  pen.drawImage(drawn, 0, 0, 64, 64);
  const [red, green] = pen.getImageData(16, 48, 1, 1).data;
  return green > red ? "heard" : "not heard";
}"""
# Patterns for the lines in the connection report, once everything has been measured.
REPORTED = (
    r"path udp, round trip \d+ ms, available \d+ kbit/s",
    r"line to us \d+ kbit/s, \w+",
    r"last \d+ s: round trip at most \d+ ms, lost at most [\d.]+ %, received at most \d+ kbit/s, sent at",
    r"sent: camera VP9 \d+ kbit/s \d+x\d+@\d+ L1T3 lost [\d.]+ %",
    r"received \d: camera VP9 \d+ kbit/s \d+x\d+@\d+ lost [\d.]+ % jitter \d+ ms freezes \d",
    r"received \d: mic opus \d+ kbit/s lost [\d.]+ % jitter \d+ ms concealed [\d.]+ %",
)
# Returns the loudness of the left and the right channel of the only received audio track.
LEFT_AND_RIGHT = """async () => {
  const { receiver } = svc.call.tracks.find(({ source }) => source === "mic");
  const context = new AudioContext();
  const sides = context.createChannelSplitter(2);
  context.createMediaStreamSource(new MediaStream([receiver.track])).connect(sides);
  const both = [0, 1].map((side) => new AnalyserNode(context));
  both.forEach((analyser, side) => sides.connect(analyser, side));
  await new Promise((resolve) => { setTimeout(resolve, 1000); });
  const loudness = both.map((analyser) => {
    const samples = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(samples);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  });
  await context.close();
  return loudness;
}"""


async def choose(person: Person, **settings: object) -> None:
    """Store a setting as if it had been chosen on an earlier visit, and reload the page."""
    await person.page.evaluate(
        "(chosen) => { localStorage['svc.callSettings'] = JSON.stringify({ quality: 'high', ...chosen }); }",
        settings,
    )
    await person.page.reload()


async def pair(people: People, **settings: object) -> tuple[Person, Person]:
    """Have Ada and Grace join a call without cameras. Ada has the given settings."""
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await choose(ada, **settings)
    await ada.enter_call()
    await grace.join(camera=False)
    return ada, grace


def voice_entry(person: Person, name: str) -> Any:
    return person.page.locator(".voice-people button").filter(has_text=name)


# Releases the push-to-talk key. Returns whether speech is still being sent immediately afterwards.
LET_GO = """(code) => {
  document.body.dispatchEvent(new KeyboardEvent("keyup", { code, bubbles: true }));
  return svc.call.pc.getSenders()[0].track.enabled;
}"""
IS_SENT = "(sent) => svc.call.pc.getSenders()[0].track?.enabled === sent"


async def test_a_person_is_heard_while_holding_the_key_or_speaking_above_the_threshold(
    people: People,
) -> None:
    ada, grace = await pair(people)
    await grace.hears(ada)
    settings = await voice_settings(ada)
    await settings.get_by_role("radio", name="Push to talk").check()
    await settings.get_by_role("button", name="Push-to-talk key: Backquote").click()
    await ada.page.keyboard.press("v")
    await expect(settings.get_by_role("button", name="Push-to-talk key: KeyV")).to_be_visible()
    release = settings.get_by_role("spinbutton", name="Release delay")
    await release.fill("0")
    await ada.page.keyboard.press("Escape")
    await grace.hears_nothing_of(ada)
    await ada.page.locator("#room-name").focus()
    await ada.page.keyboard.down("v")
    await grace.hears(ada)
    await ada.page.keyboard.up("v")
    await grace.hears_nothing_of(ada)
    await ada.page.keyboard.down("v")
    await grace.hears(ada)
    # Another window has focus, so the page misses the keyup event.
    await ada.page.evaluate("() => { window.dispatchEvent(new Event('blur')); }")
    await grace.hears_nothing_of(ada)
    await ada.page.keyboard.up("v")

    await voice_settings(ada)
    await release.fill("1500")
    await ada.page.keyboard.press("Escape")
    await ada.page.locator("#room-name").focus()
    await ada.page.wait_for_function(IS_SENT, arg=False)
    await ada.page.keyboard.down("v")
    await ada.page.wait_for_function(IS_SENT, arg=True)
    assert await ada.page.evaluate(LET_GO, "KeyV") is True, "the end of a word is cut off"
    await ada.page.wait_for_function(IS_SENT, arg=False)
    await ada.page.keyboard.up("v")

    await ada.page.add_init_script(A_TONE)
    await choose(ada, threshold=0.4)
    await ada.is_connected()
    await ada.page.evaluate("(loudness) => speak(loudness)", QUIETLY)
    await grace.hears_nothing_of(ada)
    await ada.page.evaluate("(loudness) => speak(loudness)", LOUDLY)
    await grace.hears(ada)
    await ada.page.evaluate("(loudness) => speak(loudness)", QUIETLY)
    await grace.hears_nothing_of(ada)
    await voice_settings(ada)
    await ada.page.get_by_role("slider", name="Threshold").fill("0")
    await grace.hears(ada)


async def voice_settings(person: Person) -> Locator:
    await person.press("Settings")
    await person.press("Voice and video")
    return person.page.get_by_role("dialog")


async def test_music_is_heard_in_stereo_at_the_channels_bitrate(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await ask(ada, "PATCH", "/api/channels/voice", {"bitrate_kbps": 96})
    await choose(ada, music=True)
    await ada.page.evaluate(A_TONE_ON_THE_LEFT)
    await ada.enter_call()
    await grace.join(camera=False)
    await grace.hears(ada)

    async def hears_left() -> bool:
        left, right = await grace.page.evaluate(LEFT_AND_RIGHT)
        return bool(left > 0.05 and right < left / 20)

    await wait_until("Grace hears the tone only on the left", hears_left, within_s=30)
    # The service requests the channel's bitrate from Ada's encoder, and no packets during silence from
    # Grace's encoder.
    offered = "svc.call.pc.remoteDescription.sdp.match(/a=fmtp:.*useinbandfec=1.*/)[0]"
    assert "maxaveragebitrate=96000" in await ada.page.evaluate(offered)
    assert "usedtx=1" in await grace.page.evaluate(offered)

    async def reported(kbps: int) -> bool:
        return [track.target_bps for track in (await ada.statistics()).sent if track.mid == "0"] == [
            kbps * 1000
        ]

    await wait_until("Ada sends music at the channel's bit rate", lambda: reported(96), within_s=15)
    await ask(ada, "PATCH", "/api/channels/voice", {"bitrate_kbps": 64})
    await wait_until("members in the channel get its new bit rate", lambda: reported(64), within_s=15)


async def test_members_outside_the_call_also_see_who_is_muted_and_deafened(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    await ada.join(camera=False)
    await grace.join(camera=False)
    await alan.come_in()
    await ada.press("Deafen")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada deafened muted")
    # Both states survive a reload and a visit to another channel.
    await ada.page.reload()
    await ada.is_connected()
    await expect(ada.page.locator("#deafen")).to_have_text("Undeafen")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada deafened muted")
    await open_channel(ada, "general")
    # This also works on a phone, where the channel list is hidden.
    for size in (VIEWPORT, NARROW):
        await ada.resize(size)
        await expect(ada.page.get_by_role("region", name="Your call")).to_be_visible()
    await ada.press("Undeafen")
    await ada.press("Unmute")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada")
    await ada.hears(grace)
    # On a locked phone, the page is frozen, but the audio continues.
    phone = await ada.page.context.new_cdp_session(ada.page)
    await phone.send("Page.setWebLifecycleState", {"state": "frozen"})
    for _ in range(3):
        await grace.hears(ada)
    await phone.send("Page.setWebLifecycleState", {"state": "active"})
    await ada.hears(grace)
    await expect(ada.page.get_by_role("region", name="Your call")).to_contain_text("Connected")


async def test_a_pinned_tile_becomes_and_stays_large(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    for person in (ada, grace):
        await person.join(camera=False)
    await ada.page.locator("#people .person").filter(has_text="Grace").hover()
    await ada.press("Pin Grace")
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace"])
    await grace.press("Share screen")
    await expect(ada.page.locator("#people .screen .name")).to_have_text(["Grace’s screen"])
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace"])
    await ada.page.reload()
    await ada.is_connected()
    await expect(ada.page.locator("#people .screen .name")).to_have_text(["Grace’s screen"])
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace"])
    await ada.page.locator("#screens .person").hover()
    await ada.press("Unpin Grace")
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace’s screen"])


async def test_the_call_quality_panel_shows_measurements(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ada.enter_call(camera=True)
    await grace.enter_call(camera=True)
    await ada.sees(grace)
    await ada.press("More call options")
    await ada.page.get_by_role("menuitem", name="Call quality").click()
    panel = ada.page.get_by_role("region", name="Call quality")
    await expect(panel).to_contain_text("UDP, direct")
    of_grace = panel.locator(".quality-person").filter(has_text="Grace")
    camera = of_grace.locator(".quality-line").filter(has_text="camera")
    numbers = r"VP9 · \d+ kbit/s · \d+×\d+ · \d+ fps · %s · [\d.]+%% lost"
    await expect(camera).to_contain_text(re.compile(numbers % "small" + r" · jitter \d+ ms"))
    await expect(of_grace.locator(".quality-line").filter(has_text="microphone")).to_contain_text(
        re.compile(r"opus · \d+ kbit/s · [\d.]+% lost · jitter \d+ ms")
    )
    mine = panel.locator(":scope > .quality-line").filter(has_text="camera")
    await expect(mine).to_contain_text(re.compile(numbers % "L1T3"))
    for of, names in ((panel, ("Round trip", "Packet loss")), (of_grace, ("Bitrate",))):
        for name in names:
            graph = of.get_by_role("figure").filter(has_text=re.compile(rf"^{name} at most [\d,.]+"))
            await expect(graph.locator("polyline")).to_have_attribute("points", re.compile(r"\d"))
    pictures = panel.locator("dl > div").filter(has_text="Incoming video")
    await expect(pictures).to_contain_text("as requested")
    await expect(panel).to_contain_text(re.compile(r"Download bandwidth\s*(?:at least )?[\d,]+ kbit/s"))
    await at_both_sizes(ada, axe, "the quality of a call")
    await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await expect(panel).to_contain_text(re.compile(r"\d+ ms"))
    report = ""

    async def complete() -> bool:
        nonlocal report
        await ada.press("Copy report")
        await expect(ada.page.get_by_text("Copied.")).to_be_visible()
        report = await ada.page.evaluate("navigator.clipboard.readText()")
        return all(re.search(pattern, report) for pattern in REPORTED)

    await wait_until("a report contains all metrics", complete, within_s=10)
    assert "Grace" not in report and "127.0.0.1" not in report


async def icon_shows(person: Person, what: str) -> None:
    """Wait until the page's icon shows this state. The icon changes last."""
    await person.page.wait_for_function(f"async (what) => await ({ON_ICON})() === what", arg=what)


async def system_shows(person: Person, words: str) -> None:
    shown = "`${navigator.mediaSession.metadata?.title} ${navigator.mediaSession.playbackState}`"
    await person.page.wait_for_function(f"(words) => {shown} === words", arg=words)


async def test_muting_and_deafening_by_key_is_reflected_in_the_title_the_icon_and_the_system(
    people: People,
) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await ada.page.evaluate(SYSTEM_KEYS)
    await ada.enter_call()
    await grace.come_in()
    callers = grace.page.get_by_role("list", name="People in Voice")
    await expect(ada.page).to_have_title("🎙 Voice · svc")
    await ada.press("Start camera")
    await expect(callers).to_contain_text("camera")
    await ada.press("Share screen")
    await expect(callers).to_contain_text("screen")
    await expect(callers.locator(".avatar")).to_have_count(1)
    await ada.press("Stop sharing")
    await expect(callers).not_to_contain_text("screen")
    await system_shows(ada, "Voice playing")
    await icon_shows(ada, "heard")
    await ada.page.keyboard.press("Control+Shift+M")
    await expect(ada.page).to_have_title("🔇 Voice · svc")
    await icon_shows(ada, "not heard")
    await expect(callers).to_contain_text("muted")
    await system_shows(ada, "Voice paused")
    await ada.page.keyboard.press("Control+Shift+D")
    await expect(ada.page).to_have_title("🔕 Voice · svc")
    await expect(callers).to_contain_text("deafened")
    await ada.page.keyboard.press("Control+Shift+D")
    await ada.page.keyboard.press("Control+Shift+M")
    await expect(ada.page).to_have_title("🎙 Voice · svc")
    await icon_shows(ada, "heard")
    await expect(callers).not_to_contain_text("muted")
    # These are the media keys on a headset or a locked phone.
    for key, mark, on in SYSTEM_KEYS_DO:
        await ada.page.evaluate(PRESS, key)
        await (expect(callers).to_contain_text(mark) if on else expect(callers).not_to_contain_text(mark))
    for key in ("hangup", "stop"):
        await ada.page.evaluate(PRESS, key)
        await expect(ada.page).to_have_title("Voice · svc")
        await expect(ada.page.locator("link[rel=icon]")).to_have_attribute("href", "/web/icon.svg")
        await system_shows(ada, "undefined none")
        assert await ada.page.evaluate("Object.values(systemKeys).every((act) => act === null)")
        if key == "hangup":
            await ada.press("Join call")
            await ada.is_connected()
