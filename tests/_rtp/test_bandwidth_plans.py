"""Tests on two hundred seeded links that the estimator alone stays within the bounds of each link's plan."""

import pytest

from tests._rtp.link_plans import Bounds, Phase, Plan, Run, violations

SEEDS = range(1, 6)

USED = Bounds(utilisation=0.8)
SHORT_QUEUE = Bounds(queue_s=0.1)
SHARED = Bounds(share=(0.35, 0.65))


def steady(name: str, capacity: float, *bounds: Bounds, seconds: float = 20, **link: object) -> Plan:
    return Plan(name, (Phase(0, capacity),), bounds or (USED, SHORT_QUEUE), seconds, **link)  # type: ignore[arg-type]


def lossy(name: str, capacity: float, loss: float, *bounds: Bounds, burst: float = 1) -> Plan:
    return Plan(name, (Phase(0, capacity, loss=loss, burst=burst),), bounds, 25)


def change(name: str, before: float, after: float, *bounds: Bounds, **link: object) -> Plan:
    return Plan(name, (Phase(0, before), Phase(8, after)), bounds, 20, **link)  # type: ignore[arg-type]


PLANS = [
    steady("300 kbit/s", 3e5, Bounds(utilisation=0.75, queue_s=0.2, highest_ratio=1.4)),
    steady("800 kbit/s", 8e5, Bounds(utilisation=0.8, queue_s=0.12, reach=(0.7, 3))),
    steady("2 Mbit/s", 2e6, Bounds(utilisation=0.8, queue_s=0.1, reach=(0.7, 2), highest_ratio=1.3)),
    steady("4 Mbit/s", 4e6, Bounds(utilisation=0.8, queue_s=0.1, reach=(0.8, 3), highest_ratio=1.3)),
    steady(
        "8 Mbit/s", 8e6, Bounds(utilisation=0.8, queue_s=0.1, reach=(0.8, 3), highest_ratio=1.3), seconds=12
    ),
    steady("a deep queue", 1e6, Bounds(utilisation=0.75, queue_s=0.3, lost=0.01), queue_s=1.0),
    steady("a shallow queue", 2e6, Bounds(utilisation=0.75, lost=0.12), queue_s=0.05),
    steady("2 ms away", 2e6, USED, SHORT_QUEUE, delay_s=0.001),
    steady("100 ms away", 2e6, USED, SHORT_QUEUE, delay_s=0.05),
    steady("400 ms away", 2e6, Bounds(utilisation=0.75, queue_s=0.15), delay_s=0.2),
    steady("600 ms away", 1e6, Bounds(utilisation=0.7, queue_s=0.2), delay_s=0.3),
    steady("10 ms of jitter", 2e6, USED, SHORT_QUEUE, jitter_s=0.01),
    steady("30 ms of jitter", 2e6, Bounds(utilisation=0.75, queue_s=0.12), jitter_s=0.03),
    steady("60 ms of jitter", 2e6, Bounds(utilisation=0.6, queue_s=0.2), jitter_s=0.06),
    steady("reordering of 2 %", 2e6, Bounds(utilisation=0.75, queue_s=0.12), reorder=0.02),
    steady("reordering of 10 %", 2e6, Bounds(utilisation=0.7, queue_s=0.15), reorder=0.1),
    steady("every fifth feedback lost", 2e6, Bounds(utilisation=0.75, queue_s=0.15), feedback_loss=0.2),
    steady("half of the feedback lost", 2e6, Bounds(utilisation=0.65, queue_s=0.25), feedback_loss=0.5),
    steady("feedback every 50 ms", 2e6, USED, SHORT_QUEUE, feedback_s=0.05),
    steady("feedback every 250 ms", 1e6, Bounds(utilisation=0.7, queue_s=0.2), feedback_s=0.25),
    steady(
        "a shaper with a bucket of 10 kB",
        3e5,
        Bounds(utilisation=0.7, queue_s=0.25, highest_ratio=1.6),
        bucket=10_000,
    ),
    steady("other traffic that does not react", 4e6, Bounds(utilisation=0.75, queue_s=0.12), cross=2e6),
    lossy("2 % of random loss", 2e6, 0.02, Bounds(utilisation=0.8, queue_s=0.1)),
    lossy("5 % of random loss", 2e6, 0.05, Bounds(utilisation=0.8, queue_s=0.1)),
    lossy("10 % of random loss", 2e6, 0.10, Bounds(utilisation=0.8, queue_s=0.1, lost=0.14)),
    lossy("10 % of random loss at 800 kbit/s", 8e5, 0.10, Bounds(utilisation=0.75, queue_s=0.15)),
    lossy("5 % of loss in bursts", 2e6, 0.05, Bounds(utilisation=0.7, queue_s=0.12), burst=4),
    steady("a policer at 2 Mbit/s", 2e6, Bounds(utilisation=0.75, lost=0.2), seconds=30, policer=True),
    steady("a policer at 800 kbit/s", 8e5, Bounds(utilisation=0.7, lost=0.25), seconds=30, policer=True),
    change("8 M to 800 k", 8e6, 8e5, Bounds(utilisation=0.7, drained=(0.1, 1.0))),
    change("4 M to 1 M", 4e6, 1e6, Bounds(utilisation=0.75, drained=(0.1, 1.0))),
    change("2 M to 300 k", 2e6, 3e5, Bounds(utilisation=0.65, drained=(0.1, 1.5))),
    change("2 M to 1.5 M", 2e6, 1.5e6, Bounds(utilisation=0.75, drained=(0.1, 1.0))),
    change(
        "8 M to 800 k over a deep queue", 8e6, 8e5, Bounds(utilisation=0.65, drained=(0.2, 2.5)), queue_s=0.6
    ),
    change("300 k to 8 M", 3e5, 8e6, Bounds(utilisation=0.75, reach=(0.8, 6))),
    change("300 k to 2 M", 3e5, 2e6, Bounds(utilisation=0.75, reach=(0.8, 6))),
    change("1 M to 4 M", 1e6, 4e6, Bounds(utilisation=0.75, reach=(0.8, 5))),
    Plan(
        "a dip of 3 s",
        (Phase(0, 4e6), Phase(8, 5e5), Phase(11, 4e6)),
        (Bounds(phase=1, drained=(0.1, 1.2)), Bounds(reach=(0.8, 6), utilisation=0.75)),
        22,
    ),
    Plan(
        "an outage of 1 s",
        (Phase(0, 4e6), Phase(8, 4e6, loss=1.0), Phase(9, 4e6)),
        (Bounds(reach=(0.8, 1.0), utilisation=0.75, queue_s=0.1),),
        19,
    ),
    Plan(
        "a path that becomes 200 ms longer",
        (Phase(0, 2e6), Phase(8, 2e6, longer_s=0.2)),
        (Bounds(reach=(0.8, 8), utilisation=0.75, queue_s=0.12, lost=0.01),),
        28,
    ),
    Plan(
        "a sender that uses little, then much",
        (Phase(0, 4e6, wanted=3e5), Phase(12, 4e6)),
        (Bounds(phase=0, reach=(0.7, 5), queue_s=0.05), Bounds(reach=(0.8, 4), utilisation=0.75)),
        22,
    ),
    Plan(
        "a pause of 5 s",
        (Phase(0, 2e6), Phase(8, 2e6, wanted=1.0), Phase(13, 2e6)),
        (Bounds(reach=(0.7, 2), utilisation=0.75, queue_s=0.12),),
        22,
    ),
    Plan(
        "a sender that does not follow",
        (Phase(0, 2e6),),
        (Bounds(estimate=(1.2e6, 2.2e6)),),
        15,
        fixed=3e6,
    ),
    steady("beside TCP", 4e6, SHARED, seconds=40, cubic=True),
    steady("beside TCP on a busy machine", 4e6, SHARED, seconds=40, cubic=True, busy_s=0.05),
    steady("beside TCP with a long queue", 4e6, SHARED, seconds=40, cubic=True, busy_s=0.03, queue_s=0.3),
]


def test_exactly_two_hundred_links_are_planned() -> None:
    assert len(PLANS) * len(SEEDS) >= 200
    assert len({plan.name for plan in PLANS}) == len(PLANS)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_estimate_stays_within_the_bounds_of_its_link(plan: Plan) -> None:
    violations_by_seed = {seed: violations(Run(plan, seed).play()) for seed in SEEDS}
    assert not any(violations_by_seed.values()), violations_by_seed
