"""Provides a media plane that forwards nothing and records every call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType

from svc.sfu.media_protocols import MediaTransport, TransportListener
from svc.sfu.network_path import Path


@dataclass(eq=False)
class RecordedDownTrack:
    to: MediaTransport
    mid: str
    ssrc: int
    rtx_ssrc: int | None
    payload_types: frozenset[int]
    extension_ids: frozenset[int]
    mixed: bool
    cname: str
    encoding: int = -1
    layers: list[int] = field(default_factory=list)
    spatial_layers: list[int] = field(default_factory=list)
    pauses: list[bool] = field(default_factory=list)
    paced: bool = False
    closed: bool = False
    id: int = field(default_factory=count(1).__next__)

    def set_max_temporal_layer(self, layer: int) -> None:
        self.layers.append(layer)

    def set_max_spatial_layer(self, layer: int, *, at_once: bool = False) -> None:
        self.spatial_layers.append(layer)

    def set_paused(self, paused: bool) -> None:
        self.pauses.append(paused)

    def set_paced(self, paced: bool) -> None:
        self.paced = paced

    def close(self) -> None:
        assert not self.closed, "closed once"
        self.closed = True


@dataclass(eq=False)
class RecordedForwarder:
    mid: str
    kind: str
    payload_types: frozenset[int]
    ssrcs: tuple[int, ...]
    rids: tuple[str, ...] = ()
    muted: bool = False
    closed: bool = False
    down_tracks: list[RecordedDownTrack] = field(default_factory=list)

    def set_muted(self, muted: bool) -> None:
        self.muted = muted

    def add_down_track(
        self,
        to: MediaTransport,
        *,
        mid: str,
        ssrc: int,
        rtx_ssrc: int | None,
        payload_types: frozenset[int],
        extension_ids: frozenset[int],
        mixed: bool,
        cname: str,
        encoding: int = -1,
    ) -> RecordedDownTrack:
        assert not self.closed, "nothing is forwarded from a closed section"
        track = RecordedDownTrack(
            to, mid, ssrc, rtx_ssrc, payload_types, extension_ids, mixed, cname, encoding
        )
        self.down_tracks.append(track)
        return track


class RecordedTransport:
    def __init__(self, listener: TransportListener, number: int) -> None:
        self.id = number
        self.transaction_prefix = number.to_bytes(8)
        self.listener = listener
        self.credentials: list[tuple[str, str]] = []
        self.controlling = True
        self.selected: list[Path] = []
        self.linked: list[tuple[Path, list[int]]] = []
        self.stun: list[tuple[bytes, Path]] = []
        self.dtls: list[bytes] = []
        self.keys: list[tuple[str, bytes, bytes]] = []
        self.sections: dict[str, RecordedForwarder] = {}
        self.deafened = False
        self.bandwidth_listener: Callable[[int, str, int], None] | None = None
        self.probed_bps = 0.0
        self.closed = False

    def set_local_credentials(self, ufrag: str, pwd: str) -> None:
        self.credentials.append((ufrag, pwd))

    def set_controlling(self, controlling: bool) -> None:
        self.controlling = controlling

    def select(self, path: Path) -> None:
        self.selected.append(path)

    def link(self, path: Path, ssrcs: Sequence[int]) -> None:
        self.linked.append((path, list(ssrcs)))

    def send_stun(self, data: bytes, path: Path) -> None:
        self.stun.append((data, path))

    def send_dtls(self, data: bytes) -> None:
        self.dtls.append(data)

    def set_keys(self, profile: str, local: bytes, remote: bytes) -> None:
        self.keys.append((profile, local, remote))

    def receive_section(
        self,
        mid: str,
        kind: str,
        payload_types: Iterable[int],
        ssrcs: Sequence[int] = (),
        rids: Sequence[str] = (),
    ) -> RecordedForwarder:
        if mid in self.sections:
            self.sections[mid].ssrcs = tuple(ssrcs)
        else:
            self.sections[mid] = RecordedForwarder(mid, kind, frozenset(payload_types), tuple(ssrcs))
        self.sections[mid].rids = tuple(rids)
        return self.sections[mid]

    def close_section(self, mid: str) -> None:
        self.sections.pop(mid).closed = True

    def set_deafened(self, deafened: bool) -> None:
        self.deafened = deafened

    def want_bandwidth(self, up_to_bps: float, listener: Callable[[int, str, int], None]) -> None:
        assert up_to_bps > 0
        self.probed_bps = up_to_bps
        self.bandwidth_listener = listener

    def close(self) -> None:
        assert not self.closed, "closed once"
        self.closed = True


class RecordedPlane:
    """An implementation of `svc.sfu.media_protocols.MediaPlane`, including its measurements and its probe."""

    delay_buckets: Sequence[float] = (0.001,)
    encryption: Mapping[str, str] = MappingProxyType({"sealed_by": "nobody", "aes": "unknown"})
    port = 3478
    probe_prefix = bytes(8)
    serves_tcp = False

    def __init__(self) -> None:
        self.transports: list[RecordedTransport] = []
        self.counters: dict[str, int] = {}
        self.probes: list[tuple[bytes, Path]] = []
        self.probe_listener: Callable[[bytes, Path], None] | None = None
        self._numbers = count(1)

    def open_transport(self, listener: TransportListener, rtcp_ssrc: int | None = None) -> RecordedTransport:
        self.transports.append(RecordedTransport(listener, next(self._numbers)))
        return self.transports[-1]

    def set_probe_listener(self, listener: Callable[[bytes, Path], None] | None) -> None:
        self.probe_listener = listener

    def send_stun(self, data: bytes, path: Path) -> None:
        self.probes.append((data, path))

    def statistics(self) -> dict[str, int]:
        return self.counters

    def forwarding_delay(self) -> tuple[Sequence[int], float]:
        return (0, 0), 0.0
