"""Counts a database's commits and their durations, for the metrics."""

from bisect import bisect_left
from dataclasses import dataclass, field

# The maximum number of writes in one commit. Each write takes about 10 µs. A larger group would delay its
# first write without making the fsync cheaper.
MAX_GROUP = 1_000
# A commit usually contains a single write under light load, and hundreds of writes under heavy load. It
# usually takes a millisecond or two.
GROUP_BUCKETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, MAX_GROUP)
COMMIT_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)


@dataclass(slots=True)
class Statistics:
    """The commit counts, maintained by the writer's thread.

    Each bucket has its own count. The last bucket is for values above all bounds.
    """

    writes: int = 0
    failed_writes: int = 0
    group_sizes: list[int] = field(default_factory=lambda: [0] * (len(GROUP_BUCKETS) + 1))
    commit_times: list[int] = field(default_factory=lambda: [0] * (len(COMMIT_BUCKETS_S) + 1))
    commit_seconds: float = 0.0

    def committed(self, writes: int, seconds: float) -> None:
        self.writes += writes
        self.group_sizes[bisect_left(GROUP_BUCKETS, writes)] += 1
        self.commit_times[bisect_left(COMMIT_BUCKETS_S, seconds)] += 1
        self.commit_seconds += seconds
