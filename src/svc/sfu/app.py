"""Builds the media service from its configuration and runs it.

Opens the two ports, runs the periodic tasks (gauges every 15 s, the room sweep every 5 minutes, the readiness
probe at start) and shuts down in order. Flags cover the settings that are not variables in
docs/configuration.md. See docs/signalling.md and docs/configuration.md, "SFU".
"""

import asyncio
import errno
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from socket import socket
from typing import Any, Protocol

from svc.base import logs
from svc.base.config_parsing import ConfigError
from svc.base.http_connections import serve_http
from svc.base.http_server import Runner
from svc.base.listeners import Inherited, bound, inherit_sockets
from svc.base.open_file_limit import raise_limit
from svc.base.tasks import stop_event
from svc.sfu.candidates import fixed_addresses, host_candidates, interface_addresses
from svc.sfu.close_codes import CloseCode
from svc.sfu.config import Config
from svc.sfu.dtls import Certificate
from svc.sfu.handover import Succession, refuse_if_used, take_over, wait_for_successor
from svc.sfu.measurements import RESYNC_INTERVAL_S, MeasuredPlane, Measurements
from svc.sfu.media import MediaPlane
from svc.sfu.readiness_probe import Probe, ProbePlane
from svc.sfu.rooms import SWEEP_INTERVAL_S
from svc.sfu.routes import MAX_NEWCOMERS, Routes
from svc.sfu.sfu import Clocks, Sfu

