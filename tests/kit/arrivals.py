"""When sound arrives, as somebody knows who looks now and then."""

from typing import NamedTuple


class Arrival(NamedTuple):
    """It came between these two times, in seconds of the clock."""

    after: float
    by: float
