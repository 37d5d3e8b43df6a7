"""Latency against load, and what a packet costs, as a picture; with matplotlib, installed on request only."""

from collections.abc import Sequence
from pathlib import Path

from svc.base.config import install_command
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement

SIZE_INCHES = (9, 6)
# Distinct to the colour-blind too (Okabe and Ito).
BLUE, ORANGE, GREEN = "#0072b2", "#e69f00", "#009e73"


def check(output: Path) -> None:
    """Say before anything is measured that it could not be drawn."""
    if output.suffix not in (".png", ".svg"):
        raise BenchError(f"{output}: the file name must end in .png or .svg")
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise BenchError(f"plotting needs a library: {install_command('matplotlib')}") from problem


def draw(measurements: Sequence[Measurement], output: Path) -> None:
    """Write the picture; its kind follows from the name's ending, .png or .svg."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    loads = [each.packets_per_s for each in measurements]
    for name, values, colour in (
        ("p50", [each.p50_us for each in measurements], BLUE),
        ("p99", [each.p99_us for each in measurements], ORANGE),
    ):
        above.plot(loads, [value or 0 for value in values], "o-", color=colour, label=name)
    above.set_ylabel("added latency, us")
    above.set_yscale("log")
    costs = [each.cpu_us_per_packet or 0 for each in measurements]
    if any(costs):
        below.plot(loads, costs, "o-", color=GREEN, label="server CPU, us per packet")
    below.plot(loads, [each.loss_percent for each in measurements], "x-", color="black", label="loss, %")
    below.set_xlabel("packets forwarded per second")
    for axes in (above, below):
        axes.set_ylim(bottom=None if axes is above else 0)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    first = measurements[0]
    crowd = f"{first.publishers} publishers, {first.receivers} more receivers"
    above.set_title(f"{crowd}, {first.size} bytes, bursts of {first.burst}", loc="left")
    try:
        figure.savefig(output, dpi=120)
    except OSError as problem:
        raise BenchError(f"{output}: {problem.strerror}") from problem
