"""Computes a measurement's result, and formats it as text and for JSON.

The readings are taken by `meter`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from svc.tools.bench.scenario import Scenario
from svc.tools.bench.traffic import LATENCY_BUCKETS

# Smaller shares are not reported, because a shared host and the kernel's threads always take a little CPU
# time.
MAX_STOLEN_PERCENT = 2
MAX_WAITED_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one point in time."""

    at: float  # s
    totals: Mapping[str, int]
    latencies: Sequence[int]
    missed: int
    unread: int
    stolen_s: float
    cpu_ns: int  # 0 if the process is unknown
    waited_ns: int
    memory_kb: int


@dataclass(frozen=True, slots=True)
class Measurement:
    publishers: int
    receivers: int
    size: int
    burst: int
    pps: int  # packets per second requested of each publisher
    seconds: float
    sent: int
    unsent: int  # because the generator was too slow
    late: int  # sent in a burst because the generator was late
    received: int
    discarded: int  # deliberately discarded by the clients, and then requested again
    resent: int  # retransmitted by the service
    lost: int  # packets neither received nor discarded
    missed: int  # lost although they reached our sockets, because of the generator
    unread: int  # dropped by the service's full socket, and so lost to all receivers
    loss_percent: float
    packets_per_s: float
    authenticated: int
    forged: int
    p50_us: float | None
    p90_us: float | None
    p99_us: float | None
    max_us: float | None
    cpu_us_per_packet: float | None  # the server's CPU time per packet that arrived at a receiver
    cpu_percent: float | None  # the server's CPU time as a share of one core
    waited_percent: float  # share of time during which the server was ready to run while others used its core
    memory_kb: int | None
    generator_percent: float  # CPU time of the generator's own thread
    stolen_percent: float  # share of the cores' total time stolen by the host

    @classmethod
    def of(
        cls, scenario: Scenario, pps: int, start: Reading, end: Reading, *, settled: Reading
    ) -> "Measurement":
        """Compute the result: packet counts from `start` to `settled`, and time and CPU use from `start` to
        `end`.
        """
        counted = {name: settled.totals[name] - start.totals[name] for name in settled.totals}
        expected = counted["sent"] * scenario.receivers_of_each
        seconds = end.at - start.at
        cpu_ns = end.cpu_ns - start.cpu_ns
        known = end.cpu_ns > 0
        latencies = [now - then for now, then in zip(settled.latencies, start.latencies, strict=True)]
        received = counted["received"]
        lost = expected - received - counted["discarded"]
        return cls(
            publishers=scenario.publishers,
            receivers=scenario.receivers,
            size=scenario.size,
            burst=scenario.burst,
            pps=pps,
            seconds=round(seconds, 3),
            sent=counted["sent"],
            unsent=counted["unsent"],
            late=counted["late"],
            received=received,
            discarded=counted["discarded"],
            resent=counted["resent"],
            lost=lost,
            missed=settled.missed - start.missed,
            unread=settled.unread - start.unread,
            loss_percent=round(100 * lost / max(expected, 1), 4),
            packets_per_s=round(received / seconds, 1),
            authenticated=counted["authenticated"],
            forged=counted["forged"],
            p50_us=percentile_us(latencies, 0.5),
            p90_us=percentile_us(latencies, 0.9),
            p99_us=percentile_us(latencies, 0.99),
            max_us=percentile_us(latencies, 1.0),
            cpu_us_per_packet=round(cpu_ns / 1000 / received, 3) if known and received else None,
            cpu_percent=round(cpu_ns / seconds / 1e7, 1) if known else None,
            waited_percent=round((end.waited_ns - start.waited_ns) / seconds / 1e7, 1),
            memory_kb=end.memory_kb if known else None,
            generator_percent=round((end.totals["busy_ns"] - start.totals["busy_ns"]) / seconds / 1e7, 1),
            stolen_percent=round(100 * (end.stolen_s - start.stolen_s) / seconds, 1),
        )

    def json(self) -> dict[str, object]:
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the result as text."""
        bursts = f" in bursts of {self.burst}" if self.burst > 1 else ""
        lines = [
            f"{self.publishers} x {self.pps} packets/s of {self.size} bytes{bursts}, "
            f"{self.receivers} more receivers, {self.seconds:.1f} s",
            f"  forwarded   {self.packets_per_s:,.0f} packets/s, "
            f"{self.lost} of {self.received + self.lost} lost ({self.loss_percent} %)",
        ]
        if self.discarded:
            lines.append(f"  asked for   {self.discarded} again, {self.resent} came again")
        if self.p50_us is not None:
            lines.append(
                f"  latency     p50 {self.p50_us:.0f}  p90 {self.p90_us:.0f}  p99 {self.p99_us:.0f}  "
                f"max {self.max_us:.0f} us, of {self.authenticated} packets authenticated"
            )
        if self.cpu_us_per_packet is not None:
            lines.append(
                f"  server      {self.cpu_us_per_packet:.2f} us of CPU per forwarded packet, "
                f"{self.cpu_percent} % of a core, {(self.memory_kb or 0) / 1024:.0f} MB resident"
            )
        return lines + [f"  beware: {warning}" for warning in self.warnings()]

    def warnings(self) -> list[str]:
        """Return reasons to suspect that the figures describe the generator or the host, not the service."""
        warnings = []
        if self.forged:
            warnings.append(f"{self.forged} packets were not authentic")
        if self.unsent:
            warnings.append(f"the generator was too late to send {self.unsent} packets")
        if self.late > self.sent / 100:
            warnings.append(f"the generator sent {self.late} packets late, in bursts")
        if self.missed:
            warnings.append(
                f"{self.missed} of the lost packets arrived; the generator was too slow to take them"
            )
        if self.generator_percent > 85:
            warnings.append(f"the generator was busy {self.generator_percent} % of the time")
        if self.waited_percent > MAX_WAITED_PERCENT:
            warnings.append(f"the server waited for its core {self.waited_percent} % of the time")
        if self.stolen_percent > MAX_STOLEN_PERCENT:
            warnings.append(f"the host took {self.stolen_percent} % of the time")
        return warnings


def percentile_us(histogram: Sequence[int], share: float) -> float | None:
    """Return the latency in microseconds within which `share` of the packets arrived, or None if there are no
    packets.
    """
    rank = share * sum(histogram)
    if not rank:
        return None
    below = 0
    for start, end, count in zip(LATENCY_BUCKETS, LATENCY_BUCKETS[1:], histogram, strict=False):
        if count and below + count >= rank:
            return round((start + (end - start) * (rank - below) / count) * 1e6, 1)
        below += count
    return round(LATENCY_BUCKETS[-1] * 1e6, 1)
