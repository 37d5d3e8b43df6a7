"""Determines how a video's frames should be displayed, and filters them accordingly. Runs inside the sandbox.

Players handle mirrored frames, fields and non-square pixels differently, so none of these remain in the
output.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import av
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

Step = tuple[str, str]

# The largest pixel aspect ratio. A larger ratio is an error in the file.
_MAX_ASPECT = 4
# Colour matrices, keyed by their H.273 numbers.
BT709, UNSPECIFIED, BT601 = 1, 2, 6
# At this height and above, browsers and FFmpeg assume BT.709 if the matrix is unspecified.
_HD_HEIGHT = 720
# Merges two fields into one frame if the decoder reports interlaced video.
DEINTERLACED: Step = ("bwdif", "mode=send_frame:deint=interlaced")


@dataclass(frozen=True, slots=True)
class Geometry:
    """The display geometry of a frame: its fields, its rotation, and the shape of its pixels."""

    is_interlaced: bool
    turns: tuple[Step, ...]
    is_on_its_side: bool
    is_mirrored: bool
    aspect: Fraction

    def display_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size in square pixels, before rotation."""
        if self.aspect >= 1:
            return round(width * self.aspect), height
        return width, round(height / self.aspect)

    def rotate(self, size: tuple[int, int]) -> tuple[int, int]:
        return (size[1], size[0]) if self.is_on_its_side else size

    @property
    def fields(self) -> tuple[Step, ...]:
        return (DEINTERLACED,) if self.is_interlaced else ()


def geometry_of(frame: VideoFrame, video: VideoStream) -> Geometry:
    a, b, c, d = _matrix(frame)
    turns: tuple[Step, ...]
    # If b and c dominate, x and y are swapped. The signs show which axes are reversed.
    if abs(b) + abs(c) > abs(a) + abs(d):
        turns = {
            (True, False): (("transpose", "clock"),),
            (False, True): (("transpose", "cclock"),),
            (True, True): (("transpose", "cclock_flip"),),
            (False, False): (("transpose", "clock_flip"),),
        }[b > 0, c > 0]
        return Geometry(frame.interlaced_frame, turns, True, b * c > 0, aspect_of(video))
    turns = (*([("hflip", "")] if a < 0 else []), *([("vflip", "")] if d < 0 else []))
    return Geometry(frame.interlaced_frame, turns, False, a * d < 0, aspect_of(video))


def aspect_of(video: VideoStream) -> Fraction:
    """Return the ratio of a pixel's width to its height."""
    aspect = video.sample_aspect_ratio
    return aspect if aspect and 1 / _MAX_ASPECT <= aspect <= _MAX_ASPECT else Fraction(1)


def fit_size(width: int, height: int, side: int) -> tuple[int, int]:
    """Return the size, shrunk to fit if necessary. Width and height are even, as codecs require."""
    scale = min(1.0, side / max(width, height))
    return max(2, int(width * scale) // 2 * 2), max(2, int(height * scale) // 2 * 2)


def matrix_of(video: VideoStream) -> int:
    """Return the stream's colour matrix, or a default if the stream does not specify one."""
    stated = int(video.codec_context.colorspace)
    if stated != UNSPECIFIED:
        return stated
    return BT709 if video.height >= _HD_HEIGHT else BT601


class Filters:
    """A chain of filters, built for the size of the first frame that it gets."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._graph: av.filter.Graph | None = None
        self._made_for: tuple[int, int, str] | None = None

    def feed(self, frame: VideoFrame) -> Iterator[VideoFrame]:
        if not self._steps:
            yield frame
            return
        kind = (frame.width, frame.height, frame.format.name)
        if self._graph is None or kind != self._made_for:
            yield from self.finish()
            self._graph, self._made_for = self._build_graph(frame), kind
        self._graph.vpush(frame)
        yield from self._ready(self._graph)

    def finish(self) -> Iterator[VideoFrame]:
        """Yield the remaining frames. The next frame builds a new chain."""
        if (graph := self._graph) is not None:
            self._graph = None
            graph.vpush(None)
            yield from self._ready(graph)

    def _build_graph(self, frame: VideoFrame) -> av.filter.Graph:
        graph = av.filter.Graph()
        unit = frame.time_base or Fraction(1, 1000)
        source = graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=unit)
        filters = [graph.add(name, arguments or None) for name, arguments in self._steps]
        graph.link_nodes(source, *filters, graph.add("buffersink")).configure()
        return graph

    @staticmethod
    def _ready(graph: av.filter.Graph) -> Iterator[VideoFrame]:
        while True:
            try:
                yield graph.vpull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return


def _matrix(frame: VideoFrame) -> tuple[int, int, int, int]:
    """Return a, b, c and d: a point (x, y) is shown at (a·x + c·y, b·x + d·y). y points down."""
    stated = frame.side_data.get("DISPLAYMATRIX")
    if stated is None or len(data := bytes(cast(bytes, stated))) < 36:
        return 1, 0, 0, 1
    a, b, _, c, d, *_ = struct.unpack("=9i", data[:36])
    return a, b, c, d
