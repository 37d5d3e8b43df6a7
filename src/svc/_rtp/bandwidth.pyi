"""Bandwidth: the bit rate that the line to one receiver carries, estimated from the receiver's feedback."""

REASONS: dict[int, str]

class Estimator:
    """A Bandwidth with its packets, driven by hand; for tests. Times are seconds, rates bit/s.

    `wanted`: up to which rate it may probe; 0 = not at all. `first_number`: of the first packet.
    """

    def __init__(self, wanted: float = 0.0, first_number: int = 0) -> None: ...
    def want(self, wanted: float) -> None: ...
    def sent(self, size: int, now: float) -> int:
        """Note that a packet goes, and return its transport-wide number."""
    def feedback(self, statuses: list[tuple[int, float | None]], reference: int, now: float) -> int:
        """Take in (number, arrival or None) of each packet; returns of how many it said anything new.

        Arrivals count from 0 of the receiver's clock modulo 2^24 times 64 ms, `reference` in such times.
        """
    def advance(self, now: float) -> None: ...
    def owed(self, now: float) -> int:
        """How many bytes a probe is owed now; 0 or less where none is under way."""
    def estimate(self) -> float: ...
    def reason(self) -> str: ...
    def remembered(self) -> int:
        """Of how many packets at most it still knows when they went."""
    def state(self) -> dict[str, float]: ...
