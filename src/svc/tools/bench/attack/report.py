"""Formats the results of attacks as a readable table and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from svc.tools.bench.attack.honest_members import Noticed

# If the generator's delay exceeds this value, the figures may describe this machine rather than the server.
MAX_LATE_MS = 20.0
# The same applies if the share of time for which the server waited for its core exceeds this value.
MAX_WAITED = 0.05
_HEADINGS = (
    *("Attack", "Load", "Delivery", "Request", "Search", "Stranger"),
    *("Refused", "Processor", "Memory", "Log"),
)


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies in milliseconds; zero if nothing was measured."""

    p50_ms: float
    p99_ms: float
    worst_ms: float

    @classmethod
    def of(cls, latencies_s: Sequence[float]) -> "Latency":
        ordered = sorted(latencies_s) or [0.0]
        return cls(*(round(ordered[int(share * (len(ordered) - 1))] * 1000, 1) for share in (0.5, 0.99, 1)))

    def __str__(self) -> str:
        return f"{self.p50_ms:.0f} / {self.p99_ms:.0f} / {self.worst_ms:.0f}"


@dataclass(frozen=True, slots=True)
class Effort:
    """The server's cumulative CPU use at one point in time, in seconds."""

    at_s: float
    processor_s: float  # CPU time of all its threads
    waited_s: float  # waiting for a core that others used


def shares_used(before: Effort | None, after: Effort | None) -> tuple[float, float] | None:
    """Return the shares of a core that the server used and waited for, or None if unknown."""
    if before is None or after is None:
        return None
    took_s = after.at_s - before.at_s
    return (after.processor_s - before.processor_s) / took_s, (after.waited_s - before.waited_s) / took_s


@dataclass(frozen=True, slots=True)
class Row:
    attack: str
    seconds: float
    requests: int  # from the attackers
    connections: int  # maximum number of connections that the attackers had open at the same time
    answers: Mapping[str, int]  # to the attackers
    delivery: Latency
    request: Latency
    search: Latency
    stranger: Latency
    lost: int
    refused: Mapping[str, int]  # requests from signed-in members
    strangers_refused: Mapping[str, int]
    memory_mb: float | None  # growth of the server's memory
    log_kb_per_minute: float | None
    generator_late: Latency
    processor: float | None  # CPU use of the server, in cores
    waited: float | None  # the server's wait for a core that others used, in cores

    @classmethod
    def of(
        cls,
        attack: str,
        seconds: float,
        noticed: Noticed,
        did: Mapping[str, Mapping[str, object]],
        memory_mb: float | None,
        log_bytes: int | None,
        effort: tuple[float, float] | None,
    ) -> "Row":
        """Combine the members' measurements with `did`, the attackers' reports by attack."""
        answers: dict[str, int] = {}
        for report in did.values():
            statuses = report["answers"]
            assert isinstance(statuses, dict)
            for answer, times in statuses.items():
                answers[answer] = answers.get(answer, 0) + times
        return cls(
            attack=attack,
            seconds=seconds,
            requests=sum(int(str(report["requests"])) for report in did.values()),
            connections=sum(int(str(report["held"])) for report in did.values()),
            answers=answers,
            delivery=Latency.of(noticed.deliveries_s),
            request=Latency.of(noticed.requests_s),
            search=Latency.of(noticed.searches_s),
            stranger=Latency.of(noticed.strangers_s),
            lost=noticed.lost,
            refused=dict(noticed.refused),
            strangers_refused=dict(noticed.strangers_refused),
            memory_mb=memory_mb,
            log_kb_per_minute=None if log_bytes is None else round(log_bytes / 1024 / seconds * 60, 1),
            generator_late=Latency.of(noticed.late_s),
            processor=effort and round(effort[0], 3),
            waited=effort and round(effort[1], 3),
        )

    def json(self) -> dict[str, object]:
        return asdict(self)

    def cells(self) -> Sequence[str]:
        load = [f"{self.requests / self.seconds:,.0f}/s"] if self.requests else []
        load += [f"{self.connections:,} held"] if self.connections else []
        return (
            self.attack if " " in self.attack or self.attack == "none" else f"`{self.attack}`",
            ", ".join(load) or "–",
            *map(str, (self.delivery, self.request, self.search, self.stranger)),
            str(sum(self.refused.values())),
            "–" if self.processor is None else f"{self.processor:.0%}",
            "–" if self.memory_mb is None else f"{self.memory_mb:+.0f}",
            "–" if self.log_kb_per_minute is None else f"{self.log_kb_per_minute:,.0f}",
        )

    def remarks(self) -> list[str]:
        """Return remarks on the results that the table does not show."""
        remarks = [f"{what} ({times} times)" for what, times in self.refused.items()]
        remarks += [f"a stranger's {what} ({times} times)" for what, times in self.strangers_refused.items()]
        if self.lost:
            remarks.append(f"{self.lost} deliveries missing")
        if self.generator_late.p99_ms > MAX_LATE_MS:
            remarks.append(f"the bench itself was late: {self.generator_late} ms")
        if self.waited is not None and self.waited > MAX_WAITED:
            remarks.append(f"the server waited for its core for {self.waited:.0%} of the time")
        return [f"  {self.attack}: {remark}" for remark in remarks]


def heading() -> str:
    """Return a legend for the columns, followed by the table's two heading lines in Markdown."""
    legend = (
        "Delivery, Request and Search: p50 / p99 / worst in ms, as honest members noticed them. "
        "Stranger: the same of requests without a token. "
        "Refused: signed-in members. Processor: share of a core that the server used. "
        "Memory: MB that it grew. Log: KB a minute."
    )
    return f"{legend}\n\n{_line(_HEADINGS)}\n{'|---' * len(_HEADINGS)}|"


def line(row: Row) -> str:
    return _line(row.cells())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
