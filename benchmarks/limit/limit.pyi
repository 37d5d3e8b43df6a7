"""Does the minimum that a forwarding service must do with a packet, on one thread, as a baseline."""

class Limit:
    def __init__(self, clients: list[tuple[int, int, bytes, bytes]]) -> None:
        """Prepare the clients. Each is a tuple: its port, its SSRC (0 if it sends nothing), the key for
        packets from the client, and the key for packets to the client.
        """
    @property
    def port(self) -> int: ...
    def run(self) -> None: ...
