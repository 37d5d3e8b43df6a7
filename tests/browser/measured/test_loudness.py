"""Measures the loudness of speech, shared screens and noise as received and as played."""

import asyncio
import base64
import itertools
import json
import random
import struct
import wave
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.kit.browser_users import FLAGS, People, Person, bare_chromium, people_at
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

# Replaces the microphone and a screen's audio with an endless tone.
A_TONE = """() => {
  const context = new AudioContext();
  const out = context.createMediaStreamDestination();
  const tone = new OscillatorNode(context, { frequency: 440 });
  tone.connect(new GainNode(context, { gain: 0.2 })).connect(out);
  tone.start();
  const opened = () => out.stream.getAudioTracks().map((track) => track.clone());
  navigator.mediaDevices.getUserMedia = async () => new MediaStream(opened());
  const share = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getDisplayMedia = async ({ video }) => {
    const picture = await share({ video });
    return new MediaStream([...picture.getTracks(), ...opened()]);
  };
}"""
TONE_IS = 0.2 / 2**0.5
# Defines `played()`, which returns the loudness (root mean square) of each source that is amplified beyond
# the maximum volume of an element.
PLAYED = """
const ears = [];
window.elements = [];
window.Audio = class extends Audio {
  constructor() {
    super();
    window.elements.push(this);
  }
};
const { connect } = AudioNode.prototype;
AudioNode.prototype.connect = function (to, ...rest) {
  to.ofStream = this instanceof MediaStreamAudioSourceNode;
  if (to === this.context.destination && this.ofStream) {
    ears.push(new AnalyserNode(this.context, { fftSize: 4096 }));
    connect.call(this, ears.at(-1));
  }
  return connect.call(this, to, ...rest);
};
window.played = () => ears.map((ear) => {
  const samples = new Float32Array(ear.fftSize);
  ear.getFloatTimeDomainData(samples);
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
});
"""
ELEMENTS_PLAY = """async (wanted) => {
  const context = new AudioContext();
  const playing = elements.filter(({ paused, muted, volume }) => !paused && !muted && volume === 1);
  const ears = playing.map(({ srcObject }) => {
    const ear = new AnalyserNode(context, { fftSize: 4096 });
    context.createMediaStreamSource(srcObject).connect(ear);
    return ear;
  });
  await new Promise((resolve) => { setTimeout(resolve, 500); });
  const samples = new Float32Array(4096);
  const played = ears.map((ear) => {
    ear.getFloatTimeDomainData(samples);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  }).sort();
  await context.close();
  const alike = (level, at) => Math.abs(level - wanted[at]) <= 0.1 * wanted[at];
  return played.length === wanted.length && played.every(alike);
}"""
# Returns the energy and the duration of the only received audio track.
PLAYED_SO_FAR = """async () => {
  const { receiver } = svc.call.tracks.find(({ source }) => source === "mic");
  const voice = [...(await receiver.getStats()).values()].find(({ type }) => type === "inbound-rtp");
  return [voice.totalAudioEnergy, voice.totalSamplesDuration];
}"""
# Unplugs a speaker: removes it from the list and reports the change as the browser would.
PULLED_OUT = """(gone) => {
  const all = navigator.mediaDevices.enumerateDevices.bind(navigator.mediaDevices);
  const left = async () => (await all()).filter(({ deviceId }) => deviceId !== gone);
  navigator.mediaDevices.enumerateDevices = left;
  navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
}"""
# Returns the loudness of two sentences with noise, before and after strong suppression. Rendering is offline,
# so nothing is dropped on a busy machine. Waits `patienceMs` first, because the worklet suppresses nothing
# until it has started.
SUPPRESSED = """async ([speech, loudOfVoice, loudOfNoise, patienceMs]) => {
  const [rate, seconds] = [48_000, 16];
  const { suppressor } = await import("/web/call/noise_suppression.js");
  const context = new OfflineAudioContext(2, seconds * rate, rate);
  const suppressing = await suppressor(context);
  await new Promise((resolve) => { setTimeout(resolve, patienceMs); });
  const encoded = Uint8Array.from(atob(speech), (letter) => letter.charCodeAt(0));
  const voice = await context.decodeAudioData(encoded.buffer);
  const noise = context.createBuffer(1, seconds * rate, rate);
  noise.getChannelData(0).forEach((_, at, samples) => { samples[at] = Math.random() - 0.5; });
  // Some microphones are stereo.
  const mixed = new GainNode(context, { channelCount: 2, channelCountMode: "explicit" });
  const both = context.createChannelMerger(2);
  for (const [buffer, gain] of [[voice, loudOfVoice], [noise, loudOfNoise]]) {
    const source = new AudioBufferSourceNode(context, { buffer, loop: true });
    source.connect(new GainNode(context, { gain })).connect(mixed);
    source.start();
  }
  mixed.connect(both, 0, 0);
  mixed.connect(suppressing).connect(both, 0, 1);
  both.connect(context.destination);
  const rendered = await context.startRendering();
  return [0, 1].map((side) => {
    const samples = rendered.getChannelData(side).subarray(rate);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  });
}"""
SPEECH = Path(__file__).parents[2] / "data" / "speech.opus"
NOISE = 0.3
NOISE_S, SAMPLE_RATE = 4, 48_000
SEED = 20_260_103


