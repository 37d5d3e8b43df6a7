"""The media service as a program: builds everything from its configuration and runs it.

Opens the two ports, keeps the regular duties going (gauges every 15 s, the room sweep
every 5 minutes, the readiness probe at start) and ends in order. What an operator may set
beyond the variables of docs/configuration.md is a flag. docs/signalling.md and docs/configuration.md, "SFU".
"""

import asyncio
import errno
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from socket import socket
from typing import Protocol

from svc.base import logs
from svc.base.config import ConfigError
from svc.base.descriptors import raise_limit
from svc.base.http_connections import serving_http
from svc.base.http_server import Runner
from svc.base.listening import Inherited, bound, inherited
from svc.sfu.candidates import host_candidates, interface_addresses
from svc.sfu.closing import CloseCode
from svc.sfu.config import Config
from svc.sfu.dtls import Certificate
from svc.sfu.handover import Succession, offered, refuse_if_used, take_over
from svc.sfu.measurements import RESYNC_INTERVAL_S, MeasuredPlane, Measurements
from svc.sfu.media import MediaPlane
from svc.sfu.probe import Probe, ProbePlane
from svc.sfu.rooms import SWEEP_INTERVAL_S
from svc.sfu.routes import MAX_NEWCOMERS, Routes
from svc.sfu.service import Clocks, Service

# How long open connections may take to say goodbye.
SHUTDOWN_S = 3.0
# Those who have not joined yet, chat servers, monitoring.
CONNECTIONS_BEYOND_PEERS = 2 * MAX_NEWCOMERS
# One thread decides and keeps some three others busy with sending. On two processors it is faster alone
# (benchmarks/README.md).
MAX_DEFAULT_WORKERS = 4
LEAST_PROCESSORS = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line may add to the variables of docs/configuration.md."""

    host: str | None = None  # for HTTP and WebSockets; None listens on all addresses
    udp_addresses: tuple[str, ...] = ("0.0.0.0", "::")
    control_from_anywhere: bool = False
    workers: int | None = None  # threads that send media; None = as the processors are
    listen_fds: tuple[int, ...] = ()  # open already, used instead of opening any
    handover_socket: Path | None = None  # where a successor finds us
    take_over: bool = False  # be the successor of who listens there


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a running service listens."""

    http: int
    udp: int


@dataclass(frozen=True, slots=True)
class Front:
    """The HTTP side of a running service."""

    port: int
    descriptors: Sequence[int]
    close: Callable[[], Awaitable[None]]  # accept nobody any more; who is in stays


class Plane(MeasuredPlane, ProbePlane, Protocol):
    """What the program itself, beside its sessions, asks of the media plane."""


def run(config: Config, flags: Flags = Flags()) -> None:
    """Run until told to stop. A port that is taken ends the program with one line that says so."""
    logs.configure(sys.stderr, debug=config.debug)
    raise_limit()
    asyncio.run(_run(config, flags))


async def _run(config: Config, flags: Flags) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(config, flags, handed_over=stop.set):
        await stop.wait()


@asynccontextmanager
async def running(
    config: Config, flags: Flags, handed_over: Callable[[], None] = lambda: None
) -> AsyncIterator[Ports]:
    """A service at work for as long as the context lasts.

    ConfigError if a port cannot be had. `handed_over` is called when a successor has taken the ports.
    """
    succession = await _succession(flags)
    given = succession.ports if succession else inherited(flags.listen_fds)
    signalling, media = _told_apart(given)
    sockets = signalling or _open_tcp(config, flags)
    plane = _open_plane(config, flags, given.udp, media)
    if succession:
        await succession.complete()
    loop = asyncio.get_running_loop()
    plane.start(loop)
    try:
        service = Service(
            max_peers=config.max_peers,
            plane=plane,
            certificate=Certificate.generate(datetime.now(UTC)),
            host_candidates=lambda: host_candidates(
                port=plane.port,
                interfaces=interface_addresses(),
                bound=[udp.getsockname()[0] for udp in given.udp] or flags.udp_addresses,
                advertised=config.advertised,
            ),
            chance=SystemRandom(),
            clocks=Clocks(loop.time, time.time),
        )
        async with (
            serving(service, plane, config, flags, sockets) as front,
            _offering(flags, service, plane, front, handed_over),
        ):
            logger.info("encryption", extra=dict(plane.encryption))
            logger.info("listening", extra={"http": front.port, "udp": plane.port})
            if plane.tcp_refused:
                logger.warning("no media over TCP", extra={"cause": plane.tcp_refused})
            yield Ports(front.port, plane.port)
    finally:
        given.close()
        await plane.stop()


