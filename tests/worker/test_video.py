"""The worker returns a video that contains only its video and audio tracks, or rejects it with a reason."""

import dataclasses
from pathlib import Path

import pytest
from PIL import Image

from svc.base.sandbox import Refused
from svc.worker.stream_encoders import COLOUR_TAGS
from svc.worker.video_job import Video
from tests.base.test_sandbox import family
from tests.kit import hostile_videos, pictures, videos
from tests.worker.sandboxes import RULES, Sandboxes
from tests.worker.sandboxes import sandboxes as sandboxes

CODES = {"unsupported_type", "invalid_video", "invalid_image", "too_large", "too_long", "timeout"}
# Transfer functions by their H.273 numbers. Phones record HLG.
BT709, PQ, HLG = 1, 16, 18
each_transfer = pytest.mark.parametrize(
    "transfer", [HLG, pytest.param(PQ, marks=pytest.mark.nightly("HLG takes the same path daily"))]
)

# The decoders are loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


def codecs(data: bytes) -> list[str]:
    with videos.opened(data) as container:
        return [stream.codec.canonical_name for stream in container.streams]


def frames(data: bytes) -> int:
    with videos.opened(data) as container:
        return sum(1 for _ in container.decode(video=0))


def threads(pid: int) -> int:
    return len([*Path(f"/proc/{pid}/task").iterdir()])


@pytest.mark.parametrize(
    ("codec", "sound", "container", "ext", "result"),
    [
        ("libx264", "aac", "mp4", "mp4", ["h264", "aac"]),
        ("libx264", "aac", "mov", "mp4", ["h264", "aac"]),
        ("libx264", None, "mp4", "mp4", ["h264"]),
        ("libvpx", "libopus", "webm", "webm", ["vp8", "opus"]),
        ("libvpx-vp9", "libopus", "webm", "webm", ["vp9", "opus"]),
        ("libsvtav1", "libopus", "webm", "webm", ["av1", "opus"]),
        # Only the audio is encoded again.
        ("libx264", "libopus", "matroska", "mp4", ["h264", "aac"]),
        ("libvpx", "pcm_s16le", "matroska", "webm", ["vp8", "opus"]),
    ],
)
async def test_a_video_that_every_browser_can_play_is_copied_without_re_encoding(
    sandboxes: Sandboxes, codec: str, sound: str | None, container: str, ext: str, result: list[str]
) -> None:
    video, data = await sandboxes.rewrite(videos.video(codec, sound, container))
    assert (video.copied, video.ext, video.content_type) == (True, ext, f"video/{ext}")
    assert (video.width, video.height) == (96, 64)
    assert 1950 <= video.duration_ms <= 2100
    assert codecs(data) == result
    assert frames(data) == 50


@pytest.mark.parametrize(
    ("codec", "sound", "container", "pixels"),
    [
        ("mpeg4", "mp3", "mov", "yuv420p"),
        ("prores_ks", "pcm_s16le", "mov", "yuv422p10le"),
        ("libx264", "aac", "mp4", "yuv444p"),
        ("mpeg4", "ac3", "matroska", "yuv420p"),
        ("mjpeg", None, "mov", "yuvj420p"),
        ("mpeg4", "mp3", "avi", "yuv420p"),
        ("mjpeg", "pcm_s16le", "avi", "yuvj420p"),
        ("libx264", "aac", "avi", "yuv420p"),
    ],
)
async def test_videos_that_some_browsers_cannot_play_are_re_encoded(
    sandboxes: Sandboxes, codec: str, sound: str | None, container: str, pixels: str
) -> None:
    video, data = await sandboxes.rewrite(videos.video(codec, sound, container, pixels=pixels))
    assert (video.copied, video.ext) == (False, "mp4")
    assert codecs(data) == (["h264", "aac"] if sound else ["h264"])
    assert frames(data) == 50
    assert 1950 <= video.duration_ms <= 2100


async def test_the_process_that_forks_has_no_threads_that_children_could_wait_for(
    sandboxes: Sandboxes,
) -> None:
    await sandboxes.rewrite(videos.video())
    waiting = family(sandboxes.videos)
    assert waiting
    assert [threads(pid) for pid in waiting] == [1] * len(waiting)


