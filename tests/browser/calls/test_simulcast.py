"""Each receiver of a camera can request one of three sizes, whether Chromium or Firefox sends the camera.

The sizes are separate encodings (simulcast) or spatial layers of one stream (SVC). See docs/signalling.md,
"Several encodings".
"""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.browser.calls.test_encrypted_channels import encrypted
from tests.browser.calls.test_private_calls import assert_sealed, recorder
from tests.kit import encoder_log
from tests.kit.browser_users import Capture, People, Person
from tests.kit.community import ask, own_id
from tests.kit.depacketise import vp8
from tests.kit.firefox import Firefox, FirefoxPerson
from tests.kit.page_statistics import Watcher
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

CAPTURE = Capture(960, 540, 15)
# A receiver gets only the smallest size until the bandwidth of its downlink has been measured.
DEADLINE_S, SWITCHED_WITHIN_S = 30, 10
PICTURE = """async () => {
  const entries = [...(await svc.call.pc.getStats()).values()];
  const picture = entries.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  return [picture?.frameHeight ?? 0, picture?.freezeCount ?? 0];
}"""
# Returns the rids of the encodings that are being sent.
SENT = """() => {
  const { sender } = svc.call.pc.getTransceivers().find(({ mid }) => mid === "1");
  return sender.getParameters().encodings.filter(({ active }) => active).map(({ rid }) => rid);
}"""
# Returns the first codecs for our own camera and screen in the offer that the page gave to the browser.
FIRST_CODECS = r"""() => ["1", "2"].map((mid) => {
  const sections = svc.call.pc.remoteDescription.sdp.split(/^(?=m=)/m);
  const section = sections.find((each) => each.includes(`a=mid:${mid}\r`));
  const [, type] = /^m=video \S+ \S+ (\d+)/.exec(section);
  return new RegExp(`a=rtpmap:${type} ([A-Z0-9]+)`).exec(section)[1];
})"""
# Adds spatial layers, because the page requests only temporal layers. The bitrate is high enough for all of
# them.
SVC = """const set = RTCRtpSender.prototype.setParameters;
RTCRtpSender.prototype.setParameters = function (parameters, ...rest) {
  const svc = { scalabilityMode: "L3T3_KEY", scaleResolutionDownBy: 1, maxBitrate: 1_500_000 };
  const isOurs = ({ scalabilityMode }) => scalabilityMode === "L1T3";
  const encodings = parameters.encodings.map((each) => (isOurs(each) ? { ...each, ...svc } : each));
  return set.call(this, { ...parameters, encodings }, ...rest);
};"""
# Returns the current height of each encoding that is being sent, by rid.
SENT_HEIGHTS = """async () => {
  const sent = [...(await svc.call.pc.getStats()).values()]
    .filter(({ type, rid, frameHeight }) => type === "outbound-rtp" && rid && frameHeight);
  return Object.fromEntries(sent.map(({ rid, frameHeight }) => [rid, frameHeight]));
}"""
# Returns the number of encoded frames of each encoding by its rid, which is "" for a single encoding.
ENCODED_FRAMES = """async () => {
  const sent = [...(await svc.call.pc.getStats()).values()]
    .filter(({ type, kind }) => type === "outbound-rtp" && kind === "video");
  return Object.fromEntries(sent.map(({ rid, framesEncoded }) => [rid ?? "", framesEncoded]));
}"""
# The share of displayed frames is measured over this period, which must contain at least this many frames.
SHARE_S, SHARE_FRAMES = 3.0, 12
# The minimum and maximum height of each spatial layer of CAPTURE. They differ because a busy browser scales
# down a little.
HEIGHTS = {0: (60, 140), 1: (170, 280), 2: (330, 540), -1: (330, 540)}
RIDS = {0: "q", 1: "h", 2: "f", -1: "f"}


async def shows(person: Watcher, layer: int, *, within_s: float = SWITCHED_WITHIN_S) -> None:
    """Wait for a video frame with this layer's height."""
    lowest, highest = HEIGHTS[layer]

    async def so() -> bool:
        height, _ = await person.evaluate(PICTURE)
        return lowest <= int(height) <= highest

    await wait_until(f"{person.name} sees layer {layer}", so, within_s=within_s)


async def shows_encoding(
    person: Watcher, sender: Watcher, layer: int, *, within_s: float = SWITCHED_WITHIN_S
) -> None:
    """Wait for a video frame with the layer's current height in the sender's encoder.

    A busy browser encodes its camera at a smaller size, and Firefox halves each height. H.264 rounds 135
    lines to 134.
    """

    async def so() -> bool:
        sent = await sender.evaluate(SENT_HEIGHTS)
        height, _ = await person.evaluate(PICTURE)
        if not {"q", RIDS[layer]} <= sent.keys():
            return False
        return bool(abs(height - sent[RIDS[layer]]) <= 2 and (RIDS[layer] == "q" or height > 1.5 * sent["q"]))

    await wait_until(f"{person.name} sees encoding {RIDS[layer]}", so, within_s=within_s)


