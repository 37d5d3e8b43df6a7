"""Times single steps of the RTP core: ci/test benchmarks/micro -s

Prints results and asserts nothing. Times are CPU times, because other programs may be running. Unwanted
growth is detected by ci/bench, which counts instructions. pytest-benchmark's table shows times for all
repetitions together. The lines above the table show times for one repetition.
"""

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.micro.steps import STEPS

ROUNDS = 5


def times(name: str) -> int:
    """Return the number of repetitions that fit in about a tenth of a second."""
    receivers = int(name.removeprefix("fan_out_")) if name.startswith("fan_out_") else 0
    return max(50, 20_000 // receivers) if receivers else 20_000


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("name", STEPS)
def test_step(benchmark: BenchmarkFixture, name: str) -> None:
    repetitions = times(name)
    step = STEPS[name](repetitions * ROUNDS)
    benchmark.extra_info["repetitions"] = repetitions
    run = benchmark.pedantic
    run(step.run, args=(repetitions,), rounds=ROUNDS, iterations=1)  # type: ignore[no-untyped-call]
    stats = benchmark.stats
    if stats is not None:
        print(f"\n{name}: {stats['median'] / repetitions * 1e9:,.0f} ns each, of {repetitions}")
