"""A link's bandwidth is divided among videos, each of which can be sent at several levels."""

import pytest

from svc.sfu.allocation import PAUSED, UNLIMITED, Allocator, Limit, Video, ladder, plan, wanted_bps

K = 1_000.0
# A camera's encodings, each with its bitrates by temporal layer.
CAMERA = ((60 * K, 90 * K, 150 * K), (180 * K, 270 * K, 450 * K), (500 * K, 750 * K, 1_200 * K))
ONE_ENCODING = (CAMERA[2],)


def limits(levels: dict[str, int], *videos: Video) -> dict[str, Limit]:
    return {video.key: video.levels[levels[video.key]].limit for video in videos}


def camera(key: str, priority: int = 50, width: int = 0) -> Video:
    return Video(key, ladder(CAMERA, -1, -1, screen=False), priority, width)


def screen(key: str, priority: int = 50) -> Video:
    return Video(key, ladder(CAMERA, -1, -1, screen=True), priority, screen=True)


@pytest.mark.parametrize(
    ("encodings", "requested", "is_screen", "steps"),
    [
        pytest.param(CAMERA, (-1, -1), False, ["q0", "q1", "q", "h1", "h", "f1", "all"], id="camera"),
        pytest.param(CAMERA, (-1, -1), True, ["q0", "h0", "f0", "f1", "all"], id="screen"),
        pytest.param(
            CAMERA, (1, -1), False, ["q0", "q1", "q", "h1", "all"], id="a request for a smaller encoding"
        ),
        pytest.param(CAMERA, (0, 0), False, ["all"], id="a request for the lowest layers"),
        pytest.param(ONE_ENCODING, (-1, -1), False, ["0", "1", "all"], id="one encoding"),
        pytest.param(((90 * K,), (), ()), (-1, -1), False, ["all"], id="no temporal layers"),
        pytest.param(
            ((), CAMERA[1], ()), (0, -1), False, ["h0", "h1", "all"], id="the requested encoding is not sent"
        ),
        pytest.param(((150 * K,), (155 * K,)), (-1, -1), False, ["all"], id="a step that costs nothing"),
        pytest.param(((), (), ()), (-1, -1), False, ["all"], id="nothing is sent"),
    ],
)
def test_the_levels_of_a_video_are_the_steps_by_which_its_quality_can_be_reduced(
    encodings: tuple[tuple[float, ...], ...], requested: tuple[int, int], is_screen: bool, steps: list[str]
) -> None:
    levels = ladder(encodings, *requested, screen=is_screen)
    assert levels[0].limit == PAUSED
    assert [name(level.limit) for level in levels[1:]] == steps
    assert [level.bps for level in levels] == sorted(level.bps for level in levels)


def name(limit: Limit) -> str:
    if limit == UNLIMITED:
        return "all"
    return ("qhf"[limit.spatial] if limit.spatial >= 0 else "") + (
        str(limit.temporal) if limit.temporal >= 0 else ""
    )


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (50 * K, ["paused", "paused", "paused"]),
        (70 * K, ["paused", "paused", "q0"]),
        (310 * K, ["q0", "q0", "h0"]),
        (700 * K, ["q1", "q1", "f0"]),
        (2_000 * K, ["h1", "h", "all"]),
        (2_900 * K, ["h", "all", "all"]),
        (9_000 * K, ["all", "all", "all"]),
    ],
)
def test_bandwidth_goes_to_a_sharp_screen_first_then_to_every_video_then_by_priority(
    budget: float, expected: list[str]
) -> None:
    videos = [camera("small", 30, 160), camera("speaker", 70), screen("screen", 90)]
    chosen = limits(plan(videos, budget), *videos)
    shown = ["paused" if limit.paused else name(limit) for limit in chosen.values()]
    assert shown == expected


def test_with_equal_priority_videos_take_turns_being_raised_starting_with_the_wider_tile() -> None:
    videos = [camera("narrow", width=320), camera("wide", width=640), camera("unknown")]
    levels = plan(videos, 200 * K)
    assert levels == {"narrow": 1, "wide": 1, "unknown": 1}
    levels = plan(videos, 215 * K)
    assert levels == {"narrow": 1, "wide": 1, "unknown": 2}
    levels = plan(videos, 245 * K)
    assert levels == {"narrow": 1, "wide": 2, "unknown": 2}


