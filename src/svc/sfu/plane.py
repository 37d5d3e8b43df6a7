"""The media plane as signalling uses it: protocols for the four objects of `media`.

Sessions use these protocols, so that tests of negotiation need no socket and no packet. All calls are cheap
and never wait.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from svc.sfu.path import BindingCheck, Path


class TransportListener(Protocol):
    """The events of a transport for its session, on the asyncio thread."""

    def check_received(self, check: BindingCheck) -> None: ...
    def stun_received(self, data: bytes, path: Path) -> None: ...
    def dtls_received(self, data: bytes) -> None: ...
    def track_started(self, mid: str, ssrc: int, payload_type: int) -> None: ...
    def path_silent(self, silent: bool) -> None: ...
    def speaking_changed(self, mid: str, speaking: bool, level: int) -> None: ...


class DownTrack(Protocol):
    """One published track on its way to one receiver."""

    id: int

    def set_max_temporal_layer(self, layer: int) -> None: ...
    def set_max_spatial_layer(self, layer: int) -> None: ...
    def set_paused(self, paused: bool) -> None: ...
    def close(self) -> None: ...


class Forwarder(Protocol):
    """The media that a client sends on one m-line to all other members."""

    def set_muted(self, muted: bool) -> None: ...
    def add_down_track(
        self,
        to: "MediaTransport",
        *,
        mid: str,
        ssrc: int,
        rtx_ssrc: int | None,
        payload_types: frozenset[int],
        extension_ids: frozenset[int],
        mixed: bool,
        cname: str,
    ) -> DownTrack: ...


class MediaTransport(Protocol):
    """One client's share of the UDP port."""

    id: int
    transaction_prefix: bytes

    def set_local_credentials(self, ufrag: str, pwd: str) -> None: ...
    def set_controlling(self, controlling: bool) -> None: ...
    def select(self, path: Path) -> None: ...
    def send_stun(self, data: bytes, path: Path) -> None: ...
    def send_dtls(self, data: bytes) -> None: ...
    def set_keys(self, profile: str, local: bytes, remote: bytes) -> None: ...
    def receive_line(
        self,
        mid: str,
        kind: str,
        payload_types: Iterable[int],
        ssrcs: Sequence[int] = (),
        rids: Sequence[str] = (),
    ) -> Forwarder: ...
    def close_line(self, mid: str) -> None: ...
    def set_deafened(self, deafened: bool) -> None: ...
    def want_bandwidth(self, up_to_bps: float, listener: Callable[[int, str], None]) -> None: ...
    def close(self) -> None: ...


class MediaPlane(Protocol):
    """The single media port and all its traffic."""

    @property
    def serves_tcp(self) -> bool: ...
    def open_transport(self, listener: TransportListener) -> MediaTransport: ...
