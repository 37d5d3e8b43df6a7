"""Pacer: when the packets of one receiver leave."""

class Pace:
    """A Pacer for manual control in tests. Times are in seconds, rates in bit/s."""

    def set_rate(self, estimate: float, queue: float = 0.0) -> None:
        """Pace for this estimate and this queue in the line."""
    def withheld_from(self, waiting_bytes: int, now: float, keyframe: bool = False) -> int:
        """Return the temporal layer from which on a new frame is refused; 255 = none is."""
    def keyframe_queued(self, waiting_bytes: int, now: float) -> None: ...
    def is_due(self, since: float, now: float) -> bool:
        """Return whether a packet that has waited since `since` may leave."""
    def sent(self, size: int, now: float) -> None: ...
    def longest_wait(self, now: float) -> float: ...