async def want(person: Watcher, sender: str, layer: int, *, temporal: int = -1) -> None:
    track_id = (await person.statistics()).track(sender).track_id
    layers = json.dumps({"max_spatial_layer": layer, "max_temporal_layer": temporal})
    await person.evaluate(f"() => {{ svc.call.requestLayers({json.dumps(track_id)}, {layers}); }}")


async def sends(person: Watcher, *rids: str) -> None:
    """Wait until exactly these encodings are being sent."""

    async def so() -> bool:
        return list(await person.evaluate(SENT)) == list(rids)

    await wait_until(f"{person.name} sends {rids}", so, within_s=DEADLINE_S)


async def shows_share(
    person: Watcher, sender: Watcher, rid: str, lowest: float, highest: float, *, spatial_layers: int = 1
) -> None:
    """Wait for a period in which the receiver displays this share of an encoding's frames.

    Browsers count each spatial layer of a frame as an encoded frame.
    """

    async def counts() -> tuple[int, int]:
        encoded = await sender.evaluate(ENCODED_FRAMES)
        return int(encoded[rid]), (await person.statistics()).frames(sender.name)

    async def so() -> bool:
        before = await counts()
        await asyncio.sleep(SHARE_S)
        after = await counts()
        encoded = (after[0] - before[0]) / spatial_layers
        return encoded >= SHARE_FRAMES and lowest <= (after[1] - before[1]) / encoded <= highest

    await wait_until(f"{person.name} sees {lowest} to {highest} of {rid}", so, within_s=DEADLINE_S)


async def check_temporal_layers(receiver: Watcher, sender: Watcher) -> None:
    """Check that the receiver can request a lower frame rate of the smallest and the largest encoding."""
    for layer in (0, 2):
        for temporal, lowest, highest in ((0, 0.15, 0.35), (1, 0.4, 0.6), (-1, 0.8, 1.2)):
            await want(receiver, sender.name, layer, temporal=temporal)
            await shows_share(receiver, sender, RIDS[layer], lowest, highest)
            await shows_encoding(receiver, sender, layer)


async def check_each_size(receiver: Watcher, sender: Watcher, *, temporal: bool = False) -> None:
    await shows_encoding(receiver, sender, -1, within_s=DEADLINE_S)
    # The smallest encoding is always sent, and the others only if somebody is watching them.
    await sends(sender, "q", "f")
    for layer in (0, 1, 2, 1, -1):
        await want(receiver, sender.name, layer)
        await shows_encoding(receiver, sender, layer)
        await receiver.sees(sender)
    if temporal:
        await check_temporal_layers(receiver, sender)
    await want(receiver, sender.name, 0)
    await sends(sender, "q")


async def publisher(people: People, *, codec: str = "", encrypting: bool = False) -> Person:
    """Have Ada join the call with a high-resolution camera."""
    ada = await people.arrive("Ada", capture=CAPTURE, codec=codec)
    await ada.come_in()
    if encrypting:
        await encrypted(ada)
    await ada.enter_call(camera=True)
    return ada


async def viewer(people: People, *, codec: str = "", encrypting: bool = False) -> Person:
    """Have Grace join the call in a window that is wide enough for the largest size.

    Her camera is off, because encoding her video would take more CPU time than receiving Ada's.
    """
    grace = await people.arrive("Grace", codec=codec)
    await grace.resize({"width": 1280, "height": 900})
    await grace.come_in()
    if encrypting:
        await encrypted(grace)
    await grace.enter_call()
    return grace


async def sends_back(grace: Person, ada: Watcher) -> None:
    """Turn on the viewer's camera. Check that the sender sees the video."""
    await grace.press("Start camera")
    await ada.sees(grace)


@pytest.mark.parametrize(
    "codec",
    [
        pytest.param("VP8", marks=pytest.mark.nightly("the same sizes run encrypted daily")),
        "VP9",
        *(
            pytest.param(codec, marks=pytest.mark.nightly("VP9 and VP8 are sent in three sizes daily"))
            for codec in ("H264", "AV1")
        ),
    ],
)
async def test_chromium_can_switch_between_the_camera_sizes_that_chromium_sends(
    people: People, codec: str
) -> None:
    ada, grace = await publisher(people, codec=codec), await viewer(people, codec=codec)
    await check_each_size(grace, ada, temporal=True)
    await sends_back(grace, ada)