async def _succession(flags: Flags) -> Succession | None:
    """The ports of who serves until now, if we are to take them over and somebody does. ConfigError."""
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
    flags: Flags, service: Service, plane: MediaPlane, front: Front, handed_over: Callable[[], None]
) -> AsyncIterator[None]:
    """Be there for a successor, if a flag says where."""

    async def give_up() -> None:
        """Stop reading; the system keeps what comes until the successor reads it."""
        await front.close()
        service.leave(CloseCode.REJOIN, "Join again: another process serves this room now")
        await plane.stop()

    if flags.handover_socket is None:
        yield
        return
    descriptors = [*front.descriptors, *plane.descriptors()]
    async with offered(flags.handover_socket, descriptors, give_up, handed_over):
        yield


def _told_apart(given: Inherited) -> tuple[Sequence[socket], Sequence[socket]]:
    """Of the TCP sockets handed over those of signalling and those of media, which has the number of UDP."""
    numbers = {udp.getsockname()[1] for udp in given.udp}
    media = [tcp for tcp in given.tcp if tcp.getsockname()[1] in numbers]
    signalling = [tcp for tcp in given.tcp if tcp not in media]
    return (signalling, media) if signalling else (media, [])


def _open_plane(
    config: Config, flags: Flags, given: Sequence[socket], listening: Sequence[socket]
) -> MediaPlane:
    try:
        return MediaPlane(
            addresses=[udp.getsockname()[0] for udp in given] or flags.udp_addresses,
            port=config.udp_port,
            sockets=[udp.fileno() for udp in given],
            listeners=[tcp.fileno() for tcp in listening],
            workers=flags.workers or _default_workers(_processors()),
            log_packets=config.verbose_log,
        )
    except (OSError, ValueError) as error:
        if given:
            raise ConfigError(
                f"the UDP sockets handed over must be one of IPv4, one of IPv6 only: {error}"
            ) from None
        assert isinstance(error, OSError), error
        raise ConfigError(_held("UDP", "ICE_UDP_MUX_PORT", config.udp_port, error)) from None


def _default_workers(processors: int) -> int:
    return min(processors, MAX_DEFAULT_WORKERS) if processors >= LEAST_PROCESSORS else 1


def _processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open_tcp(config: Config, flags: Flags) -> Sequence[socket]:
    try:
        return bound(flags.host, config.port)
    except OSError as error:
        raise ConfigError(_held("TCP", "SFU_PORT", config.port, error)) from None


@asynccontextmanager
async def serving(
    service: Service, plane: Plane, config: Config, flags: Flags, sockets: Sequence[socket] = ()
) -> AsyncIterator[Front]:
    """HTTP and the regular duties of a service, on `sockets` or its own. ConfigError if a port is held.

    At the end nobody is let in any more, and everybody is told.
    """
    measurements = Measurements(service, plane)
    routes = Routes(service, measurements, control_from_anywhere=flags.control_from_anywhere)
    runner = Runner(routes.application(), shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    probe = Probe(
        plane,
        config.stun_servers,
        disabled=config.disable_stun,
        chance=SystemRandom(),
        on_ready=service.become_ready,
        on_mapped=service.found_mapped,
    )
    duties = asyncio.create_task(_perform_duties(service, measurements, probe))
    sockets = sockets or _open_tcp(config, flags)
    most = config.max_peers + CONNECTIONS_BEYOND_PEERS
    try:
        async with serving_http(runner, sockets, most) as listener:
            descriptors = [listening.fileno() for listening in sockets]
            yield Front(sockets[0].getsockname()[1], descriptors, listener.stop)
    finally:
        duties.cancel()
        service.leave(CloseCode.GOING_AWAY, "The voice server is shutting down")
        await runner.cleanup()


def _held(protocol: str, variable: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        advice = f"Choose another one with {variable}."
        return f"{protocol} port {port} is already in use by another program. {advice}"
    return f"{protocol} port {port} ({variable}) cannot be opened: {error.strerror}"


async def _perform_duties(service: Service, measurements: Measurements, probe: Probe) -> None:
    def resync() -> None:
        service.refresh_candidates()
        measurements.resync()

    async with asyncio.TaskGroup() as duties:
        duties.create_task(_every(RESYNC_INTERVAL_S, resync))
        duties.create_task(_every(SWEEP_INTERVAL_S, service.sweep))
        duties.create_task(probe.run())


async def _every(interval_s: float, duty: Callable[[], None]) -> None:
    """Do it now and again. A failure is a fault of ours, but no reason to stop."""
    while True:
        try:
            duty()
        except Exception:
            logger.exception("background task failed")
        await asyncio.sleep(interval_s)
