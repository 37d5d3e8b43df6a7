"""Engine: the core as one object, without I/O."""

from collections.abc import Iterable, Sequence

# The third number identifies a TCP connection. Without it, the address is UDP.
Address = tuple[str, int] | tuple[str, int, int]
# (kind, transport id, attached bytes, remote, local ip, a, b, c); kinds and numbers: ring.pxd.
Event = tuple[str, int, bytes, Address, str, int, int, int]

COUNTERS: tuple[str, ...]
DELAY_BUCKETS: tuple[float, ...]

class Engine:
    """The core's objects, by id. Methods post commands, which the core's thread applies in order.

    A command for an id that is gone does nothing. `seed` (64 random bits) is the secret behind the
    core's tables and the tag of its STUN transaction ids.
    """

    def __init__(self, *, seed: int) -> None: ...
    def negotiate(
        self,
        *,
        payloads: Iterable[tuple[int, str, str, int, int | None]],
        mid_id: int,
        twcc_id: int,
        level_id: int,
        descriptor_id: int,
        forwarded_ids: Iterable[int],
        rid_id: int = 0,
        repaired_rid_id: int = 0,
    ) -> None:
        """Say what this SFU negotiates; once, before anything else.

        `payloads`: (payload type, "audio" or "video", codec name, clock rate in Hz, RTX payload type
        or None).
        `forwarded_ids`: the extensions that go from sender to receivers; all others are hop by hop.
        """
    def set_verbose(self, verbose: bool) -> None:
        """Tell of each forwarded packet; before the thread starts."""
    def open_transport(self, rtcp_ssrc: int) -> int: ...
    def transaction_prefix(self, transport: int) -> bytes:
        """The first 8 bytes of every STUN transaction id sent for a transport (0: for none)."""
    def set_credentials(self, transport: int, ufrag: str, pwd: str) -> None: ...
    def set_controlling(self, transport: int, controlling: bool) -> None: ...
    def select(self, transport: int, remote: Address, local: str) -> None: ...
    def send_stun(self, data: bytes, remote: Address, local: str) -> None: ...
    def send_dtls(self, transport: int, data: bytes) -> None: ...
    def set_keys(self, transport: int, profile: str, local: bytes, remote: bytes) -> None:
        """Master keys with their salts; ValueError for an unknown profile or a second call."""
    def open_line(
        self,
        transport: int,
        forwarder: int,
        mid: str,
        kind: str,
        payload_types: Iterable[int],
        ssrcs: Iterable[int],
        rids: Sequence[str] = (),
    ) -> int:
        """Let a participant send on a line, or change what it may send there.

        `rids` are the encodings in which the track may come, the smallest first; none for one alone.
        The forwarder's id is returned; 0 asks for a new one.
        """
    def open_down_track(
        self,
        forwarder: int,
        transport: int,
        *,
        mid: str,
        mid_id: int,
        ssrc: int,
        rtx_ssrc: int,
        payload_types: Iterable[int],
        extension_ids: Iterable[int],
        mixed: bool,
        cname: str,
    ) -> int: ...
    def close_transport(self, transport: int) -> None: ...
    def close_forwarder(self, forwarder: int) -> None: ...
    def close_down_track(self, down_track: int) -> None: ...
    def set_muted(self, forwarder: int, muted: bool) -> None: ...
    def set_deafened(self, transport: int, deafened: bool) -> None: ...
    def set_layer(self, down_track: int, layer: int) -> None: ...
    def set_spatial_layer(self, down_track: int, layer: int) -> None:
        """Send encodings up to this one, where the track has several; 255 for the largest."""
    def set_paused(self, down_track: int, paused: bool) -> None: ...
    def want_bandwidth(self, transport: int, up_to: float) -> None:
        """Tell what the line to a participant carries, and probe up to a rate in bit/s; 0 = no more."""
    def take_events(self) -> list[Event]: ...
    def counters(self) -> dict[str, int]: ...

class ManualEngine(Engine):
    """An Engine driven by hand, for tests and simulations: times are seconds.

    `shards`: receivers are divided as among so many threads that send; all of it comes out here.
    """

    def __init__(self, *, seed: int, shards: int = 1) -> None: ...
    def receive(self, data: bytes, remote: Address, local: str, now: float) -> None: ...
    def advance(self, now: float) -> None: ...
    def next_deadline(self) -> float:
        """When advance has to be called at the latest, if nothing comes before that."""
    def take_datagrams(self) -> list[tuple[bytes, Address, str]]: ...
    def limit(self, room: int | None) -> None:
        """Let so many datagrams out from now on: more are not taken, as by a full socket. None = all."""
