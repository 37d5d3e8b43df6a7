"""A re-encoded video looks and sounds like the original, with the same orientation, width, colours and
timing.
"""

from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.kit import clips, pictures, videos
from tests.worker.sandboxes import Sandboxes
from tests.worker.sandboxes import sandboxes as sandboxes

# The decoders are loaded once for all tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")

AAC, PCM = ("aac", "stereo", 48_000), ("pcm_s16le", "stereo", 48_000)
CLOSE_S = 0.03


@pytest.mark.parametrize(
    ("matrix", "shown"),
    [
        ((1, 0, 0, 1), "WRGB"),
        ((0, 1, -1, 0), "GWBR"),
        ((-1, 0, 0, -1), "BGRW"),
        ((0, -1, 1, 0), "RBWG"),
        ((-1, 0, 0, 1), "RWBG"),
        ((1, 0, 0, -1), "GBWR"),
        ((0, 1, 1, 0), "WGRB"),
        ((0, -1, -1, 0), "BRGW"),
    ],
)
@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
async def test_the_video_is_rotated_and_mirrored_as_stored(
    sandboxes: Sandboxes, codec: str, matrix: tuple[int, int, int, int], shown: str
) -> None:
    video, written = await sandboxes.rewrite(clips.with_matrix(clips.still(codec), *matrix))
    image, _ = clips.first_image(written)
    poster = pictures.decoded(video.poster.data)
    assert clips.quarters(image) == clips.quarters(poster) == shown
    assert (video.width, video.height) == image.size == poster.size


@pytest.mark.parametrize("aspect", [Fraction(4, 3), Fraction(3, 4)], ids=["wide", "narrow"])
@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
async def test_the_width_follows_the_pixel_aspect_ratio(
    sandboxes: Sandboxes, codec: str, aspect: Fraction
) -> None:
    video, written = await sandboxes.rewrite(clips.still(codec, aspect=aspect))
    size = (128, 64) if aspect > 1 else (96, 84)
    with videos.opened(written) as container:
        stream = container.streams.video[0]
        ratio = float(stream.width * (stream.sample_aspect_ratio or 1) / stream.height)
    assert abs(ratio - aspect * 96 / 64) < 0.05
    assert abs(video.height - size[1]) <= 1 and video.width == size[0]
    assert pictures.decoded(video.poster.data).size[0] == size[0]


@pytest.mark.parametrize(
    ("codec", "options"),
    [("libx264", {"x264-params": "tff=1"}), ("mpeg2video", {"flags": "+ildct+ilme"})],
)
async def test_interlaced_fields_are_combined_into_whole_frames(
    sandboxes: Sandboxes, codec: str, options: dict[str, str]
) -> None:
    source = clips.interlaced(codec, options)
    assert comb(source) > 12, "the source is interlaced"
    video, written = await sandboxes.rewrite(source)
    assert not video.copied and comb(written) < comb(source) / 2
    with videos.opened(written) as container:
        frames = list(container.decode(video=0))
    assert len(frames) == 8 and not any(frame.interlaced_frame for frame in frames)


def comb(data: bytes) -> float:
    """Return by how much each line of a frame differs from its neighbours."""
    with videos.opened(data) as container:
        frame = list(container.decode(video=0))[4]
        image = frame.to_ndarray(format="gray").astype(int)
    return float(abs(image[1:] - image[:-1]).mean())


@pytest.mark.parametrize(
    ("codec", "container", "pixels"),
    [
        ("libx264rgb", "mp4", "rgb24"),
        ("qtrle", "mov", "rgb24"),
        ("png", "mov", "rgb24"),
        ("rawvideo", "avi", "bgr24"),
    ],
)
async def test_rgb_is_converted_to_colours_that_players_support(
    sandboxes: Sandboxes, codec: str, container: str, pixels: str
) -> None:
    _, written = await sandboxes.rewrite(clips.still(codec, container, pixels=pixels))
    image, _ = clips.first_image(written)
    assert clips.quarters(image) == "WRGB"
    with videos.opened(written) as film:
        context = film.streams.video[0].codec_context
        assert (context.colorspace, context.color_range) == (1, 1), "BT.709, limited range"


