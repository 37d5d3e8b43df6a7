"""The LayerSelector forwards whole frames, and no frame without the frames that it depends on.

Each scenario is a table of requests and incoming frames. A frame's row is its number, its temporal layer, its
decode target indications for T0, T1, T2 …, its dependencies (frame differences, as on the wire), and whether
the receiver gets it.
"""

from dataclasses import dataclass

import pytest

from svc._rtp.layers import Selector

CACHE = 1024  # number of frames whose decision is remembered


@dataclass(frozen=True)
class Target:
    layer: int


@dataclass(frozen=True)
class Frame:
    number: int
    temporal_id: int
    dtis: str
    dependencies: tuple[int, ...]
    forwarded: bool
    spatial_id: int = 0


Step = Target | Frame
ALL = Target(-1)


def frame(number: int, temporal_id: int, dtis: str, dependencies: str, forwarded: bool) -> Frame:
    return Frame(number, temporal_id, dtis, tuple(map(int, dependencies.split())), forwarded)


def run(steps: list[Step], selector: Selector | None = None) -> Selector:
    selector = selector or Selector()
    for step in steps:
        if isinstance(step, Target):
            selector.set_target(step.layer)
        else:
            assert decide(selector, step) == step.forwarded, step
    return selector


def decide(selector: Selector, step: Frame) -> bool:
    switch_to = [layer for layer, dti in enumerate(step.dtis) if dti == "S"]
    return selector.decide(step.number, step.spatial_id, step.temporal_id, switch_to, step.dependencies)


SCENARIOS: dict[str, list[Step]] = {
    "everything is forwarded until a layer is requested": [
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", True),
        frame(3, 1, "-DS", "2", True),
    ],
    "down takes effect at the very next frame": [
        ALL,
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", True),
        Target(0),
        frame(3, 1, "-DS", "2", False),
        frame(4, 2, "--D", "1", False),
        frame(5, 0, "SSS", "4", True),
    ],
    "a request before the first frame applies from the first frame": [
        Target(1),
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", False),
        frame(3, 1, "-DS", "2", True),
        frame(4, 2, "--D", "1", False),
    ],
    "an upward switch waits for a switch point of the requested layer": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        Target(2),
        frame(2, 2, "--D", "1", False),
        frame(3, 1, "-RR", "2", False),
        frame(4, 0, "SRR", "3", True),
        frame(5, 2, "--D", "1", False),
        frame(6, 0, "SSS", "2", True),
        frame(7, 2, "--D", "1", True),
    ],
    "up takes a switch point of an upper layer too: AV1's T1 needs T0 alone": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        Target(2),
        frame(3, 1, "-DS", "2", True),
        frame(4, 2, "--D", "1", True),
    ],
    "a switch point that needs a frame never sent is none: VP8's second T1": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", False),
        frame(3, 1, "-SS", "2", False),
        frame(4, 2, "--D", "1", False),
        frame(5, 0, "SRR", "4", True),
        Target(2),
        frame(6, 2, "--D", "3 1", False),
        frame(7, 1, "-DS", "4 2", False),
        frame(8, 2, "--D", "1", False),
        frame(9, 0, "SSS", "4", True),
        frame(10, 2, "--D", "1", True),
        frame(11, 1, "-SS", "2", True),
    ],
    "VP8's first T1 is a switch point: it needs the T0 before it alone": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        Target(2),
        frame(2, 2, "--D", "1", False),
        frame(3, 1, "-SS", "2", True),
        frame(4, 2, "--D", "1", True),
        frame(5, 0, "SRR", "4", True),
        frame(6, 2, "--D", "3 1", True),
        frame(7, 1, "-DS", "4 2", True),
    ],
    "the highest permitted layer is forwarded until the requested one may be": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        Target(2),
        frame(2, 0, "SSR", "1", True),
        frame(3, 1, "-DR", "1", True),
        frame(4, 2, "--D", "1", False),
        frame(5, 0, "SSR", "3", True),
        frame(6, 1, "-DS", "1", True),
        frame(7, 2, "--D", "1", True),
    ],
    "a layer that the stream does not have yet is had as soon as it comes": [
        Target(0),
        frame(1, 0, "SSSSSSSS", "", True),
        Target(7),
        frame(2, 0, "SSSSSSSS", "1", True),
        frame(3, 2, "--D", "1", True),
    ],
    "a frame that needs one which was not sent is not sent, whatever its layer": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", False),
        frame(3, 0, "SSS", "1", False),
        frame(4, 0, "SSS", "3", True),
    ],
    "a keyframe opens every layer": [
        Target(0),
        frame(1, 0, "SRR", "", True),
        ALL,
        frame(2, 1, "-DR", "1", False),
        frame(3, 0, "SSS", "", True),
        frame(4, 2, "--D", "1", True),
    ],
    "down and up again between two frames changes nothing": [
        ALL,
        frame(1, 0, "SSS", "", True),
        Target(0),
        ALL,
        frame(2, 2, "--D", "1", True),
    ],
    "a late frame of a wanted layer goes, one of another does not": [
        Target(1),
        frame(1, 0, "SSS", "", True),
        frame(5, 0, "SSS", "4", True),
        frame(3, 1, "-DS", "2", True),
        frame(2, 2, "--D", "1", False),
        frame(4, 2, "--D", "1", False),
    ],
    "a frame from before the first decision was sent already, with all its layer's": [
        frame(9, 2, "--D", "1", True),
        Target(0),
        frame(10, 0, "SSS", "1", True),
        frame(8, 2, "--D", "3", True),
    ],
    "a frame that has been sent in part before a request is sent completely": [
        frame(1, 0, "SSS", "", True),
        frame(2, 2, "--D", "1", True),
        Target(0),
        frame(2, 2, "--D", "1", True),
        frame(1, 0, "SSS", "", True),
        frame(3, 1, "-DS", "2", False),
    ],
    "what a frame that was sent needs is sent too, though it comes after going down": [
        ALL,
        Target(2),
        frame(1, 0, "SSS", "", True),
        frame(4, 2, "--D", "1", True),
        Target(0),
        frame(3, 1, "-DS", "2", True),
        frame(2, 2, "--D", "1", False),
    ],
    "what a promised frame needs is promised in its turn": [
        ALL,
        Target(2),
        frame(1, 0, "SSS", "", True),
        frame(8, 2, "--D", "1", True),
        Target(0),
        frame(7, 1, "-DS", "4 2", True),
        frame(3, 1, "-SS", "2", True),
        frame(6, 2, "--D", "1", False),
    ],
    "a dependency that has not come stops a switch, not the frame": [
        Target(0),
        frame(1, 0, "SSS", "", True),
        Target(2),
        frame(9, 0, "SSS", "4", True),
        frame(10, 2, "--D", "1", False),
        frame(13, 0, "SSS", "4", True),
        frame(14, 2, "--D", "1", True),
    ],
}


