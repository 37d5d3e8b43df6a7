"""Divides the simulated video into three temporal layers, as browsers do in L1T3.

Provides each frame's layer, its dependencies, and the Dependency Descriptor of each of its packets.
"""

from functools import lru_cache

from tests.kit.dependency_descriptor import Descriptor, Structure, Template
from tests.kit.simulation.frames import Frame

L1T3 = Structure(
    [
        Template(0, 0, "SSS"),  # a keyframe
        Template(0, 0, "SSS", fdiffs=[4]),
        Template(0, 1, "-DS", fdiffs=[2]),
        Template(0, 2, "--D", fdiffs=[1]),
    ]
)
# Indexed by the frame's position in a group of four.
LAYERS = (0, 2, 1, 2)


def temporal_id(frame: Frame) -> int:
    return LAYERS[frame.since_keyframe % 4]


def dependencies(frame: Frame) -> list[int]:
    """Return the numbers of the frames that this frame refers to."""
    return [frame.number - fdiff for fdiff in L1T3.templates[_template(frame)].fdiffs]


def _template(frame: Frame) -> int:
    return 0 if frame.keyframe else temporal_id(frame) + 1


def descriptor(frame: Frame, index: int) -> bytes:
    """Return the descriptor of packet `index`. Only the first packet of a keyframe has the structure."""
    return _written(_template(frame), frame.number & 0xFFFF, index == 0, index == frame.packets - 1)


@lru_cache(maxsize=8)
def _written(template: int, number: int, start: bool, end: bool) -> bytes:
    return Descriptor(
        L1T3, template, number, start_of_frame=start, end_of_frame=end, attached=template == 0 and start
    ).serialise()