@pytest.mark.parametrize(
    "make",
    [
        lambda: clips.clip("mpeg4", "matroska", PCM, sound_from=0.4),
        lambda: clips.clip("mpeg4", "mov", AAC, pictures_from=0.4),
        lambda: clips.clip("libx264", "matroska", AAC, sound_from=0.4),
        lambda: clips.clip("libx264", "mp4", AAC, pictures_from=0.4),
        lambda: clips.clip("mpeg4", "matroska", PCM, times=[0, 0.04, 0.5, 0.9, 1.0, 1.01, 1.02, 1.2, 1.55]),
        lambda: clips.edited(clips.clip("mpeg4", "mp4", AAC), [(300, None), (1600, 0)], [(1600, 0.0213)]),
        lambda: clips.edited(clips.clip("libx264", "mp4", AAC), [(1600, 0)], [(300, None), (1600, 0.0213)]),
        lambda: clips.edited(clips.clip("libx264", "mp4", AAC), [(1000, 0.5)], [(1000, 0.5)]),
    ],
    ids=[
        *("late sound", "late pictures", "late sound, copied", "late pictures, copied", "no steady rate"),
        *("pictures moved", "sound moved", "both cut"),
    ],
)
async def test_video_and_audio_stay_in_sync(sandboxes: Sandboxes, make: Callable[[], bytes]) -> None:
    source = make()
    (bright, loud), (_, written) = clips.flash(source), await sandboxes.rewrite(source)
    bright_now, loud_now = clips.flash(written)
    assert bright is not None and loud is not None and bright_now is not None and loud_now is not None
    assert abs(bright_now - bright) < CLOSE_S and abs(loud_now - loud) < CLOSE_S


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
async def test_trimmed_parts_do_not_reappear(sandboxes: Sandboxes, codec: str) -> None:
    """Check frames that an edit list hides from players but that remain in the file."""
    source = clips.edited(clips.clip(codec, "mp4", AAC), [(800, 0.4)], [(800, 0.4)])
    with videos.opened(source) as container:
        shown = sum(1 for _ in container.decode(video=0))
    video, written = await sandboxes.rewrite(source)
    assert shown == clips.frames_kept(written) < clips.frames_kept(source)
    assert 750 <= video.duration_ms <= 900


@pytest.mark.parametrize(
    ("codec", "layout", "rate", "result"),
    [
        ("pcm_s16le", "mono", 8_000, "mono"),
        ("pcm_s16le", "stereo", 11_025, "stereo"),
        ("flac", "5.1", 48_000, "stereo"),
        ("flac", "7.1", 96_000, "stereo"),
        ("pcm_s16le", "3 channels", 44_100, "stereo"),
    ],
)
async def test_every_audio_layout_is_audible(
    sandboxes: Sandboxes, codec: str, layout: str, rate: int, result: str
) -> None:
    _, written = await sandboxes.rewrite(clips.clip("libx264", "matroska", (codec, layout, rate)))
    bright, loud = clips.flash(written)
    assert bright is not None and loud is not None and abs(bright - loud) < CLOSE_S
    with videos.opened(written) as film:
        context = film.streams.audio[0].codec_context
        assert (context.layout.name, context.sample_rate) == (result, 48_000)


@pytest.mark.parametrize("default", [0, 1])
async def test_only_the_default_track_is_kept_if_there_are_several(
    sandboxes: Sandboxes, default: int
) -> None:
    source = clips.clip("libx264", "matroska", AAC, AAC, silent=1 - default, default=default)
    _, written = await sandboxes.rewrite(source)
    assert clips.flash(written)[1] is not None
