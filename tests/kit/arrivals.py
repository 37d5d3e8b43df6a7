"""The arrival times of audio, as far as polling can determine them."""

from typing import NamedTuple


class Arrival(NamedTuple):
    """A packet's arrival, which was between the two given times, in seconds of the monotonic clock."""

    after: float
    by: float
