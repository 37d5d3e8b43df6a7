"""Does the minimum of what a forwarding service must do with a packet, on one thread, as a baseline."""

class Limit:
    def __init__(self, clients: list[tuple[int, int, bytes, bytes]]) -> None:
        """Each client is a tuple: port, SSRC or 0, key for packets from the client, key for packets to the
        client.
        """
    @property
    def port(self) -> int: ...
    def run(self) -> None: ...
