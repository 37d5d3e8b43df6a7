"""The media service as a program: builds everything from its configuration and runs it.

Opens the two ports, keeps the regular duties going (gauges every 15 s, the room sweep
every 5 minutes, the readiness probe at start) and ends in order. What an operator may set
beyond the spec's variables is a flag. Spec: media document sections 3, 4, 7 and 8.
"""

import asyncio
import errno
import logging
import random
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from aiohttp import web

from svc.base import logs
from svc.sfu.candidates import host_candidates, interface_addresses
from svc.sfu.closing import CloseCode
from svc.sfu.config import Config
from svc.sfu.dtls import Certificate
from svc.sfu.measurements import RESYNC_INTERVAL_S, MeasuredPlane, Measurements
from svc.sfu.media import MediaPlane
from svc.sfu.probe import Probe, ProbePlane
from svc.sfu.rooms import SWEEP_INTERVAL_S
from svc.sfu.routes import Routes
from svc.sfu.service import Service

# How long open connections may take to say goodbye.
SHUTDOWN_S = 3.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line may add to the spec's variables."""

    host: str | None = None  # for HTTP and WebSockets; None listens on all addresses
    udp_addresses: tuple[str, ...] = ("0.0.0.0", "::")
    control_from_anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a running service listens."""

    http: int
    udp: int


class Plane(MeasuredPlane, ProbePlane, Protocol):
    """What the program itself, beside its sessions, asks of the media plane."""


def run(config: Config, flags: Flags = Flags()) -> None:
    """Run until told to stop. A port that is taken ends the program with one line that says so."""
    logs.configure(sys.stderr, debug=config.debug)
    asyncio.run(_run(config, flags))


async def _run(config: Config, flags: Flags) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(config, flags):
        await stop.wait()


@asynccontextmanager
async def running(config: Config, flags: Flags) -> AsyncIterator[Ports]:
    """A service at work for as long as the context lasts. SystemExit if a port cannot be had."""
    plane = _open_plane(config, flags)
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
                bound=flags.udp_addresses,
                advertised=config.advertised,
            ),
            random_bytes=secrets.token_bytes,
            random=random.SystemRandom().random,
            clock=loop.time,
            wall_clock=time.time,
        )
        async with serving(service, plane, config, flags) as http_port:
            ports = Ports(http_port, plane.port)
            logger.info("encryption", extra=dict(plane.encryption))
            logger.info("listening", extra={"http": ports.http, "udp": ports.udp})
            yield ports
    finally:
        await plane.stop()


def _open_plane(config: Config, flags: Flags) -> MediaPlane:
    try:
        return MediaPlane(addresses=flags.udp_addresses, port=config.udp_port, log_packets=config.verbose_log)
    except OSError as error:
        raise SystemExit(_held("UDP", config.udp_port, error)) from None


@asynccontextmanager
async def serving(service: Service, plane: Plane, config: Config, flags: Flags) -> AsyncIterator[int]:
    """HTTP and the regular duties of a service; yields the HTTP port. SystemExit if that is held."""
    measurements = Measurements(service, plane)
    routes = Routes(service, measurements, control_from_anywhere=flags.control_from_anywhere)
    runner = web.AppRunner(routes.application(), access_log=None, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    probe = Probe(
        plane,
        config.stun_servers,
        disabled=config.disable_stun,
        random_bytes=secrets.token_bytes,
        random=random.random,
        on_ready=service.become_ready,
        on_mapped=service.found_mapped,
    )
    duties = asyncio.create_task(_perform_duties(service, measurements, probe))
    try:
        yield await _listen(runner, config, flags)
    finally:
        duties.cancel()
        for connection in list(service.connections):
            connection.close(CloseCode.GOING_AWAY, "The voice server is shutting down")
        await runner.cleanup()


async def _listen(runner: web.AppRunner, config: Config, flags: Flags) -> int:
    try:
        await web.TCPSite(runner, flags.host, config.port).start()
    except OSError as error:
        raise SystemExit(_held("TCP", config.port, error)) from None
    port: int = runner.addresses[0][1]
    return port


def _held(protocol: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"svc sfu: {protocol} port {port} is already in use by another program"
    return f"svc sfu: {protocol} port {port} cannot be opened: {error.strerror}"


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
            logger.exception("duty failed")
        await asyncio.sleep(interval_s)
