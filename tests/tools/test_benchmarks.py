"""The benchmarks reach the right verdicts from simulated measurements."""

from dataclasses import replace

import pytest

from benchmarks.endurance import Row, verdict
from benchmarks.saturation import is_disturbed, search
from benchmarks.sfu_comparison import row
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement, Reading
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.traffic import LATENCY_BUCKETS, TOTALS

CAMERA = Scenario(1, 50)


def measured(pps: int, *, lost_percent: int = 0, cpu_us: int = 2, waited_percent: float = 0.0) -> Measurement:
    """Return the measurement of a camera's packets over one second."""
    received = pps * 50 * (100 - lost_percent) // 100
    latencies = [0] * len(LATENCY_BUCKETS)
    latencies[400] = received
    nothing = dict.fromkeys(TOTALS, 0)
    start = Reading(0.0, nothing, [0] * len(latencies), 0, 0, 0.0, 0, 0, 0)
    end = replace(
        start,
        at=1.0,
        totals=nothing | {"sent": pps, "received": received},
        latencies=latencies,
        cpu_ns=received * cpu_us * 1000,
        waited_ns=int(waited_percent * 1e7),
        memory_kb=70_000,
    )
    return Measurement.of(CAMERA, pps, start, end, settled=end)


class Service:
    """A service that can forward packets at the given rate, except in attempts that its host disturbs."""

    def __init__(self, most_pps: int, disturbed: range = range(0)) -> None:
        self.rates: list[int] = []
        self._most_pps = most_pps
        self._disturbed = disturbed

    async def attempt(self, pps: int) -> Measurement:
        self.rates.append(pps)
        if len(self.rates) in self._disturbed:
            return measured(pps, lost_percent=10, waited_percent=60)
        return measured(pps, lost_percent=0 if pps <= self._most_pps else 5)


async def test_the_highest_rate_is_sought_between_a_passed_and_a_failed_step() -> None:
    best, bound = await search(Service(10_000).attempt)
    assert bound is not None
    assert best.pps <= 10_000 < bound.pps < best.pps * 1.04


@pytest.mark.parametrize("disturbed", [range(1, 3), range(2, 7), range(3, 9)])
async def test_a_step_disturbed_by_the_host_does_not_count_as_the_limit(disturbed: range) -> None:
    best, _ = await search(Service(10_000, disturbed).attempt)
    assert best.pps > 9_600


async def test_a_failed_step_that_was_not_disturbed_is_tried_twice() -> None:
    service = Service(1_000)
    await search(service.attempt)
    assert service.rates[:6] == [1_000, 1_250, 1_250, 1_562, 1_562, 1_125]


def test_threads_that_wait_for_each_other_do_not_count_as_a_disturbance() -> None:
    measurement = measured(1_000, lost_percent=20, waited_percent=400)
    assert is_disturbed(replace(measurement, cpu_percent=70.0))
    assert not is_disturbed(replace(measurement, cpu_percent=98.0))


async def test_a_service_that_passes_every_step_has_no_limit() -> None:
    best, bound = await search(Service(10**9).attempt)
    assert (best.pps > 48_000, bound) == (True, None)


async def test_a_service_that_passes_no_step_is_reported() -> None:
    with pytest.raises(BenchError, match="not even 1,000 x 50 packets/s"):
        await search(Service(0).attempt)


def test_a_cost_is_compared_with_the_limit_from_the_same_round() -> None:
    limits = [measured(300, cpu_us=cost) for cost in (2, 4, 2)]
    measurements = [measured(300, cpu_us=cost) for cost in (3, 8, 4)]
    assert row("svc", measurements, limits).startswith(
        "| svc | 4.00 (3.00–8.00) | 2.00 (1.50–2.00) | 15,000 | 0.000 |"
    )


def rows(*p99_us: float, service_kb: int = 0, generator_kb: int = 0) -> list[Row]:
    """Return one row per minute. Memory grows in the second half."""
    later = len(p99_us) // 2
    return [
        Row(
            60.0 * number,
            replace(measured(300), p99_us=p99, memory_kb=70_000 + service_kb * (number > later)),
            60_000 + generator_kb * (number > later),
        )
        for number, p99 in enumerate(p99_us)
    ]


def test_a_single_bad_minute_does_not_determine_the_latency() -> None:
    assert all(change.is_small for change in verdict(rows(*[500] * 9, 90_000)))
    assert [change.is_small for change in verdict(rows(*[500] * 7, *[600] * 3))] == [False, True, True]


def test_memory_growth_in_the_second_half_is_detected() -> None:
    flat = [500.0] * 10
    assert [change.is_small for change in verdict(rows(*flat, service_kb=800))] == [True, False, True]
    assert [change.is_small for change in verdict(rows(*flat, generator_kb=800))] == [True, True, False]
    assert all(change.is_small for change in verdict(rows(*flat, service_kb=600, generator_kb=500)))