@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        (50 * K, []),
        (70 * K, ["large"]),
        (130 * K, ["large", "medium"]),
        (190 * K, ["large", "medium", "small"]),
        (250 * K, ["large", "medium", "small", "tiny"]),
    ],
)
def test_if_only_some_cameras_fit_those_in_the_widest_tiles_are_shown(
    budget: float, shown: list[str]
) -> None:
    videos = [
        camera("tiny", width=90),
        camera("large", width=640),
        camera("small", width=160),
        camera("medium", width=320),
    ]
    levels = plan(videos, budget)
    assert sorted(key for key, level in levels.items() if level) == sorted(shown)


def test_cameras_are_paused_from_the_narrowest_tile_to_the_widest_and_resume_in_reverse_order() -> None:
    allocator = Allocator()
    videos = [camera("small", width=160), camera("large", width=640), camera("medium", width=320)]
    allocator.review(videos, 3_000 * K, 0, 0.0)

    def shown(estimate: float, now: float) -> set[str]:
        limits = allocator.review(videos, estimate, 0, now)
        return {key for key, limit in limits.items() if not limit.paused}

    falling = [shown(estimate * K, now) for now, estimate in enumerate((190, 150, 90, 50), 1)]
    assert falling == [{"large", "medium", "small"}, {"large", "medium"}, {"large"}, set()]
    rising = [shown(estimate * K, now) for now, estimate in enumerate((150, 240, 330), 20)]
    assert rising == [{"large"}, {"large", "medium"}, {"large", "medium", "small"}]


def test_each_video_has_its_lowest_level_until_the_link_has_been_measured() -> None:
    videos = [camera("a"), camera("b")]
    assert set(Allocator().review(videos, None, 0, 0.0).values()) == {Limit(0, 0)}


def test_a_drop_in_the_estimate_lowers_videos_immediately_unless_it_is_within_tolerance() -> None:
    allocator, videos = Allocator(), [camera("a", 70), camera("b", 30)]
    assert set(allocator.review(videos, 3_000 * K, 0, 0.0).values()) == {UNLIMITED}
    assert set(allocator.review(videos, 2_200 * K, 0, 1.0).values()) == {UNLIMITED}
    chosen = allocator.review(videos, 1_400 * K, 0, 1.001)
    assert chosen == {"a": UNLIMITED, "b": Limit(0, -1)}


def test_a_screens_keyframe_does_not_lower_it_but_a_sustained_rate_or_a_lower_estimate_does() -> None:
    usual, keyframe = (Video("s", ladder([[bps]], -1, -1, screen=True), screen=True) for bps in (1e6, 3e6))
    fits = [(0, usual, 2e6), (1, usual, 2e6)]
    for course, paused in (
        ([*fits, (2, keyframe, 2e6), (3, usual, 2e6), (4, keyframe, 2e6)], False),
        ([*fits, (2, keyframe, 8e5)], True),
        ([*fits, (2, keyframe, 2e6), (4, keyframe, 2e6), (5, keyframe, 2e6)], True),
    ):
        allocator = Allocator()
        decisions = [allocator.review([video], estimate, 0, at) for at, video, estimate in course][-1]
        assert (decisions["s"] == PAUSED) == paused


def test_a_screen_with_a_single_level_resumes_at_an_estimate_that_probing_can_reach() -> None:
    text = Video("s", ladder([[1_500 * K]], -1, -1, screen=True), screen=True)
    allocator = Allocator()
    assert allocator.review([text], 300 * K, 50 * K, 0)["s"] == PAUSED
    reached = 0.9 * wanted_bps([text], 50 * K)
    assert allocator.review([text], reached, 50 * K, 5)["s"] == UNLIMITED


def test_audio_and_fixed_tracks_get_their_share_of_the_budget_first() -> None:
    allocator, videos = Allocator(), [camera("a")]
    allocator.review(videos, 2_000 * K, 0, 0.0)
    assert allocator.review(videos, 500 * K, 460 * K, 1.0) == {"a": PAUSED}
    assert allocator.review(videos, 100 * K, 460 * K, 2.0) == {"a": PAUSED}


