"""Video and audio arrive intact over a link that loses 5 % of the packets in both directions.

The browser requests missing packets from the service, and the service requests them from the browser.
Chromium retransmits audio even if this was not negotiated, so audio to the service needs no other protection.
If a listener's browser does not request retransmission of audio, the speaker sends all audio twice (Opus
in-band FEC).

A frame that no other frame needs may be recovered too late to be displayed. Expect to lose 2.5 % of all
frames, and more on a slow machine. See docs/rtcp.md, "Retransmission", and RFC 4585 and RFC 4588.
"""

import asyncio
import operator
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import av
import pytest
import pytest_asyncio

from tests.browser.calls.test_encrypted_channels import encrypted
from tests.kit.browser_users import FLAGS, Capture, People, Person, SharedBrowsers, bare_chromium
from tests.kit.page_statistics import Statistics
from tests.kit.relay import relay
from tests.kit.svc_up import SvcUp
from tests.kit.wait import retry_scenario, wait_until

LOSS = 0.05
SEED = 20_260_103
# The video has many small frames to reduce the effect of chance.
CAPTURE = Capture(160, 120, 30)
PICTURES = 300
WITHIN_S = 15
SHOWN = 0.95
ATTEMPTS = 4
SOUND_LOSS = 0.15
SAMPLES = 10 * 48_000
CONCEALED = 0.03
# Recorded with espeak-ng.
SPEECH = Path(__file__).parents[2] / "data" / "speech.opus"
REPAIRED = 10
ENOUGH_LOST = 30  # out of about 200 packets, or four seconds of audio


@pytest.mark.parametrize(
    "codec", ["VP8", pytest.param("H264", marks=pytest.mark.nightly("VP8 with the same losses runs daily"))]
)
async def test_video_and_audio_are_intact_over_a_link_that_loses_packets(people: People, codec: str) -> None:
    async with relay(loss=LOSS, seed=SEED) as link:
        ada = await people.arrive("Ada", codec=codec, capture=CAPTURE, link=link)
        grace = await people.arrive("Grace", codec=codec, capture=CAPTURE)
        await ada.join()
        await grace.join()
        await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))

        async def shown() -> tuple[int, int]:
            at_ada, at_grace = await statistics(ada, grace)
            return at_grace.frames("Ada"), at_ada.frames("Grace")

        async def sent() -> tuple[int, int]:
            at_ada, at_grace = await statistics(ada, grace)
            return at_ada.encoded, at_grace.encoded

        async def nearly_all_is_shown() -> None:
            # Count displayed frames for slightly longer than sent frames, so that the delay between the
            # counts loses no frames.
            shown_before, sent_before = await shown(), await sent()

            async def enough() -> bool:
                return bool(min(map(operator.sub, await sent(), sent_before)) >= PICTURES)

            await wait_until(f"both have sent {PICTURES} frames", enough, within_s=WITHIN_S)
            sent_after, shown_after = await sent(), await shown()
            of_ada, of_grace = map(operator.sub, sent_after, sent_before)
            at_grace, at_ada = map(operator.sub, shown_after, shown_before)
            assert at_grace >= SHOWN * of_ada, f"Grace rendered {at_grace} of {of_ada} frames"
            assert at_ada >= SHOWN * of_grace, f"Ada rendered {at_ada} of {of_grace} frames"

        await retry_scenario(ATTEMPTS, nearly_all_is_shown)
        await asyncio.gather(ada.hears(grace), grace.hears(ada))

        assert link.lost["up"] >= 10 and link.lost["down"] >= 10
        (at_ada,) = await statistics(ada)
        camera = next(track for track in at_ada.sent if track.frames)
        assert camera.nacks > 0, "the service requested packets from Ada"
        assert camera.packets_resent > 0, "Ada resent packets"
        received = at_ada.track("Grace")
        assert received.nacks > 0, "Ada requested packets from the service"
        assert received.packets_resent > 0, "the service resent packets"


