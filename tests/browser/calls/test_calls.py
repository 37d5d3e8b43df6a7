"""What people do in a call beside being seen and heard: devices, loudness, layout, quality, narrow lines."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.kit.home_networks import why_not
from tests.kit.narrow_call import NARROW_KBPS, WIDE_KBPS, narrow_call
from tests.kit.people import NARROW, VIEWPORT, People, Person, chromium
from tests.kit.text_channels import open_channel
from tests.kit.waiting import wait_until

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
# What the page tells the system to do at its keys, which no test can press.
SYSTEM_KEYS = """() => {
  window.systemKeys = {};
  navigator.mediaSession.setActionHandler = (key, act) => { window.systemKeys[key] = act; };
}"""
# Each of them, and whether one is muted then.
SYSTEM_KEYS_DO = (("pause", True), ("pause", True), ("play", False), ("togglemicrophone", True))
# How loud each side is of the one voice that is received.
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
    """As in an earlier visit, and come back."""
    await person.page.evaluate(
        "(chosen) => { localStorage['svc.callSettings'] = JSON.stringify({ quality: 'high', ...chosen }); }",
        settings,
    )
    await person.page.reload()


async def pair(people: People, **settings: object) -> tuple[Person, Person]:
    """Ada with these settings, and Grace, in a call without cameras."""
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await choose(ada, **settings)
    await ada.enter_call()
    await grace.join(camera=False)
    return ada, grace


async def is_silent(listener: Person, speaker: Person) -> bool:
    """The made-up microphone beeps every second; in 1.5 s nothing comes of one that is silent."""
    before = (await listener.statistics()).energy(speaker.name)
    await listener.page.wait_for_timeout(1500)
    return (await listener.statistics()).energy(speaker.name) - before < 1e-6


def voice_entry(person: Person, name: str) -> Any:
    return person.page.locator(".voice-people button").filter(has_text=name)


async def test_who_holds_a_key_to_talk_is_heard_while_it_is_held(people: People) -> None:
    ada, grace = await pair(people, input="push", pushKey="KeyV", releaseMs=0)

    async def silent() -> bool:
        return await is_silent(grace, ada)

    await wait_until("Grace hears nothing of Ada", silent, within_s=10)
    await ada.page.locator("#room-name").focus()
    await ada.page.keyboard.down("v")
    await grace.hears(ada)
    await ada.page.keyboard.up("v")
    await wait_until("Grace hears nothing of Ada again", silent, within_s=10)


async def test_what_is_quieter_than_the_threshold_is_not_sent(people: People) -> None:
    ada, grace = await pair(people, threshold=1)

    async def silent() -> bool:
        return await is_silent(grace, ada)

    await wait_until("Grace hears nothing of Ada", silent, within_s=10)
    await ada.press("Settings")
    await ada.press("Voice and video")
    await ada.page.get_by_role("slider", name="Threshold").fill("0")
    await grace.hears(ada)


async def test_music_is_heard_in_stereo_at_its_rate(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await choose(ada, music=True)
    await ada.page.evaluate(A_TONE_ON_THE_LEFT)
    await ada.enter_call()
    await grace.join(camera=False)
    await grace.hears(ada)

    async def on_the_left() -> bool:
        left, right = await grace.page.evaluate(LEFT_AND_RIGHT)
        return bool(left > 0.05 and right < left / 20)

    await wait_until("Grace hears the tone on the left alone", on_the_left, within_s=30)
    # What each is told to send: music goes at its rate, a voice is not sent while it is silent.
    told = "svc.call.pc.remoteDescription.sdp.match(/a=fmtp:.*useinbandfec=1.*/)[0]"
    assert "maxaveragebitrate=128000" in await ada.page.evaluate(told)
    assert "usedtx=1" in await grace.page.evaluate(told)
    assert [each.target_bps for each in (await ada.statistics()).sent if each.mid == "0"] == [128_000]


async def test_others_see_who_is_muted_and_deafened_also_from_outside(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    await ada.join(camera=False)
    await grace.join(camera=False)
    await alan.come_in()
    await ada.press("Deafen")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada deafened muted")
    # Neither is forgotten by a reload, nor by looking elsewhere.
    await ada.page.reload()
    await ada.is_connected()
    await expect(ada.page.locator("#deafen")).to_have_text("Undeafen")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada deafened muted")
    await open_channel(ada, "general")
    # On a phone too, where the channels are out of sight.
    for size in (VIEWPORT, NARROW):
        await ada.page.set_viewport_size(size)
        await expect(ada.page.get_by_role("region", name="Your call")).to_be_visible()
    await ada.press("Undeafen")
    await ada.press("Unmute")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada")
    await ada.hears(grace)
    # On a phone that is locked the page stands still, and the sound goes on.
    phone = await ada.page.context.new_cdp_session(ada.page)
    await phone.send("Page.setWebLifecycleState", {"state": "frozen"})
    for _ in range(3):
        await grace.hears(ada)
    await phone.send("Page.setWebLifecycleState", {"state": "active"})
    await ada.hears(grace)
    await expect(ada.page.get_by_role("region", name="Your call")).to_contain_text("Connected")


async def test_a_tile_that_is_pinned_is_large_and_stays_so(people: People) -> None:
    everybody = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    for person in everybody:
        await person.join(camera=False)
    ada = everybody[0]
    await ada.page.locator("#people .person").filter(has_text="Alan").hover()
    await ada.press("Pin Alan")
    await expect(ada.page.locator("#screens .name")).to_have_text(["Alan"])
    await everybody[1].press("Share screen")
    await expect(ada.page.locator("#people .screen .name")).to_have_text(["Grace’s screen"])
    await expect(ada.page.locator("#screens .name")).to_have_text(["Alan"])
    await ada.page.locator("#screens .person").hover()
    await ada.press("Unpin Alan")
    await expect(ada.page.locator("#screens .name")).to_have_text(["Grace’s screen"])


async def test_the_quality_of_the_call_is_shown_in_numbers(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await ada.sees(grace)
    await ada.press("More call options")
    await ada.page.get_by_role("menuitem", name="Call quality").click()
    panel = ada.page.get_by_role("region", name="Call quality")
    await expect(panel).to_contain_text("UDP, direct")
    of_grace = panel.locator(".quality-person").filter(has_text="Grace")
    await expect(of_grace.locator(".quality-line").filter(has_text="camera")).to_contain_text("VP8")
    await expect(of_grace.locator(".quality-line").filter(has_text="microphone")).to_contain_text("opus")
    for of in (panel, of_grace):
        await expect(of.locator("polyline").first).to_have_attribute("points", re.compile(r"\d"))
    await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ada.press("Copy a report")
    await expect(ada.page.get_by_text("Copied.")).to_be_visible()
    report = await ada.page.evaluate("navigator.clipboard.readText()")
    for told in (
        r"path udp, round trip \d+ ms",
        r"sent: camera VP8 \d+ kbit/s \d+x\d+",
        r"received \d: mic opus",
    ):
        assert re.search(told, report), report
    assert "Grace" not in report and "127.0.0.1" not in report


async def test_keys_mute_and_deafen_and_the_title_the_icon_and_the_system_show_it(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await ada.page.evaluate(SYSTEM_KEYS)
    await ada.enter_call()
    await grace.come_in()
    here = grace.page.get_by_role("list", name="People in Voice")
    icon = ada.page.locator("link[rel=icon]")
    system = "() => `${navigator.mediaSession.metadata?.title} ${navigator.mediaSession.playbackState}`"
    await expect(ada.page).to_have_title("🎙 Voice · svc")
    await expect(icon).to_have_attribute("href", re.compile("^data:"))  # The title comes before it is drawn.
    heard = await icon.get_attribute("href")
    await ada.press("Start camera")
    await expect(here).to_contain_text("camera", timeout=30_000)
    assert await ada.page.evaluate(system) == "Voice playing"
    await ada.page.keyboard.press("Control+Shift+M")
    await expect(ada.page).to_have_title("🔇 Voice · svc")
    await expect(icon).not_to_have_attribute("href", str(heard))
    await expect(here).to_contain_text("muted")
    assert await ada.page.evaluate(system) == "Voice paused"
    await ada.page.keyboard.press("Control+Shift+D")
    await expect(ada.page).to_have_title("🔕 Voice · svc")
    await expect(here).to_contain_text("deafened")
    await ada.page.keyboard.press("Control+Shift+D")
    await ada.page.keyboard.press("Control+Shift+M")
    await expect(ada.page).to_have_title("🎙 Voice · svc")
    await expect(icon).to_have_attribute("href", str(heard))
    await expect(here).not_to_contain_text("muted")
    # The keys of a headset and of a locked phone.
    for key, marks in SYSTEM_KEYS_DO:
        await ada.page.evaluate("(key) => systemKeys[key]({ action: key })", key)
        await (expect(here).to_contain_text("muted") if marks else expect(here).not_to_contain_text("muted"))
    await ada.page.evaluate("systemKeys.hangup({ action: 'hangup' })")
    await expect(ada.page).to_have_title("Voice · svc")
    await expect(icon).to_have_attribute("href", "/web/icon.svg")
    assert await ada.page.evaluate(system) == "undefined none"


async def test_sound_stays_whole_on_a_line_too_narrow_for_the_pictures(tmp_path: Path) -> None:
    executable = chromium()
    if reason := why_not() or ("" if executable else "Chromium is not installed"):
        pytest.skip(reason)
    async with narrow_call(tmp_path, str(executable)) as call:
        await call.home.shape(NARROW_KBPS)
        await asyncio.sleep(5)

        async def whole() -> bool:
            return await call.concealed(5) <= 0.01

        await wait_until("the sound is whole", whole, within_s=60)
        await call.ada.hears(call.others[0])
        await call.home.shape(WIDE_KBPS)

        async def all_pictures_again() -> bool:
            return await call.pictures(2) > 0.75

        await wait_until("all pictures come again", all_pictures_again, within_s=60)
