"""Provides the service's metrics: gauges, the encryption in use, counters and the forwarding delay.

The gauges are set from the actual state (`resync`) rather than incremented and decremented, so they cannot
drift. `app` calls `resync` every 15 s. Packets are counted by the core. Does not serve HTTP. See
docs/configuration.md, "SFU metrics".
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from svc.base.metrics import Registry
from svc.sfu.sfu import Sfu

RESYNC_INTERVAL_S = 15.0

_SESSION_COUNTERS = {
    "handshake_failures": "DTLS handshakes that failed",
    "refused_joins": "Joins that were refused",
    "refused_messages": "Messages of participants that could not be used",
    "refused_tracks": "Tracks that a client could not be given",
    "dropped_control_messages": "Messages of chat servers that were dropped",
}

_CORE_COUNTERS = {
    "packets_received": "RTP packets received, authenticated and well formed; some are dropped later",
    "bytes_received": "Bytes of these packets",
    "packets_sent": "Datagrams sent",
    "bytes_sent": "Bytes sent",
    "dropped_unknown_source": "Datagrams dropped: from an unauthenticated source",
    "dropped_malformed": "Datagrams dropped: not what they claim to be",
    "dropped_oversized": "Datagrams dropped: larger than any media packet",
    "dropped_unauthenticated": "Datagrams dropped: encrypted or signed with another key",
    "dropped_not_negotiated": "Datagrams dropped: of no negotiated media section or codec",
    "dropped_duplicate": "Datagrams dropped: seen before",
    "dropped_pool_exhausted": "Datagrams dropped: no memory slot was free",
    "dropped_ring_full": "Datagrams dropped: the control side was too slow",
    "dropped_send_failed": "Datagrams dropped: the system did not take them",
    "dropped_stun": "STUN messages dropped",
    "dropped_overload_video": "Video packets dropped: they waited to be sent for too long",
    "dropped_overload_audio": "Audio packets dropped: they waited to be sent for too long; video goes first",
    "dropped_slow_video": "Video packets dropped: the receiver's TCP connection accepted no more",
    "dropped_slow_audio": "Audio packets dropped: the receiver's TCP connection accepted no more",
    "nacks_received": "Retransmissions requested by receivers",
    "nacks_sent": "Retransmissions requested from senders",
    "retransmissions_sent": "Packets sent again to receivers",
    "retransmissions_received": "Packets sent again by senders",
    "plis_received": "Requests of receivers for a key frame",
    "plis_sent": "Requests to senders for a key frame",
    "descriptors_unread": "Dependency Descriptors that could not be read; their packets are forwarded whole",
    "fillers_sent": "Padding packets that fill the number of a layer that is not forwarded",
    "probes_sent": "Packets sent only to find out how much a receiver's downlink carries",
    "bandwidth_reports": "Transport-wide feedback received from receivers",
    "bandwidth_reports_ignored": "Of these, reports of packets that were never sent or had been reported",
    "dropped_paced": "Video packets withheld from receivers whose paced queue was full",
    "redundant_sent": "Audio packets sent together with the packet before them (RED), or a second time",
    "audio_recovered": "Lost audio packets recovered from a sender's RED",
    "layers_dropped": "Packets withheld from receivers that requested fewer temporal layers",
    "encoding_switches": "Times that a receiver went on with another encoding (simulcast) of a track",
    "tcp_accepted": "TCP connections accepted at the media port",
    "tcp_refused": "TCP connections closed at the media port because no participant's check came over them",
}

_Value = TypeVar("_Value")


class MeasuredPlane(Protocol):
    """The part of the media plane that the metrics read."""

    delay_buckets: Sequence[float]
    encryption: Mapping[str, str]
    port: int

    @property
    def serves_tcp(self) -> bool: ...
    def statistics(self) -> Mapping[str, int]: ...
    def forwarding_delay(self) -> tuple[Sequence[int], float]: ...


class Measurements:
    """The metric registry of one running service."""

    def __init__(self, sfu: Sfu, plane: MeasuredPlane) -> None:
        registry = Registry()
        self._sfu = sfu
        self._rooms = registry.gauge("svc_sfu_rooms_active", "Rooms that exist")
        self._peers = registry.gauge("svc_sfu_peers_active", "Peers in rooms")
        self._connections = registry.gauge("svc_sfu_websocket_connections_active", "Open WebSockets")
        self._tracks = registry.gauge("svc_sfu_tracks_active", "Tracks being forwarded")
        registry.gauge("svc_sfu_media_port", "The port of all media").set(plane.port)
        registry.gauge("svc_sfu_media_tcp", "1 where that port takes media over TCP too").set(
            plane.serves_tcp
        )
        registry.info("svc_sfu_encryption", "How outgoing media is encrypted", plane.encryption)
        registry.counters_from(lambda: _prefix_names(sfu.tally), _prefix_names(_SESSION_COUNTERS))
        registry.counters_from(lambda: _prefix_names(plane.statistics()), _prefix_names(_CORE_COUNTERS))
        registry.histogram_from(
            "svc_sfu_forwarding_delay_seconds",
            "Time from the arrival of a packet until it has left for every receiver",
            plane.delay_buckets,
            plane.forwarding_delay,
        )
        self.exposition = registry.exposition

    def resync(self) -> None:
        """Set the gauges from the current state."""
        rooms = list(self._sfu.rooms.rooms())
        self._rooms.set(len(rooms))
        self._peers.set(self._sfu.rooms.peers)
        self._connections.set(len(self._sfu.connections))
        self._tracks.set(sum(len(room.tracks) for room in rooms))


def _prefix_names(values: Mapping[str, _Value]) -> dict[str, _Value]:
    return {f"svc_sfu_{name}": value for name, value in values.items()}
