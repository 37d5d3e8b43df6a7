"""What people do in a call beside being seen and heard: devices, loudness, layout, quality, narrow lines."""

import asyncio
import json
import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.kit.people import Capture, People, Person
from tests.kit.relay import relay
from tests.kit.text_channels import open_channel
from tests.kit.waiting import wait_until

SEED = 20_261_123
NARROW_KBPS, WIDE_KBPS = 350, 2_000
# Of the sound of the last seconds, as svc.call's page measures it.
CONCEALED = """async () => {
  const entries = [...(await svc.call.pc.getStats()).values()];
  const all = entries.filter(({ type, kind }) => type === "inbound-rtp" && kind === "audio");
  const sum = (name) => all.reduce((total, entry) => total + (entry[name] ?? 0), 0);
  return [sum("concealedSamples") - sum("silentConcealedSamples"), sum("totalSamplesReceived")];
}"""
# Instead of the microphone: white noise, which never ends.
A_FAN = """() => {
  const context = new AudioContext();
  const buffer = context.createBuffer(1, context.sampleRate * 2, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let at = 0; at < samples.length; at++) samples[at] = (Math.random() * 2 - 1) * 0.2;
  const noise = new AudioBufferSourceNode(context, { buffer, loop: true });
  const out = context.createMediaStreamDestination();
  noise.connect(out);
  noise.start();
  const opened = () => new MediaStream(out.stream.getTracks().map((track) => track.clone()));
  navigator.mediaDevices.getUserMedia = async () => opened();
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


@pytest.mark.parametrize("settings", [{"noise": "strong"}, {"music": True}], ids=["strong", "music"])
async def test_a_voice_that_is_taken_otherwise_is_heard(people: People, settings: dict[str, Any]) -> None:
    ada, grace = await pair(people, **settings)
    await grace.hears(ada)
    sdp = await ada.page.evaluate("svc.call.pc.remoteDescription.sdp")
    assert ("maxaveragebitrate=128000" in sdp) == ("music" in settings)


async def test_strong_suppression_takes_away_what_is_no_voice(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.come_in()
    await choose(ada, noise="off", autoGainControl=False)
    await ada.page.evaluate(A_FAN)
    await ada.enter_call()
    await grace.join(camera=False)

    async def loudness() -> float:
        before = await grace.statistics()
        await grace.page.wait_for_timeout(3000)
        return (await grace.statistics()).energy("Ada") - before.energy("Ada")

    await grace.hears(ada)
    untouched = await loudness()
    await ada.press("Settings")
    await ada.press("Voice and video")
    await ada.page.get_by_role("radio", name="Suppress it strongly").check()

    async def quieter() -> bool:
        return await loudness() < untouched / 10

    await wait_until("the fan is not heard any more", quieter, within_s=30)


async def test_others_see_who_is_muted_and_deafened_also_from_outside(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    await ada.join(camera=False)
    await grace.join(camera=False)
    await alan.come_in()
    await ada.press("Deafen")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada deafened muted")
    # Neither is forgotten by looking elsewhere.
    await open_channel(ada, "general")
    await expect(ada.page.get_by_role("region", name="Your call")).to_be_visible()
    await ada.press("Undeafen")
    await ada.press("Unmute")
    for person in (grace, alan):
        await expect(voice_entry(person, "Ada")).to_have_accessible_name("Ada")
    await ada.hears(grace)


async def test_somebody_can_be_made_louder_quieter_and_silent_for_oneself(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join(camera=False)
    await grace.join(camera=False)
    await ada.page.locator("#people .person").first.hover()
    await ada.press("Volume and quality of Grace")
    dialog = ada.page.get_by_role("dialog", name="Grace")
    await dialog.get_by_role("slider", name="Volume").first.fill("1.5")
    await expect(dialog).to_contain_text("150%")
    await dialog.get_by_role("switch", name="Mute for me").check()
    await ada.page.keyboard.press("Escape")
    tile = ada.page.locator("#people .person").filter(has_text="Grace")
    await expect(tile).to_contain_text("muted for you")
    await ada.page.reload()
    await ada.is_connected()
    await expect(tile).to_contain_text("muted for you")
    kept = json.loads(await ada.page.evaluate("localStorage['svc.people']"))
    assert [(wish["volume"], wish["muted"]) for wish in kept.values()] == [(1.5, True)]


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
    await ada.press("More of the call")
    await ada.page.get_by_role("menuitem", name="Quality of the call").click()
    panel = ada.page.get_by_role("region", name="Quality of the call")
    await expect(panel).to_contain_text("UDP, directly")
    of_grace = panel.locator(".quality-person").filter(has_text="Grace")
    await expect(of_grace.locator(".quality-line").filter(has_text="camera")).to_contain_text("VP8")
    await expect(of_grace.locator(".quality-line").filter(has_text="microphone")).to_contain_text("opus")
    for of in (panel, of_grace):
        await expect(of.locator("polyline").first).to_have_attribute("points", re.compile(r"\d"))


async def test_keys_mute_and_deafen_and_the_title_the_icon_and_the_system_show_it(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join(camera=False)
    await grace.come_in()
    here = grace.page.get_by_role("list", name="People in Voice")
    icon = ada.page.locator("link[rel=icon]")
    system = "() => `${navigator.mediaSession.metadata?.title} ${navigator.mediaSession.playbackState}`"
    await expect(ada.page).to_have_title("🎙 Voice · svc")
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
    await ada.press("Leave")
    await expect(ada.page).to_have_title("Voice · svc")
    await expect(icon).to_have_attribute("href", "/web/icon.svg")
    assert await ada.page.evaluate(system) == "undefined none"


async def test_sound_stays_whole_on_a_line_too_narrow_for_the_pictures(people: People) -> None:
    capture = Capture(320, 240, 15)
    async with relay(loss=0, seed=SEED, rate_kbps=None) as line:
        ada = await people.arrive("Ada", capture=capture, line=line)
        grace = await people.arrive("Grace", capture=capture)
        alan = await people.arrive("Alan", capture=capture)
        await ada.come_in()
        await choose(ada, quality="automatic")
        await ada.enter_call()
        for person in (grace, alan):
            await person.join()
        await asyncio.gather(ada.sees(grace, frames=30), ada.sees(alan, frames=30), ada.hears(grace))

        line.rate_kbps = NARROW_KBPS
        await asyncio.sleep(8)

        async def concealed_share() -> float:
            concealed, total = await ada.page.evaluate(CONCEALED)
            await asyncio.sleep(5)
            concealed_now, total_now = await ada.page.evaluate(CONCEALED)
            return float((concealed_now - concealed) / max(1, total_now - total))

        async def whole() -> bool:
            return await concealed_share() <= 0.01

        await wait_until("the sound is whole", whole, within_s=60)
        before = await ada.statistics()
        line.rate_kbps = WIDE_KBPS

        async def all_pictures_again() -> bool:
            then = await ada.statistics()
            await asyncio.sleep(2)
            now = await ada.statistics()
            return now.frames("Grace") - then.frames("Grace") > 0.75 * 2 * capture.frame_rate

        await wait_until("all pictures come again", all_pictures_again, within_s=60)
        assert before.energy("Grace") > 0
