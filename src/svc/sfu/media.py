"""Connects the control plane to the media plane: transports, forwarders and down tracks.

The only module that imports the native core. It gives the core the codec tables, turns the core's events into
calls, and maps its ids to objects. Makes no decisions about rooms, ICE or offers. All calls are cheap. Calls
and callbacks run on the asyncio thread. See ARCHITECTURE.md, "One packet's journey".
"""

import asyncio
import logging
import secrets
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from svc._rtp.bandwidth import REASONS
from svc._rtp.engine import COUNTERS, DELAY_BUCKETS
from svc._rtp.srtp import ENCRYPTION
from svc._rtp.udploop import UdpLoop
from svc.sfu.codecs import (
    AUDIO,
    AUDIO_LEVEL,
    DEPENDENCY_DESCRIPTOR,
    EXTENSIONS,
    MID,
    RED,
    REPAIRED_RID,
    RID,
    TRANSPORT_CC,
    VIDEO,
)
from svc.sfu.layer_rates import MeasuredRates
from svc.sfu.network_path import BindingCheck, Path

if TYPE_CHECKING:
    from svc._rtp.engine import Event

log = logging.getLogger(__name__)

ALL_LAYERS = -1
_CORE_ALL_LAYERS = 255

__all__ = ["ALL_LAYERS", "COUNTERS", "DownTrack", "Forwarder", "MediaPlane", "MediaTransport"]


class TransportListener(Protocol):
    """The receiver of a transport's events."""

    def check_received(self, check: BindingCheck) -> None:
        """Handle a check from a new path or a nomination. The core has authenticated and answered it."""

    def stun_received(self, data: bytes, path: Path) -> None:
        """Handle a response to our request, or an authenticated request whose sender claims our ICE role."""

    def dtls_received(self, data: bytes) -> None:
        """Handle one datagram of the handshake, from a validated path."""

    def track_started(self, mid: str, ssrc: int, payload_type: int) -> None:
        """Handle the first media packet in a media section or from a new SSRC."""

    def path_silent(self, silent: bool) -> None:
        """Handle the end of silence on the selected path or, if `silent`, silence that has lasted for 1.5 or
        2.6 s.
        """

    def speaking_changed(self, mid: str, speaking: bool, level: int) -> None:
        """Handle the start or end of sustained sound in a media section.

        `level` is as in RFC 6464, from 0 for the loudest sound to 127 for silence.
        """

    def rates_measured(self, mid: str, rates: MeasuredRates) -> None:
        """Handle the byte counts of a media section's track, by encoding and temporal layer."""

    def encoding_forwarded(self, down_track_id: int, layer: int) -> None:
        """Handle a change in the encoding of a track that this participant receives."""


# Handle an estimate in bit/s, its limiting factor ("delay", "loss", "probe" or "use"), and the number of
# bytes resent since the previous estimate.
BandwidthListener = Callable[[int, str, int], None]
_TEMPORAL_LAYERS = 3


class Receiver(Protocol):
    """The transport that a down track sends to."""

    id: int


class DownTrack:
    """A track on its way to one receiver."""

    def __init__(self, core: UdpLoop, down_track_id: int) -> None:
        self._core = core
        self.id = down_track_id

    def set_max_temporal_layer(self, layer: int) -> None:
        """Forward temporal layers up to `layer`. ALL_LAYERS (-1) allows all."""
        self._core.set_layer(self.id, _CORE_ALL_LAYERS if layer == ALL_LAYERS else layer)

    def set_max_spatial_layer(self, layer: int, *, at_once: bool = False) -> None:
        """Forward no encoding larger than this, if the track has several encodings. ALL_LAYERS (-1) allows
        all.

        With `at_once`, send nothing larger even while waiting for a keyframe.
        """
        self._core.set_spatial_layer(self.id, _CORE_ALL_LAYERS if layer == ALL_LAYERS else layer, at_once)

    def set_paused(self, paused: bool) -> None:
        """Stop sending the track, or resume it with a keyframe."""
        self._core.set_paused(self.id, paused)

    def set_paced(self, paced: bool) -> None:
        """Pace the track to the receiver's downlink, or send each packet as soon as it arrives."""
        self._core.set_paced(self.id, paced)

    def close(self) -> None:
        self._core.close_down_track(self.id)


