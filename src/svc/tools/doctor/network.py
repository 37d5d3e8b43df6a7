"""Checks which program owns each port, and at which addresses browsers look for the SFU.

Contacts only the configured STUN servers, to learn this machine's public address. Whether a router forwards
datagrams can be checked only from outside, so findings about forwarding are only advice.
"""

import asyncio
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.base.strict_json import loads_object
from svc.sfu.candidates import interface_addresses
from svc.sfu.config import Config
from svc.sfu.stun import binding_request, read_message
from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem

ANSWER_DEADLINE_S = 3.0
MAX_HEALTH_BYTES = 64 * 1024
_TRANSACTION_ID_BYTES = 12
_MEDIA = re.compile(r"^svc_sfu_media_(port|tcp) ([0-9.]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Media:
    """A running SFU's media port. `tcp` indicates whether the port also accepts TCP. It is None if no SFU
    responds, or if the SFU is too old to report this.
    """

    port: int | None = None
    tcp: bool | None = None


# This text follows the port in a finding about a port of our program.
_OURS = ": svc "


async def port(name: str, number: int, service: str, *, secure_too: bool = False) -> Finding:
    """Check whether the TCP port is free, belongs to our own `service`, or belongs to another program."""
    target = f"TCP port {number} ({name})"
    if _can_bind(socket.SOCK_STREAM, number):
        return ok(f"{target} is free")
    for scheme in ("http", "https") if secure_too else ("http",):
        if (health := await _health(f"{scheme}://127.0.0.1:{number}/health")) is None:
            continue
        if health.get("service") == service and health.get("status") == "degraded":
            return problem(
                f"{target}{_OURS}responds, but cannot store data",
                "Its log says why: a full, failing or read-only disk, or a damaged database.",
            )
        if health.get("service") == service:
            return ok(f"{target}{_OURS}responds")
        if health.get("status") == "starting":
            return notice(
                f"{target}{_OURS}is still looking for its public address",
                "It finishes within half a minute. Without internet, calls on the local network work.",
            )
    return problem(
        f"{target} is used by another program",
        f"Stop that program, or choose another port for {name}.",
    )


def is_ours(port: Finding) -> bool:
    """Return whether a finding of `port` states that a program of svc is listening."""
    return _OURS in port.what


def udp_port(number: int, *, ours: bool) -> Finding:
    if _can_bind(socket.SOCK_DGRAM, number):
        if ours:
            return problem(
                f"The SFU is running, but nothing listens on UDP port {number}",
                "If ICE_UDP_MUX_PORT is another port, name it with --udp-port.",
            )
        return ok(f"UDP port {number} (media) is free")
    if ours:
        return ok(f"UDP port {number} (media) is used by the running SFU")
    return problem(
        f"UDP port {number} is in use, and no SFU is running",
        "Stop the program that uses it, or choose another port with --udp-port or ICE_UDP_MUX_PORT.",
    )


def tcp_port(number: int, *, taken: bool | None) -> Finding:
    """Check the media port over TCP, for networks that block UDP. `taken` is `Media.tcp`, which is True if a
    running SFU already uses the port.
    """
    target = f"TCP port {number} (media where UDP is blocked)"
    if taken:
        return ok(f"{target} is used by the running SFU; its firewall must let it in")
    advice = "Stop the program that uses it and restart the SFU, or choose another ICE_UDP_MUX_PORT."
    if taken is False:
        return problem(f"{target} is not served: calls need UDP", advice)
    if _can_bind(socket.SOCK_STREAM, number):
        return ok(f"{target} is free")
    return notice(f"{target} is in use: calls would need UDP", advice)


async def outside(config: Config, udp: int) -> Findings:
    """Check whether the addresses sent to browsers lead to this machine."""
    own = [ip for ip in interface_addresses() if not ip_address(ip.partition("%")[0]).is_loopback]
    if config.advertised:
        public = await mapped_address(config.stun_servers) if not config.disable_stun else None
        return [check_advertised(config.advertised, own, public, udp)]
    if config.disable_stun or not config.stun_servers:
        return [addresses(own, None, udp, queried=False)]
    return [addresses(own, await mapped_address(config.stun_servers), udp, queried=True)]


def check_advertised(ips: Sequence[str], own: Sequence[str], seen: str | None, udp: int) -> Finding:
    summary = f"Browsers are told to send media to {', '.join(ips)} (ICE_ADVERTISE_IP)"
    if seen is not None and seen not in ips and not set(ips) & set(own):
        return problem(
            f"{summary}, but STUN sees this machine as {seen}",
            "Set ICE_ADVERTISE_IP to the address that people reach you at.",
        )
    return ok(f"{summary}, UDP port {udp}")


def addresses(own: Sequence[str], seen: str | None, udp: int, *, queried: bool) -> Finding:
    """Evaluate the interfaces' addresses (`own`) and, if STUN was `queried`, the address that it reports
    (`seen`).
    """
    if seen is not None and seen in own:
        return ok(f"STUN sees this machine as {seen}; its firewall must let UDP port {udp} in")
    if seen is not None:
        return notice(
            f"This machine is behind a router with the public address {seen}",
            f"Forward UDP port {udp} from the router to this machine. Calls on the local network work "
            "without it.",
        )
    if queried:
        return notice(
            "No STUN server responds: there is no internet here, or a firewall drops UDP",
            f"Calls on the local network work. For people elsewhere, let UDP out, and UDP port {udp} in.",
        )
    if any(ip_address(ip.partition("%")[0]).is_global for ip in own):
        return ok(f"This machine has a public address; its firewall must let UDP port {udp} in")
    return notice(
        "This machine has private addresses only, and no STUN server is used",
        "Only people in the same network can call; set ICE_ADVERTISE_IP to the public address for others.",
    )


async def mapped_address(servers: Sequence[tuple[str, int]]) -> str | None:
    """Return our address as reported by the first STUN server that responds. See RFC 8489 section 2."""
    for host, number in servers:
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                return await _ask_stun(host, number)
        except OSError:  # Includes TimeoutError.
            continue
    return None


async def _ask_stun(host: str, number: int) -> str:
    loop = asyncio.get_running_loop()
    family, _, _, _, address = (await loop.getaddrinfo(host, number, type=socket.SOCK_DGRAM))[0]
    request = binding_request(secrets.token_bytes(_TRANSACTION_ID_BYTES))
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.connect(address)
        await loop.sock_sendall(sock, bytes(request))
        while True:
            answer = read_message(await loop.sock_recv(sock, 1500))
            if answer is not None and answer.transaction_id == request.transaction_id:
                ip: str = answer.attributes["XOR-MAPPED-ADDRESS"][0]
                return ip


async def media(sfu_port: int) -> Media:
    """Return the media port reported by the SFU at the given TCP port. The fields are None if the SFU does
    not respond.
    """
    try:
        async with (
            ClientSession(timeout=ClientTimeout(total=ANSWER_DEADLINE_S)) as http,
            http.get(f"http://127.0.0.1:{sfu_port}/metrics") as response,
        ):
            metrics = {name: int(float(value)) for name, value in _MEDIA.findall(await response.text())}
    except (ClientError, OSError, ValueError):
        return Media()
    return Media(metrics.get("port"), bool(metrics["tcp"]) if "tcp" in metrics else None)


async def _health(url: str) -> Mapping[str, object] | None:
    try:
        async with (
            ClientSession(timeout=ClientTimeout(total=ANSWER_DEADLINE_S)) as http,
            # The certificate is for a host name, but we connect to this machine by its address.
            http.get(url, ssl=False) as response,
        ):
            body = await response.content.read(MAX_HEALTH_BYTES)
            return loads_object(body.decode())
    except (ClientError, OSError, ValueError):
        return None


def _can_bind(kind: socket.SocketKind, number: int) -> bool:
    with socket.socket(socket.AF_INET, kind) as sock:
        if kind is socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("", number))
        except OSError:
            return False
    return True
