"""The minimum that a forwarding service does to a packet, on one thread: the baseline for the service."""

class Limit:
    def __init__(self, clients: list[tuple[int, int, bytes, bytes]]) -> None:
        """`clients`: (port, SSRC or 0, key for packets from the client, key for packets to the client)."""
    @property
    def port(self) -> int: ...
    def run(self) -> None: ...