def test_paused_videos_return_together_and_are_then_raised_one_at_a_time_by_priority() -> None:
    allocator, videos = Allocator(), [camera("a", 30), camera("b", 70), camera("c", 50)]
    assert set(allocator.review(videos, 100 * K, 90 * K, 0.0).values()) == {PAUSED}
    before = dict(allocator.review(videos, 9_000 * K, 90 * K, 1.0))
    assert set(before.values()) == {Limit(0, 0)}
    order: list[str] = []
    for step in range(1, 100):
        after = allocator.review(videos, 9_000 * K, 90 * K, 1.0 + 0.05 * step)
        raised = [key for key in after if after[key] != before[key]]
        assert len(raised) <= 1
        order += raised
        before = dict(after)
    assert order == ["b", "c", "a"]
    assert set(before.values()) == {UNLIMITED} and allocator.next_review == float("inf")


def test_a_paused_video_returns_only_with_ample_headroom() -> None:
    allocator, videos = Allocator(), [camera("a")]
    allocator.review(videos, 100 * K, 90 * K, 0.0)
    lowest = videos[0].levels[1].bps
    assert allocator.review(videos, 1.4 * (90 * K + lowest), 90 * K, 1.0) == {"a": PAUSED}
    assert allocator.review(videos, 1.5 * (90 * K + lowest) + 60 * K, 90 * K, 2.0) == {"a": Limit(0, 0)}


def test_a_failed_raise_is_retried_only_at_a_higher_estimate() -> None:
    allocator, videos = Allocator(), [camera("a")]
    allocator.review(videos, 1_000 * K, 0, 0.0)
    assert allocator.review(videos, 1_500 * K, 0, 1.0) == {"a": UNLIMITED}
    allocator.review(videos, 700 * K, 0, 2.0)
    # The same misleading estimate appears again, and then one that is clearly higher.
    assert allocator.review(videos, 1_500 * K, 0, 4.0) != {"a": UNLIMITED}
    assert allocator.review(videos, 2_200 * K, 0, 5.0) == {"a": UNLIMITED}


def test_a_raise_that_fails_on_a_narrower_link_is_retried_before_the_estimate_of_the_wider_link_returns() -> (
    None
):
    allocator, videos = Allocator(), [camera("a"), camera("b")]
    allocator.review(videos, 1_000 * K, 90 * K, 0.0)
    for step in range(20):
        allocator.review(videos, 6_000 * K, 90 * K, 1.0 + 0.25 * step)
    # The service cannot tell whether the last raise was too large or the link has become narrower.
    allocator.review(videos, 100 * K, 90 * K, 6.0)
    assert set(allocator.review(videos, 350 * K, 90 * K, 7.0).values()) != {PAUSED}
    assert set(allocator.review(videos, 100 * K, 90 * K, 8.0).values()) == {PAUSED}
    assert set(allocator.review(videos, 350 * K, 90 * K, 9.0).values()) == {PAUSED}
    assert set(allocator.review(videos, 500 * K, 90 * K, 10.0).values()) != {PAUSED}


def test_a_new_speaker_gets_the_previous_speakers_share() -> None:
    allocator = Allocator()
    videos = [camera("a", 70), camera("b", 30)]
    for step in range(40):
        chosen = allocator.review(videos, 1_600 * K, 0, 0.1 * step)
    assert chosen == {"a": UNLIMITED, "b": Limit(0, -1)}
    videos = [camera("a", 30), camera("b", 70)]
    for step in range(40, 60):
        chosen = allocator.review(videos, 1_600 * K, 0, 0.1 * step)
    assert chosen == {"a": Limit(0, -1), "b": UNLIMITED}


def test_videos_do_not_flap_on_a_link_that_can_carry_them_only_sometimes() -> None:
    allocator, videos = Allocator(), [camera("a"), camera("b")]
    changes, before = 0, dict(allocator.review(videos, 700 * K, 0, 0.0))
    for step in range(1, 6_000):
        estimate = 700 * K if step % 40 < 20 else 1_100 * K
        chosen = dict(allocator.review(videos, estimate, 0, 0.1 * step))
        changes += chosen != before
        before = chosen
    assert changes <= 4 * 600 / 30, "about one attempt in half a minute"