async def test_all_sizes_of_a_camera_in_an_encrypted_channel_are_encrypted(
    people: People, product: SvcUp, tmp_path: Path
) -> None:
    ada, grace = await publisher(people, encrypting=True), await viewer(people)
    await check_each_size(grace, ada)
    await sends_back(grace, ada)
    [channel] = [
        channel
        for channel in (await ask(ada, "GET", "/api/channels"))["channels"]
        if channel["type"] == "voice"
    ]
    ada_id = await own_id(ada)
    async with recorder(product, tmp_path / "data", channel["id"]) as client:

        async def camera_arrives() -> bool:
            return any(
                (track.user_id, track.source) == (ada_id, "camera") for track in client.incoming.values()
            )

        await wait_until("the recorder has Ada's camera", camera_arrives, within_s=DEADLINE_S)
        (mid, line), *_ = [
            (mid, track)
            for mid, track in client.incoming.items()
            if (track.user_id, track.source) == (ada_id, "camera")
        ]
        for layer in (0, 1, 2):
            await client.send("set_layer", {"mid": mid, "max_temporal_layer": -1, "max_spatial_layer": layer})

            async def arrives(layer: int = layer) -> bool:
                lowest, highest = HEIGHTS[layer]
                return any(lowest <= height <= highest for height in heights_of(line.payloads))

            # Only the track's last few hundred payloads are stored, so check each size before requesting the
            # next one.
            await wait_until(f"the recorder has a keyframe of layer {layer}", arrives, within_s=DEADLINE_S)
            assert_sealed(line)


def heights_of(payloads: Iterable[bytes]) -> set[int]:
    """Return the heights of the VP8 keyframes. Their first 10 bytes are not encrypted."""
    starts = (vp8([payload]) for payload in payloads if payload[0] & 0x10 and not payload[0] & 7)
    return {
        int.from_bytes(data[8:10], "little") & 0x3FFF for data in starts if len(data) > 50 and not data[0] & 1
    }


async def layered_stream(people: People, codec: str) -> tuple[Person, Person]:
    """Have Ada send a single stream of nine layers. Wait until Grace sees the highest layers."""
    ada = await people.arrive("Ada", capture=Capture(960, 540, 10), codec=f"{codec}&simulcast=off")
    await ada.page.evaluate(f"() => {{ {SVC} }}")
    await ada.join()
    grace = await viewer(people)
    await shows(grace, -1, within_s=DEADLINE_S)
    return ada, grace


@pytest.mark.parametrize(
    "codec", ["VP9", pytest.param("AV1", marks=pytest.mark.nightly("VP9 has the same layers daily"))]
)
async def test_a_receiver_is_switched_between_the_spatial_layers_of_one_stream(
    people: People, codec: str
) -> None:
    ada, grace = await layered_stream(people, codec)
    for layer in (0, 1, 2, 0):
        await want(grace, "Ada", layer)
        await shows(grace, layer)
        await grace.sees(ada)
    assert (await grace.statistics()).track("Ada").codec == f"video/{codec}"


@pytest.mark.nightly("the frame rates of three encodings are lowered daily")
@pytest.mark.parametrize("codec", ["VP9", "AV1"])
async def test_a_receiver_gets_a_lower_frame_rate_of_one_layered_stream(people: People, codec: str) -> None:
    ada, grace = await layered_stream(people, codec)
    for layer in (0, 2):
        for temporal, lowest, highest in ((0, 0.15, 0.35), (1, 0.4, 0.6), (-1, 0.8, 1.2)):
            await want(grace, "Ada", layer, temporal=temporal)
            await shows_share(grace, ada, "", lowest, highest, spatial_layers=3)
            await shows(grace, layer)


async def test_encodings_stop_without_viewers_and_restart_on_request(people: People) -> None:
    ada = await people.arrive("Ada", capture=CAPTURE)
    await ada.page.evaluate(f"() => {{ {encoder_log.SCRIPT} }}")
    await ada.join()
    grace = await viewer(people)
    await shows(grace, -1, within_s=DEADLINE_S)
    track_id = (await grace.statistics()).track("Ada").track_id

    paused_ms = await encoder_log.request_layers(grace, track_id, "{ paused: true }")
    await sends(ada)
    resumed_ms = await encoder_log.request_layers(grace, track_id, "{ paused: false }")
    await shows(grace, -1, within_s=DEADLINE_S)
    await grace.sees(ada)

    # The page stops its encoders only when the service reports that there are no viewers, and restarts them
    # when it reports one.
    log = await encoder_log.entries(ada)
    for since_ms, largest in ((paused_ms, False), (resumed_ms, True)):
        events = [entry.event for entry in log if entry.at_ms >= since_ms and entry.encodings[-1] is largest]
        assert events[0] == "wanted" and "set" in events


@pytest.mark.nightly("Chromium sends three sizes daily, and Firefox is in an encrypted channel daily")
@pytest.mark.parametrize("encrypting", [False, True], ids=["plain", "encrypted"])
async def test_firefox_also_sends_a_camera_in_three_sizes(
    people: People, fox: Firefox, product: SvcUp, encrypting: bool
) -> None:
    grace = await viewer(people, encrypting=encrypting)
    ada: FirefoxPerson = await fox.arrive("Ada", product.url)
    await ada.join()
    await check_each_size(grace, ada)
    await sends_back(grace, ada)
    # The page prefers VP8, because Firefox encodes all VP9 encodings at the smallest size and may lack H264.
    assert await ada.evaluate(FIRST_CODECS) == ["VP8", "VP8"]
    assert (await grace.statistics()).track("Ada").codec == "video/VP8"
