"""Counts the instructions of single steps of the RTP core with callgrind, and compares them with committed
figures.

    python -m benchmarks.micro.instructions            counts, compares, fails beyond the tolerance
    python -m benchmarks.micro.instructions --write    counts and writes instructions.json

The number of instructions does not depend on other load. It does depend on the compiler and on the wheel that
contains OpenSSL, so both are stored with the figures, and a different compiler or wheel is reported.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

COMMITTED = Path(__file__).parent.parent / "instructions.json"
# The difference that another compiler version may cause. A larger increase should be investigated.
TOLERANCE = 0.05
# Run a step this many times before counting, so that one-time work (growing a table, resolving a function) is
# not counted.
WARM_UP = 20
TIMES = 100
# A room with a thousand people takes minutes to set up under callgrind, and gives the same result as one with
# fifty.
LEFT_OUT = {"fan_out_1000"}


def main(arguments: list[str]) -> int:
    if arguments == ["--run"]:
        run_steps()
        return 0
    counts = count()
    if arguments == ["--write"]:
        COMMITTED.write_text(json.dumps(counts, indent=2) + "\n")
        print(f"{COMMITTED.name} written")
        return 0
    return compare(counts)


def run_steps() -> None:
    """Run the steps under callgrind. For each step, print the name of the loop that represents it."""
    from benchmarks.micro.loops import calls
    from benchmarks.micro.steps import STEPS

    counting = {}
    for name, make in STEPS.items():
        if name not in LEFT_OUT:
            step = make(WARM_UP + TIMES)
            step.run(WARM_UP)
            step.run(TIMES)
            counting[name] = calls()
    print(json.dumps(counting))


def count() -> dict[str, dict[str, str] | dict[str, int]]:
    """Return each step's number of instructions per repetition, and a description of the core's build."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "callgrind"
        result = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={output}"),
                *("--toggle-collect=svc_measured", "--dump-after=svc_measured"),
                *(sys.executable, "-m", "benchmarks.micro.instructions", "--run"),
            ],
            check=True,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONHASHSEED": "0"},
        )
        steps = {
            name: round(_total(Path(f"{output}.{number}")) / TIMES)
            for name, number in json.loads(result.stdout).items()
        }
    return {"built with": circumstances(), "instructions": steps}


def _total(dump: Path) -> int:
    lines = dump.read_text().splitlines()
    return int(next(line for line in lines if line.startswith(("summary:", "totals:"))).split()[1])


def circumstances() -> dict[str, str]:
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "machine": platform.machine(),
        "compiler": compiler.splitlines()[0],
        "cython": version("cython"),
        "pylibsrtp": version("pylibsrtp"),
    }


def compare(counts: dict[str, dict[str, str] | dict[str, int]]) -> int:
    """Report each step's change. Return 1 if any change exceeds the tolerance."""
    committed = json.loads(COMMITTED.read_text())
    for what, was in committed["built with"].items():
        if counts["built with"][what] != was:
            print(f"warning: {what} is {counts['built with'][what]}, the figures were measured with {was}")
    worse = 0
    for name, now in counts["instructions"].items():
        before = committed["instructions"].get(name)
        change = (int(str(now)) - before) / before if before else 1.0
        print(f"{name:14} {now:>9} instructions, {change:+.1%}{_verdict(change)}")
        worse += change > TOLERANCE
    return 1 if worse else 0


def _verdict(change: float) -> str:
    if abs(change) <= TOLERANCE:
        return ""
    return "  DEARER" if change > 0 else "  cheaper: commit the new figures"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
