"""Records the arrival times of audio, as far as polling can determine them."""

from typing import NamedTuple


class Arrival(NamedTuple):
    """A packet's arrival, between two times in seconds on the monotonic clock."""

    after: float
    by: float