@pytest_asyncio.fixture(loop_scope="session")
async def speakers(
    product: SvcUp, browsers: SharedBrowsers, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[People]:
    """Yield users whose microphones play two sentences, because Opus in-band FEC protects only speech."""
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    # The file must outlive the test, because the browser does, and opens it again for each microphone.
    speech = tmp_path_factory.getbasetemp() / "speech.wav"
    if not speech.exists():
        record(speech)
    flags = (*FLAGS, f"--use-file-for-fake-audio-capture={speech}")
    async with browsers.people_at(product.url, executable, flags=flags, still=True) as people:
        yield people
        assert people.faults == []


def record(path: Path) -> None:
    """Write the speech in the format of a fake microphone."""
    with wave.open(str(path), "wb") as file, av.open(str(SPEECH)) as speech:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        resampler = av.AudioResampler("s16", "mono", 48_000)
        for decoded in speech.decode(audio=0):
            for frame in resampler.resample(decoded):
                file.writeframes(frame.to_ndarray().tobytes())


async def test_lost_audio_is_retransmitted_in_both_directions(speakers: People) -> None:
    async with relay(loss=SOUND_LOSS, seed=SEED) as link:
        ada = await speakers.arrive("Ada", link=link)
        grace = await speakers.arrive("Grace")
        await ada.join(camera=False)
        await grace.join(camera=False)
        await asyncio.gather(ada.hears(grace), grace.hears(ada))

        async def received() -> list[tuple[int, int]]:
            at_ada, at_grace = await statistics(ada, grace)
            tracks = (at_grace.track("Ada", "mic"), at_ada.track("Grace", "mic"))
            return [(track.samples, track.concealed) for track in tracks]

        async def nearly_everything_arrives() -> None:
            before = await received()

            async def enough() -> bool:
                return all(
                    now[0] - then[0] >= SAMPLES for now, then in zip(await received(), before, strict=True)
                )

            await wait_until(f"both have played {SAMPLES} samples", enough, within_s=WITHIN_S)
            for whose, now, then in zip(("Ada", "Grace"), await received(), before, strict=True):
                share = (now[1] - then[1]) / (now[0] - then[0])
                assert share <= CONCEALED, f"{share:.1%} of {whose} audio is concealed"

        await retry_scenario(ATTEMPTS, nearly_everything_arrives)
        (at_ada,) = await statistics(ada)
        assert at_ada.track("Grace", "mic").nacks > 0, "Ada requested packets from the service"
        assert sum(track.packets_resent for track in at_ada.sent) > 0, (
            "the service requested packets from Ada, who resent them"
        )


async def test_lost_speech_is_recovered_by_fec_for_a_browser_that_does_not_request_retransmission(
    speakers: People,
) -> None:
    async with relay(loss=LOSS, seed=SEED, repeats_sound=False, takes_red=False) as link:
        ada = await speakers.arrive("Ada")
        grace = await speakers.arrive("Grace", link=link)
        await ada.join(camera=False)
        await grace.join(camera=False)
        await grace.hears(ada)

        async def second_arrives() -> bool:
            (at_grace,) = await statistics(grace)
            return at_grace.track("Ada", "mic").fec_used >= REPAIRED

        await wait_until("lost audio is recovered from later packets", second_arrives, within_s=90)


@pytest.mark.parametrize(
    "is_encrypted",
    [
        pytest.param(
            False, marks=pytest.mark.nightly("the recovery of encrypted speech runs daily"), id="plain"
        ),
        pytest.param(True, id="encrypted"),
    ],
)
async def test_lost_speech_is_recovered_from_redundant_packets(speakers: People, is_encrypted: bool) -> None:
    async with relay(loss=SOUND_LOSS, seed=SEED, repeats_sound=False) as link:
        ada = await speakers.arrive("Ada")
        await ada.come_in()
        if is_encrypted:
            await encrypted(ada)
        await ada.enter_call()
        grace = await speakers.arrive("Grace", link=link)
        await grace.join(camera=False)
        await grace.hears(ada)
        (before,) = await statistics(grace)

        async def most_lost_packets_are_recovered() -> bool:
            nonlocal before
            (now,) = await statistics(grace)
            then, after = before.track("Ada", "mic"), now.track("Ada", "mic")
            lost = after.packets_lost - then.packets_lost
            if lost < ENOUGH_LOST:
                return False
            before = now
            received = lost + after.packets - then.packets
            concealed = (after.concealed - then.concealed) / (after.samples - then.samples)
            # The service does not request FEC from the speaker, because this listener does not need it.
            return concealed < lost / received / 2 and after.fec_used - then.fec_used < lost / 4

        await wait_until("most lost packets are recovered", most_lost_packets_are_recovered, within_s=60)


async def test_a_voice_with_gaps_is_buffered_until_retransmitted_audio_arrives(speakers: People) -> None:
    async with relay(loss=LOSS, seed=SEED, delay_s=0.03) as link:
        link.burst = 4.0
        ada = await speakers.arrive("Ada")
        grace = await speakers.arrive("Grace", link=link)
        await ada.join(camera=False)
        await grace.join(camera=False)
        await ada.hears(grace)

        async def is_buffered() -> bool:
            wait_ms = "() => Math.max(...svc.call.tracks.map(({ receiver }) => receiver.jitterBufferTarget))"
            return bool(await ada.page.evaluate(wait_ms) >= 160)

        await wait_until("the voice is buffered for longer", is_buffered, within_s=90)


async def statistics(*everybody: Person) -> list[Statistics]:
    return list(await asyncio.gather(*(person.statistics() for person in everybody)))
