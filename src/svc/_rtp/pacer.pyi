"""Pacer: decides when one receiver's packets are sent."""

class Pace:
    """A Pacer for manual control in tests. Times are in seconds, rates in bit/s."""

    def set_rate(self, estimate: float, queue: float = 0.0) -> None:
        """Set the pace for the given estimate and queue in the downlink."""
    def withheld_from(self, waiting_bytes: int, now: float, keyframe: bool = False) -> int:
        """Return the lowest temporal layer whose new frames are withheld, or 255 if there is none."""
    def keyframe_queued(self, waiting_bytes: int, now: float) -> None: ...
    def is_due(self, since: float, now: float) -> bool:
        """Return whether a packet that has waited since `since` may be sent."""
    def sent(self, size: int, now: float) -> None: ...
    def longest_wait(self, now: float) -> float: ...