# The timeout for closing open connections at shutdown.
SHUTDOWN_S = 3.0
# Connections in addition to participants' connections: clients that have not joined yet, chat servers and
# monitoring.
CONNECTIONS_BEYOND_PEERS = 2 * MAX_NEWCOMERS
# One thread makes the forwarding decisions and can keep about three sending threads busy. With two
# processors, it is faster to decide and send on a single thread (benchmarks/README.md).
MAX_DEFAULT_WORKERS = 4
MIN_PROCESSORS = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """Command-line flags, in addition to the variables in docs/configuration.md."""

    host: str | None = None  # for HTTP and WebSockets; None for all addresses
    udp_addresses: tuple[str, ...] = ("0.0.0.0", "::")
    control_from_anywhere: bool = False
    workers: int | None = None  # threads that send media; None to choose by the number of processors
    listen_fds: tuple[int, ...] = ()  # inherited sockets to use instead of opening new ones
    handover_socket: Path | None = None  # where a successor connects to take over the ports
    take_over: bool = False  # take over from the service that is listening there


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that a running service listens on."""

    http: int
    udp: int


@dataclass(frozen=True, slots=True)
class Front:
    """The HTTP side of a running service."""

    port: int
    descriptors: Sequence[int]
    close: Callable[[], Awaitable[None]]  # stops accepting connections; existing connections stay open


class Plane(MeasuredPlane, ProbePlane, Protocol):
    """The methods that start and stop the media plane. Sessions use its other methods."""


def run(config: Config, flags: Flags = Flags()) -> None:
    """Run the service until it is stopped by a signal. If a port is taken, exit with a one-line error."""
    logs.configure(sys.stderr, debug=config.debug)
    raise_limit()
    asyncio.run(_run(config, flags))


async def _run(config: Config, flags: Flags) -> None:
    stop = stop_event()
    async with running(config, flags, handed_over=stop.set):
        await stop.wait()


@asynccontextmanager
async def running(
    config: Config, flags: Flags, handed_over: Callable[[], None] = lambda: None
) -> AsyncIterator[Ports]:
    """Run a service while the block runs. Raises ConfigError if a port is taken.

    Calls `handed_over` when a successor has taken the ports.
    """
    succession = await _succession(flags)
    inherited = succession.ports if succession else inherit_sockets(flags.listen_fds)
    signalling, media = _by_purpose(inherited)
    sockets = signalling or _open_tcp(config, flags)
    plane = _open_plane(config, flags, inherited.udp, media)
    if succession:
        await succession.complete()
    loop = asyncio.get_running_loop()
    plane.start(loop)

    def network() -> dict[str, Any]:
        return {
            "port": plane.port,
            "interfaces": interface_addresses(),
            "bound": [udp.getsockname()[0] for udp in inherited.udp] or flags.udp_addresses,
            "advertised": config.advertised,
        }

    try:
        sfu = Sfu(
            max_peers=config.max_peers,
            plane=plane,
            certificate=Certificate.generate(datetime.now(UTC)),
            host_candidates=lambda: host_candidates(**network()),
            fixed_addresses=lambda: fixed_addresses(**network()),
            chance=SystemRandom(),
            clocks=Clocks(loop.time, time.time),
        )
        async with (
            serving(sfu, plane, config, flags, sockets) as front,
            _offering(flags, sfu, plane, front, handed_over),
        ):
            logger.info("encryption", extra=dict(plane.encryption))
            logger.info("listening", extra={"http": front.port, "udp": plane.port})
            if plane.tcp_refused:
                logger.warning("no media over TCP", extra={"cause": plane.tcp_refused})
            yield Ports(front.port, plane.port)
    finally:
        inherited.close()
        await plane.stop()


async def _succession(flags: Flags) -> Succession | None:
    """Take over the ports of a running service. Return None if no flag requests this or no service is
    running.

    Raises ConfigError.
    """
    if flags.take_over and flags.handover_socket is None:
        raise ConfigError("--take-over needs --handover-socket")
    if flags.take_over and flags.listen_fds:
        raise ConfigError("--take-over and --listen-fd cannot be used together")
    if flags.handover_socket is None:
        return None
    if not flags.take_over:
        refuse_if_used(flags.handover_socket)
        return None
    succession = await take_over(flags.handover_socket)
    if succession is None:
        logger.warning("no service to take over from", extra={"socket": str(flags.handover_socket)})
    return succession


@asynccontextmanager
async def _offering(
    flags: Flags, sfu: Sfu, plane: MediaPlane, front: Front, handed_over: Callable[[], None]
) -> AsyncIterator[None]:
    """Wait for a successor while the block runs, at the path given by a flag. Without the flag, do
    nothing.
    """

    async def give_up() -> None:
        """Stop reading. The kernel keeps incoming data until the successor reads it."""
        await front.close()
        sfu.leave(CloseCode.REJOIN, "Join again: another process serves this room now")
        await plane.stop()

    if flags.handover_socket is None:
        yield
        return
    descriptors = [*front.descriptors, *plane.descriptors()]
    async with wait_for_successor(flags.handover_socket, descriptors, give_up, handed_over):
        yield


def _by_purpose(inherited: Inherited) -> tuple[Sequence[socket], Sequence[socket]]:
    """Split the inherited TCP sockets into signalling sockets and media sockets. Media sockets have the same
    port number as the UDP sockets.
    """
    numbers = {udp.getsockname()[1] for udp in inherited.udp}
    media = [tcp for tcp in inherited.tcp if tcp.getsockname()[1] in numbers]
    signalling = [tcp for tcp in inherited.tcp if tcp not in media]
    return (signalling, media) if signalling else (media, [])


def _open_plane(
    config: Config, flags: Flags, inherited: Sequence[socket], listening: Sequence[socket]
) -> MediaPlane:
    try:
        return MediaPlane(
            addresses=[udp.getsockname()[0] for udp in inherited] or flags.udp_addresses,
            port=config.udp_port,
            sockets=[udp.fileno() for udp in inherited],
            listeners=[tcp.fileno() for tcp in listening],
            workers=flags.workers or _default_workers(_processors()),
            log_packets=config.verbose_log,
        )
    except (OSError, ValueError) as error:
        if inherited:
            raise ConfigError(
                f"the UDP sockets to hand over must be one IPv4 socket and one IPv6-only socket: {error}"
            ) from None
        assert isinstance(error, OSError), error
        raise ConfigError(_port_in_use_message("UDP", "ICE_UDP_MUX_PORT", config.udp_port, error)) from None


def _default_workers(processors: int) -> int:
    return min(processors, MAX_DEFAULT_WORKERS) if processors >= MIN_PROCESSORS else 1


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open_tcp(config: Config, flags: Flags) -> Sequence[socket]:
    try:
        return bound(flags.host, config.port)
    except OSError as error:
        raise ConfigError(_port_in_use_message("TCP", "SFU_PORT", config.port, error)) from None


@asynccontextmanager
async def serving(
    sfu: Sfu, plane: Plane, config: Config, flags: Flags, sockets: Sequence[socket] = ()
) -> AsyncIterator[Front]:
    """Serve HTTP on `sockets`, or on newly opened sockets, and run the service's periodic tasks.

    Raises ConfigError if a port is taken. Disconnects all clients on exit.
    """
    measurements = Measurements(sfu, plane)
    routes = Routes(sfu, measurements, control_from_anywhere=flags.control_from_anywhere)
    runner = Runner(routes.application(), shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    probe = Probe(
        plane,
        config.stun_servers,
        disabled=config.disable_stun,
        chance=SystemRandom(),
        on_ready=sfu.become_ready,
        on_mapped=sfu.set_mapped_addresses,
    )
    duties = asyncio.create_task(_perform_duties(sfu, measurements, probe))
    sockets = sockets or _open_tcp(config, flags)
    maximum = config.max_peers + CONNECTIONS_BEYOND_PEERS
    try:
        async with serve_http(runner, sockets, maximum) as listener:
            descriptors = [listening.fileno() for listening in sockets]
            yield Front(sockets[0].getsockname()[1], descriptors, listener.stop)
    finally:
        duties.cancel()
        sfu.leave(CloseCode.GOING_AWAY, "The voice server is shutting down")
        await runner.cleanup()


def _port_in_use_message(protocol: str, variable: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        advice = f"Choose another one with {variable}."
        return f"{protocol} port {port} is already in use by another program. {advice}"
    return f"{protocol} port {port} ({variable}) cannot be opened: {error.strerror}"


async def _perform_duties(sfu: Sfu, measurements: Measurements, probe: Probe) -> None:
    def resync() -> None:
        sfu.refresh_candidates()
        measurements.resync()

    async with asyncio.TaskGroup() as duties:
        duties.create_task(_every(RESYNC_INTERVAL_S, resync))
        duties.create_task(_every(SWEEP_INTERVAL_S, sfu.sweep))
        duties.create_task(probe.run())


async def _every(interval_s: float, duty: Callable[[], None]) -> None:
    """Run `duty` periodically. Log a failure as a bug, and continue."""
    while True:
        try:
            duty()
        except Exception:
            logger.exception("background task failed")
        await asyncio.sleep(interval_s)