async def test_the_index_of_a_video_precedes_the_media_data(sandboxes: Sandboxes) -> None:
    # This lets a player start before the whole file has arrived.
    for data in (videos.video(), videos.video("mpeg4", "aac", "mov")):
        _, written = await sandboxes.rewrite(data)
        assert written.index(b"moov") < written.index(b"mdat")


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
@pytest.mark.parametrize("container", ["mp4", "mov", "matroska", "avi"])
async def test_locations_and_names_are_removed(sandboxes: Sandboxes, codec: str, container: str) -> None:
    video = videos.video(codec, "aac", container, metadata=True)
    if container in ("mp4", "mov"):
        video = videos.with_places(video)
    # AVI files have no field for a location.
    assert pictures.SECRET in video and (container == "avi" or videos.PLACE.encode() in video)
    _, written = await sandboxes.rewrite(video)
    assert not any(
        mark in written
        for mark in (
            pictures.SECRET,
            b"+52.52",
            b"\xa9xyz",
            b"ISO6709",
            b"location",
            b"xmpmeta",
            b"uuid",
            b"Lavf",
        )
    )
    with videos.opened(written) as film:
        assert set(film.metadata) <= {"major_brand", "minor_version", "compatible_brands"}
        for stream in film.streams:
            assert set(stream.metadata) <= {"language", "handler_name"}


async def test_data_that_an_encoder_stored_between_the_frames_is_removed(sandboxes: Sandboxes) -> None:
    data = videos.video("libx264")
    assert b"x264 - core" in data
    _, written = await sandboxes.rewrite(data)
    assert b"x264" not in written


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
async def test_videos_are_rotated_upright(sandboxes: Sandboxes, codec: str) -> None:
    video, written = await sandboxes.rewrite(videos.turned(videos.video(codec)))
    assert (video.width, video.height) == (64, 96) == (video.poster.width, video.poster.height)
    frame = videos.first_frame(written)
    image = Image.frombytes("RGB", (frame.width, frame.height), bytes(frame.to_ndarray(format="rgb24")))
    shown = image.rotate(frame.rotation, expand=True)
    assert shown.size == (64, 96)
    still = pictures.decoded(video.poster.data).convert("RGB")
    for image in (shown, still):
        # Red was at the top. After a clockwise rotation it is on the right.
        right, left = image.getpixel((55, 48)), image.getpixel((8, 48))
        assert isinstance(right, tuple) and isinstance(left, tuple)
        assert right[0] > 100 > right[2] and left[2] > 100 > left[0]


async def test_a_poster_shows_a_frame_of_the_video(sandboxes: Sandboxes) -> None:
    video, _ = await sandboxes.rewrite(videos.video(frames=100))
    assert pictures.decoded(video.poster.data).size == (96, 64)
    assert video.poster.thumbnail is not None
    assert len(video.poster.placeholder) == 28 and video.poster.colour.startswith("#")


@pytest.fixture(scope="module")
def rewritten() -> dict[int, tuple[bytes, Video, bytes]]:
    """Return a cache of rewritten HDR videos by transfer function, because each poster takes five seconds."""
    return {}


async def hdr(
    sandboxes: Sandboxes, rewritten: dict[int, tuple[bytes, Video, bytes]], transfer: int
) -> tuple[bytes, Video, bytes]:
    """Return a source video with this transfer function, and the worker's output for it, both parsed and as
    bytes.
    """
    if transfer not in rewritten:
        source = videos.video("libx265", pixels="yuv420p10le", colour=tagged(9, 9, transfer, 1), frames=5)
        rewritten[transfer] = (source, *await sandboxes.rewrite(source))
    return rewritten[transfer]


def tagged(colorspace: int, primaries: int, transfer: int, range_: int) -> dict[str, int]:
    return dict(zip(COLOUR_TAGS, (colorspace, primaries, transfer, range_), strict=True))


@pytest.mark.parametrize(
    ("pixels", "colour"),
    [
        ("yuv420p", tagged(6, 6, 6, 1)),  # BT.601
        ("yuvj420p", tagged(1, 1, 1, 2)),  # BT.709 in full range
    ],
)
async def test_encoded_colours_keep_their_meaning(
    sandboxes: Sandboxes, pixels: str, colour: dict[str, int]
) -> None:
    source = videos.video("libx265", pixels=pixels, colour=colour, frames=5)
    keeps_colours(source, *await sandboxes.rewrite(source), colour)


@each_transfer
async def test_encoded_hdr_colours_keep_their_meaning(
    sandboxes: Sandboxes, rewritten: dict[int, tuple[bytes, Video, bytes]], transfer: int
) -> None:
    keeps_colours(*await hdr(sandboxes, rewritten, transfer), tagged(9, 9, transfer, 1))