async def plays(person: Person, *times: float) -> None:
    """Wait until the amplified sources play at these multiples of the tone's original loudness."""

    async def so() -> bool:
        played = await person.page.evaluate("() => played()")
        wanted = [time_s * TONE_IS for time_s in times]
        return len(played) == len(wanted) and all(
            abs(level - want) <= 0.1 * want + 0.002 for level, want in zip(played, wanted, strict=True)
        )

    await wait_until(f"{person.name} hears {times}", so, within_s=15)


async def test_each_person_and_each_screen_has_its_own_volume(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.page.add_init_script(PLAYED)
    await ada.page.reload()
    await ada.join(camera=False)
    await grace.come_in()
    await grace.page.evaluate(A_TONE)
    await grace.enter_call()
    await ada.hears(grace)
    # A ringtone that a phone has paused resumes when the person returns to the page.
    await ada.page.evaluate("() => { for (const each of elements) each.pause(); }")
    await ada.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    await ada.page.wait_for_function("() => elements.length && elements.every(({ paused }) => !paused)")
    # The chosen speaker plays the ringtone.
    await ada.press("Settings")
    await ada.press("Voice and video")
    loudspeakers = ada.page.get_by_role("combobox", name="Speaker")
    await expect(loudspeakers.locator("option").nth(1)).to_be_attached()
    chosen = await loudspeakers.locator("option").last.get_attribute("value")
    await loudspeakers.select_option(chosen)
    await ada.page.wait_for_function("(id) => elements.every(({ sinkId }) => sinkId === id)", arg=chosen)
    await ada.page.keyboard.press("Escape")
    await ada.page.evaluate(PULLED_OUT, chosen)
    await expect(ada.page.get_by_text("Your speaker was disconnected.")).to_be_visible()
    await ada.page.wait_for_function("() => elements.every(({ sinkId }) => sinkId === '')")
    tile = ada.page.locator("#people .person").filter(has_text="Grace")
    await tile.click(button="right")
    dialog = ada.page.get_by_role("dialog", name="Grace")
    voice, screen = [dialog.get_by_role("slider").nth(number) for number in (0, 1)]
    for volume, shown in (("2", "200%"), ("0.5", "50%"), ("0", "0%"), ("1.5", "150%")):
        await voice.fill(volume)
        await expect(dialog).to_contain_text(shown)
        await plays(ada, float(volume))
    await grace.press("Share screen")
    await screen.fill("2")
    await plays(ada, 1.5, 2)
    await dialog.get_by_role("switch", name="Mute for me").check()
    await plays(ada, 0, 2)
    await ada.page.keyboard.press("Escape")
    await expect(tile).to_contain_text("muted for you")
    await ada.press("Deafen")
    await plays(ada, 0, 0)
    await ada.press("Undeafen")
    await plays(ada, 0, 2)
    await ada.page.reload()
    await ada.is_connected()
    await expect(tile).to_contain_text("muted for you")
    kept = json.loads(await ada.page.evaluate("localStorage['svc.people']"))
    volumes = [(person["volume"], person["muted"], person["screenVolume"]) for person in kept.values()]
    assert volumes == [(1.5, True, 2)]
    await plays(ada, 2)
    await tile.click(button="right")
    await dialog.get_by_role("switch", name="Mute for me").uncheck()
    await plays(ada, 2, 1.5)
    # If the browser's audio graphs cannot choose a speaker, elements play the output of the graphs.
    await ada.page.add_init_script("delete AudioContext.prototype.setSinkId")
    await ada.page.reload()
    await ada.is_connected()
    await ada.page.wait_for_function(ELEMENTS_PLAY, arg=[1.5 * TONE_IS, 2 * TONE_IS])


def white_noise(path: Path) -> None:
    """Generate noise like that of a fan, for a fake microphone."""
    samples = random.Random(SEED)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        loudness = [samples.randint(-3000, 3000) for _ in range(NOISE_S * SAMPLE_RATE)]
        file.writeframes(struct.pack(f"<{len(loudness)}h", *loudness))


async def test_noise_is_suppressed_by_the_browser_and_more_strongly_by_the_web_client(
    product: SvcUp, tmp_path: Path
) -> None:
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    white_noise(fan := tmp_path / "fan.wav")
    flags = (*FLAGS, f"--use-file-for-fake-audio-capture={fan}")
    async with people_at(product.url, executable, flags=flags, still=True) as people:
        ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
        await ada.come_in()
        settings = {"noise": "off", "autoGainControl": False, "echoCancellation": False}
        await ada.page.evaluate(
            "(settings) => { localStorage['svc.callSettings'] = JSON.stringify(settings); }", settings
        )
        await ada.page.reload()
        await ada.enter_call()
        await grace.join(camera=False)

        async def loudness() -> float:
            """Measure the loudness of the played audio for about a second."""
            energy, played_s = await grace.page.evaluate(PLAYED_SO_FAR)
            await asyncio.sleep(1)
            energy_after, played_after_s = await grace.page.evaluate(PLAYED_SO_FAR)
            return float((energy_after - energy) / max(0.01, played_after_s - played_s))

        await grace.hears(ada)
        # Take the maximum, because audio lost while the machine stalls lowers the measured loudness.
        untouched = max([await loudness() for _ in range(3)])
        await ada.press("Settings")
        await ada.press("Voice and video")
        for value, left in (("usual", 1 / 4), ("strong", 1 / 20)):
            await ada.page.locator(f"input[type=radio][value={value}]").check()

            async def quieter(left: float = left) -> bool:
                return await loudness() < untouched * left

            await wait_until(f"less than {left} of the fan is audible", quieter, within_s=30)
        await ada.page.get_by_role("radio", name="Off").check()

        async def as_before() -> bool:
            return await loudness() > untouched / 2

        await wait_until("the fan is as loud as before", as_before, within_s=30)
        # Audio below the threshold is not sent.
        threshold = ada.page.get_by_role("slider", name="Threshold")
        await threshold.fill("0.34")

        async def nothing() -> bool:
            return await loudness() < untouched / 1000

        await wait_until("the fan is inaudible", nothing, within_s=30)
        await threshold.fill("0.1")
        await wait_until("the fan is audible again", as_before, within_s=30)
        assert people.faults == []


async def test_strong_suppression_does_not_make_a_voice_quieter(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    speech = base64.b64encode(SPEECH.read_bytes()).decode()

    async def suppressed(voice: float, noise: float) -> tuple[float, float]:
        for patience_ms in itertools.count(200, 200):
            before, after = await ada.page.evaluate(SUPPRESSED, [speech, voice, noise, patience_ms])
            if after:
                break
        return before, after

    alone, after = await suppressed(1, 0)
    assert after == pytest.approx(alone, rel=0.1)
    noise, after = await suppressed(0, NOISE)
    assert noise > 0.8 * alone, "the fan is about as loud as the voice"
    assert after < noise / 10
    both, after = await suppressed(1, NOISE)
    assert both > 1.2 * alone
    assert after == pytest.approx(alone, rel=0.1), "the voice remains and the noise is removed"
