"""Plots latency and cost per packet against load. Uses matplotlib, an optional dependency."""

from collections.abc import Sequence
from pathlib import Path

from svc.base.config_parsing import install_command
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement

SIZE_INCHES = (9, 6)
# Colours that colour-blind readers can also distinguish (Okabe and Ito).
BLUE, ORANGE, GREEN = "#0072b2", "#e69f00", "#009e73"


def check(output: Path) -> None:
    """Raise an error before the measurement if the plot cannot be drawn."""
    if output.suffix not in (".png", ".svg"):
        raise BenchError(f"{output}: the file name must end in .png or .svg")
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise BenchError(f"plotting needs a library: {install_command('matplotlib')}") from problem


def draw(measurements: Sequence[Measurement], output: Path) -> None:
    """Write the plot to a file. Its extension, .png or .svg, determines the format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    loads = [measurement.packets_per_s for measurement in measurements]
    for name, values, colour in (
        ("p50", [measurement.p50_us for measurement in measurements], BLUE),
        ("p99", [measurement.p99_us for measurement in measurements], ORANGE),
    ):
        above.plot(loads, [value or 0 for value in values], "o-", color=colour, label=name)
    above.set_ylabel("added latency, us")
    above.set_yscale("log")
    costs = [measurement.cpu_us_per_packet or 0 for measurement in measurements]
    if any(costs):
        below.plot(loads, costs, "o-", color=GREEN, label="server CPU, us per packet")
    below.plot(
        loads,
        [measurement.loss_percent for measurement in measurements],
        "x-",
        color="black",
        label="loss, %",
    )
    below.set_xlabel("packets forwarded per second")
    for axes in (above, below):
        axes.set_ylim(bottom=None if axes is above else 0)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    first = measurements[0]
    room_clients = f"{first.publishers} publishers, {first.receivers} more receivers"
    above.set_title(f"{room_clients}, {first.size} bytes, bursts of {first.burst}", loc="left")
    try:
        figure.savefig(output, dpi=120)
    except OSError as problem:
        raise BenchError(f"{output}: {problem.strerror}") from problem
