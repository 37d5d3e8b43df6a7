"""The estimate and memory use stay within bounds, no matter which reports arrive about which packets."""

from svc._rtp.bandwidth import Estimator
from tests.fuzz.program import Program

IN_PYTHON = False


def run(data: bytes) -> None:
    program = Program(data)
    estimator = Estimator(program.number(3), program.number(2))
    now = 1.0
    while program.left:
        now += program.choice((0.0, 0.0001, 0.005, 0.1, 2.0, 4000.0))
        for _ in range(program.number() % 64):
            estimator.sent(program.choice((1, 60, 1200, 65535)), now)
        statuses: list[tuple[int, float | None]] = []
        for _ in range(program.number() % 16):
            received = program.number() & 1
            arrival = program.number(4, signed=True) / 4000
            statuses.append((program.number(2), arrival if received else None))
        assert estimator.feedback(statuses, program.number(3), now) <= len(statuses)
        estimator.advance(now)
        assert 20_000 <= estimator.estimate() <= 1e9
        assert estimator.bytes_due(now) <= 65_536
        assert estimator.capacity() <= 8192
