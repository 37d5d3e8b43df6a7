"""`svc rtp plot`: plot a captured stream with matplotlib, an optional dependency.

The upper plot has a bar for each frame, with the frame's size as its height and its layer as its colour, and
marks for keyframes and lost packets. The lower plot shows the bitrate of each layer. `timeline` provides the
data.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from svc.base.config_parsing import install_command
from svc.tools.rtp.timeline import INTERVAL_S, REPEATED, Frame, Timeline, timeline
from svc.tools.rtpdump import Record, RtpdumpError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# By temporal layer: blue, orange, green and purple, which colour-blind readers can also distinguish (Okabe
# and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
UNKNOWN_LAYER, GREY, RED = "#56b4e9", "#bbbbbb", "#d62728"
SIZE_INCHES = (12, 6)


def draw(records: Iterable[Record], descriptor_id: int | None, output: Path, ssrc: int | None = None) -> None:
    """Write the plot to a file. Its extension, .png or .svg, determines the format."""
    if output.suffix not in (".png", ".svg"):
        raise RtpdumpError(f"{output}: the file name must end in .png or .svg")
    shown = timeline(records, descriptor_id, ssrc)
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise RtpdumpError(f"plotting needs a library: {install_command('matplotlib')}") from problem
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw_frames(above, shown)
    _draw_rates(below, shown)
    above.set_title(_title(shown), loc="left")
    try:
        figure.savefig(output, dpi=120)
    except OSError as problem:
        raise RtpdumpError(f"{output}: {problem.strerror}") from problem


def _title(shown: Timeline) -> str:
    keyframes = sum(frame.keyframe for frame in shown.frames)
    recovered = sum(loss.recovered for loss in shown.losses)
    lost = f"{len(shown.losses)} packets lost" + (f", {recovered} recovered" if recovered else "")
    keyframe_summary = f"{keyframes} keyframes, " if any(frame.layer for frame in shown.frames) else ""
    return f"SSRC {shown.ssrc}: {len(shown.frames)} frames, {keyframe_summary}{lost}"


def _draw_frames(axes: "Axes", shown: Timeline) -> None:
    for layer in shown.layers:
        frames = [frame for frame in shown.frames if frame.layer == layer]
        times, bottoms = [frame.at_s for frame in frames], [frame.below / 1000 for frame in frames]
        axes.vlines(times, bottoms, _tops(frames), color=_colour(layer), linewidth=2.2, label=_name(layer))
    keyframes = [frame for frame in shown.frames if frame.keyframe]
    if keyframes:
        times = [frame.at_s for frame in keyframes]
        axes.plot(times, _tops(keyframes), "D", color="black", markersize=6, label="keyframe", clip_on=False)
    for recovered, colour, name in ((True, "black", "lost, recovered"), (False, RED, "lost")):
        times = [loss.at_s for loss in shown.losses if loss.recovered is recovered]
        if times:
            axes.plot(
                times, [0] * len(times), "x", color=colour, markersize=7, label=name, clip_on=False, zorder=3
            )
    axes.set_ylim(bottom=0)
    axes.set_ylabel("frame, kB")
    _finish(axes)


def _tops(frames: list[Frame]) -> list[float]:
    return [(frame.below + frame.size) / 1000 for frame in frames]


def _draw_rates(axes: "Axes", shown: Timeline) -> None:
    edges = [i * INTERVAL_S for i in range(len(next(iter(shown.kbps.values()))) + 1)]
    floor = [0.0] * (len(edges) - 1)
    for layer, kbps in shown.kbps.items():
        ceiling = [low + rate for low, rate in zip(floor, kbps, strict=True)]
        axes.stairs(ceiling, edges, baseline=floor, fill=True, color=_colour(layer), label=_name(layer))
        floor = ceiling
    axes.set_ylabel("kbit/s")
    axes.set_xlabel("seconds")
    _finish(axes)


def _finish(axes: "Axes") -> None:
    axes.set_xlim(left=0)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _name(layer: str) -> str:
    return {"": "unknown layer", REPEATED: "retransmission"}.get(layer, layer)


def _colour(layer: str) -> tuple[float, float, float] | str:
    """Return a layer's colour. The temporal layer determines the hue, and higher spatial layers are paler."""
    if not layer.startswith("S"):
        return GREY if layer == REPEATED else UNKNOWN_LAYER
    hue = COLOURS[int(layer[3]) % len(COLOURS)]
    strength = max(1 - 0.3 * int(layer[1]), 0.3)
    red, green, blue = (1 - strength * (1 - int(hue[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return red, green, blue