class Forwarder:
    """A track that a participant may publish in one media section."""

    def __init__(self, core: UdpLoop, forwarder_id: int, mid: str) -> None:
        self._core = core
        self.id = forwarder_id
        self.mid = mid

    def set_muted(self, muted: bool) -> None:
        """Stop or resume forwarding the track's audio immediately, for all receivers."""
        self._core.set_muted(self.id, muted)

    def add_down_track(
        self,
        to: Receiver,
        *,
        mid: str,
        ssrc: int,
        rtx_ssrc: int | None,
        payload_types: frozenset[int],
        extension_ids: frozenset[int],
        mixed: bool,
        cname: str = "",
        encoding: int = -1,
    ) -> DownTrack:
        """Forward the track to a receiver, with the payload types and extensions that the receiver's answer
        accepted. Request a keyframe from the sender.

        With `encoding`, forward only this encoding of a track that has several.
        """
        down_track_id = self._core.open_down_track(
            self.id,
            to.id,
            mid=mid,
            mid_id=MID.id if MID.id in extension_ids else 0,
            ssrc=ssrc,
            rtx_ssrc=rtx_ssrc or 0,
            payload_types=payload_types,
            extension_ids=extension_ids,
            mixed=mixed,
            cname=cname,
            encoding=encoding,
        )
        return DownTrack(self._core, down_track_id)

    def close(self) -> None:
        self._core.close_forwarder(self.id)


class MediaTransport:
    """One participant's media: its paths, its keys and the media sections in which it sends."""

    def __init__(
        self, plane: "MediaPlane", core: UdpLoop, listener: TransportListener, rtcp_ssrc: int
    ) -> None:
        self._plane = plane
        self._core = core
        self._forwarders: dict[str, Forwarder] = {}
        self._sections: list[str] = []  # the mids, in the order in which the core opened the media sections
        self._bandwidth_listener: BandwidthListener | None = None
        self.listener = listener
        self.id = core.open_transport(rtcp_ssrc)
        self.transaction_prefix = core.transaction_prefix(self.id)

    def set_local_credentials(self, ufrag: str, pwd: str) -> None:
        """Start an ICE generation with new credentials. Checks for the previous generation are still
        answered.
        """
        self._core.set_credentials(self.id, ufrag, pwd)

    def set_controlling(self, controlling: bool) -> None:
        """Set our ICE role, which is initially controlling. A check from a peer that claims the same role is
        a conflict.
        """
        self._core.set_controlling(self.id, controlling)

    def select(self, path: Path) -> None:
        """Send media and DTLS over the given path from now on."""
        self._core.select(self.id, path.remote, path.local)

    def link(self, path: Path, ssrcs: Sequence[int]) -> None:
        """Send to another SFU over the given path, without ICE. `ssrcs` are the SSRCs of the packets from
        that SFU.
        """
        self._core.select(self.id, path.remote, path.local, ssrcs)

    def send_stun(self, data: bytes, path: Path) -> None:
        self._core.send_stun(data, path.remote, path.local)

    def send_dtls(self, data: bytes) -> None:
        """Send on the selected path, or else on the most recently validated path."""
        self._core.send_dtls(self.id, data)

    def set_keys(self, profile: str, local: bytes, remote: bytes) -> None:
        """Set the master keys with their salts. The handshake's certificate must have been checked."""
        self._core.set_keys(self.id, profile, local, remote)

    def receive_section(
        self,
        mid: str,
        kind: str,
        payload_types: Iterable[int],
        ssrcs: Sequence[int] = (),
        rids: Sequence[str] = (),
    ) -> Forwarder:
        """Accept media from the client in a media section, or change which media the section accepts.

        `payload_types` should include every offered payload type, because a browser might keep sending a type
        that its answer omits. `ssrcs` identify packets that carry no mid. `rids` are the encodings of a track
        that has several, smallest first.
        """
        forwarder = self._forwarders.get(mid)
        forwarder_id = self._core.open_section(
            self.id, forwarder.id if forwarder else 0, mid, kind, payload_types, ssrcs, rids
        )
        if forwarder is None:
            forwarder = self._forwarders[mid] = Forwarder(self._core, forwarder_id, mid)
            if mid not in self._sections:
                self._sections.append(mid)
        return forwarder

    def close_section(self, mid: str) -> None:
        """Close a media section in which the client has stopped sending. The section's track and down tracks
        end.
        """
        forwarder = self._forwarders.pop(mid, None)
        if forwarder is not None:
            forwarder.close()

    def set_deafened(self, deafened: bool) -> None:
        """Stop or resume sending audio to this participant."""
        self._core.set_deafened(self.id, deafened)

    def want_bandwidth(self, up_to_bps: float, listener: BandwidthListener) -> None:
        """Start reporting the downlink's capacity once a second and whenever it drops. Probe up to the given
        rate.
        """
        self._bandwidth_listener = listener
        self._core.want_bandwidth(self.id, up_to_bps)

    def bandwidth_estimated(self, estimate_bps: int, reason: int, repeated_bytes: int) -> None:
        if self._bandwidth_listener is not None:
            self._bandwidth_listener(estimate_bps, REASONS[reason], repeated_bytes)

    def close(self) -> None:
        """End all media of this participant. No callback follows this call."""
        self._plane.forget(self)
        self._core.close_transport(self.id)

    def mid_of_section(self, section: int) -> str:
        return self._sections[section]


