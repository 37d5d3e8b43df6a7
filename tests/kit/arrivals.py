"""The arrival times of audio, as polling reveals them."""

from typing import NamedTuple


class Arrival(NamedTuple):
    """A packet that arrived between these two times, in seconds of the clock."""

    after: float
    by: float
