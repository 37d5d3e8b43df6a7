"""Engine: the core as one object, without I/O."""

from collections.abc import Iterable, Sequence

# The third element, if any, identifies a TCP connection. Without it, the address is a UDP address.
Address = tuple[str, int] | tuple[str, int, int]
# (kind, transport id, attached bytes, remote, local ip, a, b, c). event_ring.pxd defines kinds and numbers.
Event = tuple[str, int, bytes, Address, str, int, int, int]

COUNTERS: tuple[str, ...]
DELAY_BUCKETS: tuple[float, ...]

class Engine:
    """The core. Its objects have ids. Methods post commands, which the core's thread applies in order. A
    command for an id that no longer exists does nothing. `seed` (64 random bits) is the secret for the core's
    tables and for the tag of its STUN transaction ids.
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
        red: tuple[int, int] = (0, 0),
    ) -> None:
        """Set the payload types and extensions that this SFU negotiates. Call this once, before any other
        method.

        Each of `payloads` is a tuple: payload type, "audio" or "video", codec name, clock rate in Hz, RTX
        payload type or None. `red` is the payload type of RED, which is also in `payloads`, and the payload
        type of the audio in it. `forwarded_ids` are the extensions that are forwarded to receivers. All other
        extensions are hop-by-hop.
        """
    def set_verbose(self, verbose: bool) -> None:
        """Report each forwarded packet as an event. Call this before the thread starts."""
    def open_transport(self, rtcp_ssrc: int) -> int: ...
    def transaction_prefix(self, transport: int) -> bytes:
        """Return the first 8 bytes of a transport's STUN transaction ids. Use 0 for requests that do not
        belong to a transport.
        """
    def set_credentials(self, transport: int, ufrag: str, pwd: str) -> None: ...
    def set_controlling(self, transport: int, controlling: bool) -> None: ...
    def select(self, transport: int, remote: Address, local: str, ssrcs: Sequence[int] = ()) -> None:
        """Send on this path. With `ssrcs`, the transport is a link to another SFU, without ICE.

        The other SFU sends `ssrcs` on the link. The SSRCs identify the link, because all links between two
        SFUs have the same address. For several encodings, the SSRCs of media and RTX alternate.
        """
    def send_stun(self, data: bytes, remote: Address, local: str) -> None: ...
    def send_dtls(self, transport: int, data: bytes) -> None: ...
    def set_keys(self, transport: int, profile: str, local: bytes, remote: bytes) -> None:
        """Set the master keys with their salts. Raises ValueError for an unknown profile or a second call."""
    def open_section(
        self,
        transport: int,
        forwarder: int,
        mid: str,
        kind: str,
        payload_types: Iterable[int],
        ssrcs: Iterable[int],
        rids: Sequence[str] = (),
    ) -> int:
        """Accept media from a participant in a media section, or change which media the section accepts.

        `rids` lists the track's encodings, smallest first. It is empty for a single encoding. Return the
        forwarder's id. If `forwarder` is 0, create a forwarder.
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
        encoding: int = -1,
    ) -> int:
        """Forward a track to a participant, or only one of its encodings."""
    def close_transport(self, transport: int) -> None: ...
    def close_forwarder(self, forwarder: int) -> None: ...
    def close_down_track(self, down_track: int) -> None: ...
    def set_muted(self, forwarder: int, muted: bool) -> None: ...
    def set_deafened(self, transport: int, deafened: bool) -> None: ...
    def set_layer(self, down_track: int, layer: int) -> None: ...
    def set_spatial_layer(self, down_track: int, layer: int, at_once: bool = False) -> None:
        """Forward no larger encoding of a track than this. 255 means no limit.

        With `at_once`, send no larger encoding while waiting for the keyframe of a smaller one.
        """
    def set_paused(self, down_track: int, paused: bool) -> None: ...
    def set_paced(self, down_track: int, paced: bool) -> None:
        """Pace a video track to a receiver with an estimate, or stop pacing it."""
    def want_bandwidth(self, transport: int, up_to: float) -> None:
        """Report the bandwidth of a participant's downlink, and probe up to the given rate in bit/s. A rate
        of 0 stops both.
        """
    def take_events(self) -> list[Event]: ...
    def counters(self) -> dict[str, int]: ...

class ManualEngine(Engine):
    """An Engine for manual control in tests and simulations. Times are in seconds.

    The receivers are divided as if among `shards` sending threads. All output is collected here.
    """

    def __init__(self, *, seed: int, shards: int = 1) -> None: ...
    def receive(self, data: bytes, remote: Address, local: str, now: float) -> None: ...
    def advance(self, now: float) -> None: ...
    def next_deadline(self) -> float:
        """Return the latest time for the next call to advance, if nothing arrives earlier."""
    def take_datagrams(self) -> list[tuple[bytes, Address, str]]: ...
    def limit(self, room: int | None) -> None:
        """Accept only this many datagrams from now on, like a full socket. None means no limit."""