def keeps_colours(source: bytes, video: Video, written: bytes, colour: dict[str, int]) -> None:
    assert not video.copied
    with videos.opened(written) as given:
        context = given.streams.video[0].codec_context
        assert {tag: getattr(context, tag) for tag in COLOUR_TAGS} == colour
    before, after = (videos.first_frame(data).to_ndarray(format="rgb24") for data in (source, written))
    assert abs(before.astype(int) - after).mean() < 6


@each_transfer
async def test_the_poster_for_an_hdr_video_has_bt709_colours(
    sandboxes: Sandboxes, rewritten: dict[int, tuple[bytes, Video, bytes]], transfer: int
) -> None:
    posters = {}
    for shown in (BT709, HLG, transfer):
        _, video, _ = await hdr(sandboxes, rewritten, shown)
        pixel = pictures.decoded(video.poster.data).convert("RGB").getpixel((48, 16))
        assert isinstance(pixel, tuple)
        posters[shown] = pixel
    # PQ values go up to 10,000 cd/m², so they are shown brighter. HLG values are close to those of a display.
    assert abs(posters[HLG][0] - posters[BT709][0]) < 60
    assert transfer == HLG or posters[PQ][0] > posters[BT709][0]
    assert len(set(posters.values())) == len(posters)


async def test_progress_on_a_video_is_reported(sandboxes: Sandboxes) -> None:
    await sandboxes.rewrite(videos.video("mpeg4", "mp3", "mov", frames=200))
    assert len(sandboxes.reported) > 20
    assert sandboxes.reported == sorted(sandboxes.reported) and 0.95 < sandboxes.reported[-1] <= 1.0


async def test_large_videos_are_scaled_down(sandboxes: Sandboxes) -> None:
    rules = dataclasses.replace(RULES, max_side=48)
    video, written = await sandboxes.rewrite(videos.video("mpeg4"), rules)
    frame = videos.first_frame(written)
    assert (video.width, video.height) == (48, 32) == (frame.width, frame.height)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"max_duration_s": 1}, "too_long"),
        ({"max_pixels": 96 * 64 - 1}, "too_large"),
        ({"max_packets": 49}, "too_large"),
        ({"max_bytes": 1000}, "too_large"),
        ({"deadline_s": 0.001}, "timeout"),
    ],
    ids=str,
)
async def test_every_limit_on_videos_is_enforced(
    sandboxes: Sandboxes, change: dict[str, float], code: str
) -> None:
    refused = await sandboxes.refusal(videos.video(), dataclasses.replace(RULES, **change))  # type: ignore[arg-type]
    assert refused.code == code, refused.detail


@pytest.mark.timeout(300)
async def test_hostile_videos_are_rejected(sandboxes: Sandboxes) -> None:
    for name, (data, codes) in hostile_videos.refused().items():
        refused = await sandboxes.refusal(data)
        assert refused.code in codes, (name, refused.detail)


async def test_a_reference_from_a_video_to_another_file_is_not_followed(sandboxes: Sandboxes) -> None:
    try:
        _, written = await sandboxes.rewrite(hostile_videos.leading_elsewhere())
    except Refused as refused:
        assert refused.code == "invalid_video"
    else:
        assert b"root:" not in written


async def test_truncated_videos_are_rejected_or_can_be_played(sandboxes: Sandboxes) -> None:
    for whole in (videos.video(frames=10), videos.video("libvpx", "libopus", "webm", frames=10)):
        for length in range(0, len(whole), len(whole) // 15):
            await survives(sandboxes, f"{length} bytes", whole[:length])


@pytest.mark.parametrize("seed", [1])
async def test_mutated_videos_are_rejected_or_can_be_played(sandboxes: Sandboxes, seed: int) -> None:
    for name, data in hostile_videos.mutations(seed, 12):
        await survives(sandboxes, name, data)


@pytest.mark.nightly("2,000 mutations; twelve run daily")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(2, 7))
async def test_many_mutated_videos_are_rejected_or_can_be_played(sandboxes: Sandboxes, seed: int) -> None:
    for name, data in hostile_videos.mutations(seed, 400):
        await survives(sandboxes, name, data)
    assert (await sandboxes.rewrite(videos.video()))[0].copied


async def survives(sandboxes: Sandboxes, name: str, data: bytes) -> None:
    try:
        _, written = await sandboxes.rewrite(data)
    except Refused as refused:
        assert refused.code in CODES, (name, refused.detail)
    else:
        assert pictures.SECRET not in written and b"+52.52" not in written, name
        assert codecs(written)[0] in ("h264", "vp8", "vp9", "av1"), name
