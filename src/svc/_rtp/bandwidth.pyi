"""Bandwidth: estimates the bit rate of one receiver's downlink from the receiver's feedback."""

REASONS: dict[int, str]

class Estimator:
    """A Bandwidth with its packets, for manual control in tests. Times are in seconds, rates in bit/s.

    `wanted` is the highest rate to probe for, or 0 to send no probes. `first_number` is the first packet's
    number.
    """

    def __init__(self, wanted: float = 0.0, first_number: int = 0) -> None: ...
    def want(self, wanted: float) -> None: ...
    def sent(self, size: int, now: float) -> int:
        """Record a sent packet and return its transport-wide number."""
    def resent(self, number: int) -> None: ...
    def feedback(self, statuses: list[tuple[int, float | None]], reference: int, now: float) -> int:
        """Process feedback: each packet's number and arrival time, or None if the packet was lost. Return the
        number of packets that had not been reported before.

        Arrival times use the receiver's clock, modulo 2^24 x 64 ms. `reference` counts units of 64 ms.
        """
    def advance(self, now: float) -> None: ...
    def bytes_due(self, now: float) -> int:
        """Return the number of bytes to send now for a probe. It is 0 or less if no probe is due."""
    def estimate(self) -> float: ...
    def reason(self) -> str: ...
    def capacity(self) -> int:
        """Return the number of packets whose sending times can be remembered."""
    def state(self) -> dict[str, float]: ...