class MediaPlane:
    """The core and its thread, on one UDP port. Raises OSError (EADDRINUSE) if the port is taken.

    Uses inherited `sockets` and `listeners` instead of opening sockets; the caller closes them. TCP is served
    on `addresses` at the same port number. If TCP cannot be served, `tcp_refused` contains the reason.
    `workers` is the number of threads that share the sending.
    """

    delay_buckets: Sequence[float] = DELAY_BUCKETS
    encryption: Mapping[str, str] = ENCRYPTION

    def __init__(
        self,
        *,
        addresses: Sequence[str] = ("0.0.0.0", "::"),
        port: int,
        sockets: Sequence[int] = (),
        listeners: Sequence[int] = (),
        workers: int = 1,
        log_packets: bool = False,
    ) -> None:
        self._core = UdpLoop(
            seed=secrets.randbits(64),
            addresses=addresses,
            port=port,
            sockets=sockets,
            listeners=listeners,
            workers=workers,
        )
        self._core.negotiate(
            payloads=[
                (c.payload_type, c.kind, c.name, c.clock_rate, c.rtx_payload_type)
                for c in (*AUDIO, RED, *VIDEO)
            ],
            mid_id=MID.id,
            twcc_id=TRANSPORT_CC.id,
            level_id=AUDIO_LEVEL.id,
            descriptor_id=DEPENDENCY_DESCRIPTOR.id,
            forwarded_ids=[extension.id for extension in EXTENSIONS if not extension.hop_by_hop],
            rid_id=RID.id,
            repaired_rid_id=REPAIRED_RID.id,
            red=(RED.payload_type, AUDIO[0].payload_type),
        )
        self._core.set_verbose(log_packets)
        self._transports: dict[int, MediaTransport] = {}
        self._probe_listener: Callable[[bytes, Path], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = self._core.port
        self.tcp_refused = self._core.tcp_refused
        self.probe_prefix = self._core.transaction_prefix(0)

    @property
    def serves_tcp(self) -> bool:
        return not self.tcp_refused

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start listening on the port. Callbacks run on `loop`."""
        self._loop = loop
        loop.add_reader(self._core.fileno(), self._deliver)
        self._core.start()

    async def stop(self) -> None:
        """Stop serving. The core's thread has ended when this function returns."""
        if self._loop is not None:
            self._loop.remove_reader(self._core.fileno())
            self._loop = None
        await asyncio.to_thread(self._core.stop)

    def descriptors(self) -> list[int]:
        """Return the descriptors of the core's sockets, to pass to another process."""
        return self._core.descriptors()

    def open_transport(self, listener: TransportListener, rtcp_ssrc: int | None = None) -> MediaTransport:
        """Open a transport. `rtcp_ssrc` is the SSRC of our RTCP packets, or None for a random SSRC."""
        ssrc = secrets.randbits(32) if rtcp_ssrc is None else rtcp_ssrc
        transport = MediaTransport(self, self._core, listener, ssrc)
        self._transports[transport.id] = transport
        return transport

    def forget(self, transport: MediaTransport) -> None:
        """Stop delivering events to a transport that is being closed."""
        self._transports.pop(transport.id, None)

    def set_probe_listener(self, listener: Callable[[bytes, Path], None] | None) -> None:
        """Set the receiver of STUN responses whose transaction ids begin with `probe_prefix`."""
        self._probe_listener = listener

    def send_stun(self, data: bytes, path: Path) -> None:
        """Send a datagram of the readiness probe from the media port, outside any transport."""
        self._core.send_stun(data, path.remote, path.local)

    def statistics(self) -> dict[str, int]:
        """Return the cumulative counters, keyed by name (COUNTERS)."""
        return self._core.counters()

    def forwarding_delay(self) -> tuple[Sequence[int], float]:
        """Return the packet counts by delay (DELAY_BUCKETS and an overflow bucket), and the total delay in
        seconds.
        """
        return self._core.forwarding_delay()

    def _deliver(self) -> None:
        for event in self._core.take_events():
            try:
                self._dispatch(event)
            except Exception:
                # If a session fails to handle an event, it logs the failure and ends. Other events are still
                # delivered.
                log.exception("a listener failed", extra={"transport": event[1]})

    def _dispatch(self, event: "Event") -> None:
        kind, transport_id, data, remote, local, a, b, c = event
        path = Path(remote, local)
        if kind == "stun" and transport_id == 0:
            if self._probe_listener is not None:
                self._probe_listener(data, path)
            return
        transport = self._transports.get(transport_id)
        if transport is None:
            return
        listener = transport.listener
        if kind == "check":
            listener.check_received(BindingCheck(path, priority=a, use_candidate=bool(b), generation=c))
        elif kind == "stun":
            listener.stun_received(data, path)
        elif kind == "silent":
            listener.path_silent(bool(a))
        elif kind == "dtls":
            listener.dtls_received(data)
        elif kind == "track":
            listener.track_started(transport.mid_of_section(c), a, b)
        elif kind == "forwarded":
            _log_forwarded(transport_id, a, b, c)
        elif kind == "bandwidth":
            transport.bandwidth_estimated(a, b, c)
        elif kind == "rates":
            listener.rates_measured(transport.mid_of_section(c), _rates(data, a, b))
        elif kind == "encoding":
            listener.encoding_forwarded(a, b)
        elif kind == "speaking":
            listener.speaking_changed(transport.mid_of_section(c), bool(a), b)


def _rates(data: bytes, elapsed_us: int, active: int) -> MeasuredRates:
    sizes = array("I", data).tolist()
    layers = [sizes[at : at + _TEMPORAL_LAYERS] for at in range(0, len(sizes), _TEMPORAL_LAYERS)]
    return MeasuredRates(elapsed_us / 1e6, active, layers)


def _log_forwarded(transport: int, ssrc: int, as_ssrc: int, numbers: int) -> None:
    """Log one packet on its way to one receiver (`VERBOSE_LOG`)."""
    packet = {"ssrc": ssrc, "sequence": numbers >> 16, "as_ssrc": as_ssrc, "as_sequence": numbers & 0xFFFF}
    log.info("packet forwarded", extra={"to": transport, **packet})