@pytest.mark.parametrize("steps", SCENARIOS.values(), ids=SCENARIOS)
def test_a_receiver_gets_exactly_the_frames_in_its_layers(steps: list[Step]) -> None:
    run(steps)


def test_every_packet_of_a_frame_shares_the_first_packets_decision() -> None:
    selector = run([ALL, Target(2), frame(1, 0, "SSS", "", True), frame(2, 2, "--D", "1", True)])
    run([Target(0), frame(2, 2, "--D", "1", True), frame(3, 1, "-DS", "2", False)], selector)
    run([ALL, frame(3, 1, "-DS", "2", False), frame(2, 2, "--D", "1", True)], selector)


def test_the_decision_about_a_frame_is_remembered_while_it_is_in_the_cache() -> None:
    selector = run([Target(0), frame(1, 0, "SSS", "", True), frame(2, 2, "--D", "1", False)])
    for number in range(3, CACHE + 2):
        run([frame(number, 0, "SSS", "", True)], selector)
    run([frame(2, 2, "--D", "1", False)], selector)


def test_a_packet_too_late_for_the_cache_is_forwarded_and_changes_no_newer_decision() -> None:
    selector = run([Target(0), frame(1, 0, "SSS", "", True), frame(2, 2, "--D", "1", False)])
    run([frame(CACHE + 2, 0, "SSS", "", True)], selector)
    run([frame(2, 2, "--D", "1", True), frame(CACHE + 2, 0, "SSS", "", True)], selector)
    run([frame(CACHE + 3, 1, "-DS", "1", False)], selector)


def test_frame_numbers_may_jump_far_ahead() -> None:
    selector = run([Target(0), frame(1, 0, "SSS", "", True)])
    run([frame(10 * CACHE + 1, 2, "--D", "1", False), frame(10 * CACHE + 2, 0, "SSS", "", True)], selector)


def test_a_new_sender_is_forwarded_from_its_keyframe_on_in_the_requested_layers() -> None:
    selector = run([Target(1), frame(500, 0, "SSS", "", True), frame(501, 1, "-DS", "1", True)])
    selector.forget()
    run(
        [
            frame(3, 0, "SSS", "", True),
            frame(4, 2, "--D", "1", False),
            frame(5, 1, "-DS", "2", True),
        ],
        selector,
    )


def test_frame_numbers_from_the_old_sender_mean_nothing_after_a_new_sender_starts() -> None:
    selector = run([Target(0), frame(10, 0, "SSS", "", True), frame(11, 1, "-DS", "1", False)])
    selector.forget()
    run([frame(11, 0, "SSS", "", True), frame(12, 0, "SSS", "1", True)], selector)


# --- spatial layers: each is decided separately, but never without the layers below it ---


def spatial(number: int, layer: str, dtis: str, dependencies: str, forwarded: bool) -> Frame:
    """Return a frame in the given layer, such as S1T2. `dtis` covers only the frame's own spatial layer."""
    return Frame(number, int(layer[3]), dtis, tuple(map(int, dependencies.split())), forwarded, int(layer[1]))


def test_all_spatial_layers_of_a_requested_temporal_layer_are_forwarded() -> None:
    run(
        [
            Target(0),
            spatial(1, "S0T0", "SSS", "", True),
            spatial(2, "S1T0", "SSS", "1", True),
            spatial(3, "S0T2", "--D", "2", False),
            spatial(4, "S1T2", "--D", "2", False),
            spatial(5, "S0T1", "-DS", "4", False),
            spatial(6, "S1T1", "-DS", "4", False),
            spatial(7, "S0T0", "SSS", "6", True),
            spatial(8, "S1T0", "SSS", "6", True),
        ]
    )


def test_a_spatial_layer_does_not_switch_up_further_than_the_layers_below_it() -> None:
    run(
        [
            Target(0),
            spatial(1, "S0T0", "SSS", "", True),
            spatial(2, "S1T0", "SSS", "1", True),
            Target(2),
            spatial(3, "S0T0", "SRR", "2", True),
            spatial(4, "S1T0", "SSS", "2", True),
            spatial(5, "S1T2", "--D", "1", False),
            spatial(6, "S0T0", "SSS", "3", True),
            spatial(7, "S1T0", "SSS", "3", True),
            spatial(8, "S0T2", "--D", "2", True),
            spatial(9, "S1T2", "--D", "2", True),
        ]
    )
