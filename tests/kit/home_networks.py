"""Creates network namespaces for a public server and for people at home, each behind a router.

A test calls `why_not()` first and skips with its reason.

    async with home_networks("ada", "grace") as world:
        async with server_in(world, tmp_path / "data") as product:        # `svc up` on SERVER; flags as usual
            async with people_in(world.homes["ada"], product.url) as people:    # its own Chromium
                ada = await people.arrive("Ada")
                await ada.join(camera=False)
                await world.homes["ada"].rebind()

`firefox_in` runs Firefox instead. A command prefixed with `home.inside` or `world.server.inside` runs there,
and `connector()` makes aiohttp connect from there. The page's origin counts as secure although it uses plain
HTTP. For networks that allow only HTTPS, use `server_in(world, folder, "--tls", "--port", "443")`.

    server (SERVER, SERVER_V6) ── router of ada (NAT) ══ wifi, mobile ══ ada
                               ── router of grace (NAT) ══ wifi, mobile ══ grace

A home starts on its Wi-Fi. The server sees the Wi-Fi and the mobile network as two addresses of the router.

| `home.` | effect on its network |
|---|---|
| `drops(UDP)` `drops(ALL)` `drops(ALL_BUT_HTTPS)` `drops(UDP, "wifi")` | these packets are lost, both ways |
| `limits_udp(kbytes)` `loses(percent)` | UDP beyond a rate is lost; this percentage of all packets is lost |
| `passes()` | no packets are lost any longer |
| `shape(kbit)` | everything queues for a link of this rate; None removes the limit |
| `rebind()` | the NAT forgets its UDP mappings and gives every flow a new port |
| `up("mobile")` `down("wifi")` `move()` | the device connects, disconnects or switches, and notices that |
| `freeze()` `thaw()` | every process in the home stops or continues, as on a laptop that sleeps |

IPv4 has NAT; IPv6 is routed, and is available only on request: `families=(6,)`. Links have no delay, because
many kernels lack netem. The namespaces have no names: they end with the block, or with this process, no
matter how it ends. Several worlds can exist at the same time without affecting each other. The module needs
Linux and root, and does not depend on calls.
"""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from aiohttp import TCPConnector
from playwright.async_api import ViewportSize

from tests.kit.browser_users import FLAGS, VIEWPORT, People, people_at
from tests.kit.firefox import Firefox, running_firefox
from tests.kit.fork_server import enter_network
from tests.kit.svc_up import SvcUp, running_svc_up
from tests.kit.wait import wait_until

SERVER, SERVER_V6 = "203.0.113.1", "2001:db8::1"
# The packets that a router can drop, as nft rules without their verdicts.
UDP = ("meta l4proto udp",)
ALL = ("",)
ALL_BUT_HTTPS = ("meta l4proto udp", 'iifname != "wan" tcp dport != 443', 'iifname "wan" tcp sport != 443')
UPLINKS = ("wifi", "mobile")
DEADLINE_S = 30.0
# A router port on which nothing is listening. A refused connection shows that the router is reachable.
NOBODYS_PORT, NEAR_S = 1, 0.1
# Each rebinding uses the next thousand ports, and returns to the first thousand after forty rebindings.
_FIRST_PORT, _PORTS, _RANGES = 20000, 1000, 40
_WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'
_PROGRAMS = ("unshare", "nsenter", "ip", "tc", "nft", "conntrack")
# Browsers treat this domain as secure without a certificate, even if it resolves to another machine.
SECURE_NAME = "svc.localhost"


def why_not() -> str:
    """Return the reason why this machine cannot have such networks, or "" if it can."""
    if missing := [program for program in _PROGRAMS if shutil.which(program) is None]:
        return f"missing: {', '.join(missing)} (ci/setup brings them)"
    probe = "ip link add one type veth peer name two && nft add table inet t && conntrack -C"
    tried = subprocess.run(["unshare", "-n", "sh", "-c", probe], capture_output=True, timeout=DEADLINE_S)
    if tried.returncode:
        return f"namespaces are refused here: {tried.stderr.decode().strip()}"
    return ""


def why_no_names() -> str:
    """Return why a program cannot have its own host names on this machine, or "" if it can."""
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, timeout=DEADLINE_S)
    return tried.stderr.decode().strip()


class NetworkNamespace:
    """A network namespace, held open by a process. Prefix a command with `inside` to run it there."""

    def __init__(self, holder: Process) -> None:
        self.pid = holder.pid
        self.path = f"/proc/{holder.pid}/ns/net"
        self.inside = ("nsenter", "-t", str(holder.pid), "-n", "--")

    async def run(self, *command: str, text: str = "", may_fail: bool = False) -> str:
        """Run a command in this namespace and return its output.

        The command must succeed unless `may_fail` is set.
        """
        process = await asyncio.create_subprocess_exec(
            *self.inside, *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT
        )
        async with asyncio.timeout(DEADLINE_S):
            printed, _ = await process.communicate(text.encode())
        assert process.returncode == 0 or may_fail, f"{command} {text}: {printed.decode()}"
        return printed.decode()

    async def ip(self, *lines: str, family: int = 4) -> None:
        await self.run("ip", f"-{family}", "-batch", "-", text="\n".join(lines) + "\n")

    def pids(self) -> list[int]:
        """List every process in this namespace except the one that holds it open."""
        network = _network(self.pid)
        running = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [pid for pid in running if pid != self.pid and _network(pid) == network]

    def socket(self, family: int, kind: int = socket.SOCK_STREAM) -> socket.socket:
        """Open a socket in this network for the calling process."""
        made: list[socket.socket] = []

        def make() -> None:
            enter_network(self.path)
            made.append(socket.socket(family, kind))

        # Only the current thread moves to the network, and this thread ends after opening the socket.
        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        made[0].setblocking(False)
        return made[0]

    def connector(self) -> TCPConnector:
        """Return a connector for an aiohttp session from this network."""
        return TCPConnector(socket_factory=lambda address: self.socket(address[0]))


def _network(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""  # The process has already exited.


@dataclass
class Home:
    """A home: the device is in `device`, and all its packets pass through `router`."""

    name: str
    number: int
    device: NetworkNamespace
    router: NetworkNamespace
    families: Sequence[int]
    on: list[str] = field(default_factory=list)
    _rules: list[str] = field(default_factory=list)
    _rebound: int = 0

    @property
    def inside(self) -> tuple[str, ...]:
        return self.device.inside

    async def drops(self, what: Sequence[str], uplink: str = "") -> None:
        """Drop these packets as well, on one network or on all networks."""
        for rule in what:
            near = [f'{side} "{uplink}" ' for side in ("iifname", "oifname")] if uplink else [""]
            self._rules += [f"{side}{rule} drop" for side in near]
        await self._filter()

    async def limits_udp(self, kbytes: int) -> None:
        self._rules.append(f"meta l4proto udp limit rate over {kbytes} kbytes/second drop")
        await self._filter()

    async def loses(self, percent: int) -> None:
        self._rules.append(f"numgen random mod 100 < {percent} drop")
        await self._filter()

    async def passes(self) -> None:
        self._rules.clear()
        await self._filter()

    async def shape(self, kbit: int | None) -> None:
        # "replace" keeps the packets that are waiting.
        queue = ("tbf", "rate", f"{kbit}kbit", "burst", "10kb", "latency", "300ms")
        for device in ("wan", *UPLINKS):
            what = ("replace", "dev", device, "root", *queue) if kbit else ("del", "dev", device, "root")
            await self.router.run("tc", "qdisc", *what, may_fail=not kbit)

    async def queue_s(self, kbit: int) -> float:
        """Return how long a packet waits for a link of this rate, in the direction with the longer queue."""
        printed = await self.router.run("tc", "-s", "qdisc", "show")
        sizes = re.findall(r"backlog (\d+)([KM]?)b", printed)
        waiting = max(int(size) * {"": 1, "K": 1024, "M": 1 << 20}[unit] for size, unit in sizes)
        return waiting * 8 / (1000 * kbit)

    async def rebind(self) -> None:
        self._rebound += 1
        await self._translate()
        await self.router.run("conntrack", "-D", "-p", "udp", may_fail=True)  # The rule might not exist.

    async def up(self, uplink: str) -> None:
        """Connect a network.

        The device prefers Wi-Fi if both are connected. A socket bound to an address uses that address's
        network.

        Return once a packet gets through. One time in ten, the kernel needs another second to find the
        router.
        """
        at = UPLINKS.index(uplink)
        for family in self.families:
            address, gateway = _at_home(self.number, at, family)
            await self.device.ip(
                f"link set {uplink} up",
                f"addr replace {address}/{_width(family)} dev {uplink}{_at_once(family)}",
                f"route replace default via {gateway} dev {uplink} metric {100 * (at + 1)}",
                f"route replace default via {gateway} dev {uplink} table {100 + at}",
                family=family,
            )
            await self._reaches(gateway, family)
        self.on.append(uplink)

    async def down(self, uplink: str) -> None:
        await self.device.ip(f"link set {uplink} down")
        self.on.remove(uplink)

    async def move(self) -> None:
        """Switch to the other network.

        The current network is disconnected before the other one is connected.
        """
        (current,) = self.on
        await self.down(current)
        await self.up(next(other for other in UPLINKS if other != current))

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.device.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    async def _reaches(self, router: str, family: int) -> None:
        async def answers() -> bool:
            try:
                with self.device.socket(socket.AF_INET if family == 4 else socket.AF_INET6) as trial:
                    async with asyncio.timeout(NEAR_S):
                        await asyncio.get_running_loop().sock_connect(trial, (router, NOBODYS_PORT))
            except ConnectionRefusedError:
                return True
            except OSError:  # TimeoutError is a subclass.
                pass
            return False

        await wait_until(f"{router} answers", answers, within_s=DEADLINE_S)

    async def _filter(self) -> None:
        lines = ["flush chain inet home through", *(f"add rule inet home through {r}" for r in self._rules)]
        await self.router.run("nft", "-f", "-", text="\n".join(lines) + "\n")

    async def _translate(self) -> None:
        """Set the NAT rules. Each network has its own external address and the current range of ports."""
        first = _FIRST_PORT + _PORTS * (self._rebound % _RANGES)
        ports = f"{first}-{first + _PORTS - 1}"
        rules = ["flush chain inet home address"]
        for at in range(len(UPLINKS)):
            source, _ = _at_home(self.number, at, 4)
            seen = f"{_outside(self.number, at)}:{ports}"
            rules.append(
                f'add rule inet home address oifname "wan" ip saddr {source} meta l4proto {{ tcp, udp }} '
                f"snat ip to {seen}"
            )
        await self.router.run("nft", "-f", "-", text="\n".join(rules) + "\n")


@dataclass
class World:
    server: NetworkNamespace
    homes: dict[str, Home]


@asynccontextmanager
async def home_networks(*names: str, families: Sequence[int] = (4,)) -> AsyncIterator[World]:
    """Build a server and the given homes, each with its own Wi-Fi network."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(network_namespace())
        world = World(server, {})
        await server.ip("link set lo up")
        for family, address in ((4, SERVER), (6, SERVER_V6)):
            if family in families:
                await server.ip(f"addr add {address} dev lo{_at_once(family)}", family=family)
        for number, name in enumerate(names, start=1):
            device, router = [await stack.enter_async_context(network_namespace()) for _ in range(2)]
            home = Home(name, number, device, router, families)
            stack.callback(home.thaw)  # A frozen process would not exit.
            await _connect(home, server)
            world.homes[name] = home
        yield world


@asynccontextmanager
async def network_namespace() -> AsyncIterator[NetworkNamespace]:
    """Create a namespace without any network for the duration of the block."""
    # The process exits when its input ends, so it also exits when the test process is killed.
    holder = await asyncio.create_subprocess_exec(
        *("unshare", "-n", "sh", "-c", "echo; exec cat"), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    assert holder.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            assert await holder.stdout.readline(), "a namespace was refused"
        yield NetworkNamespace(holder)
    finally:
        holder.kill()
        await holder.wait()


async def _connect(home: Home, server: NetworkNamespace) -> None:
    number, router, device = home.number, home.router, home.device
    line = f"to{number}"
    await router.ip(
        f"link add wan type veth peer name {line} netns {server.pid}",
        *(f"link add {uplink} type veth peer name {uplink} netns {device.pid}" for uplink in UPLINKS),
        *(f"link set {name} up" for name in ("lo", "wan", *UPLINKS)),
    )
    await device.ip("link set lo up")
    await server.ip(f"link set {line} up")
    for family in home.families:
        near, far = _line(number, family)
        behind = [_at_home(number, at, family) for at in range(len(UPLINKS))]
        seen = [f"{_outside(number, at)}/32" for at in range(len(UPLINKS))] if family == 4 else []
        width, at_once = _width(family), _at_once(family)
        await server.ip(
            f"addr add {far}/{width} dev {line}{at_once}",
            *(f"route add {address} via {near}" for address in seen or [f"2001:db8:{number}::/48"]),
            family=family,
        )
        await router.ip(
            f"addr add {near}/{width} dev wan{at_once}",
            f"route add default via {far}",
            *(f"addr add {b[1]}/{width} dev {up}{at_once}" for up, b in zip(UPLINKS, behind, strict=True)),
            *(f"addr add {address} dev lo" for address in seen),
            family=family,
        )
        rules = [f"rule add from {address} table {100 + at}" for at, (address, _) in enumerate(behind)]
        await device.ip(*rules, family=family)
    # The router of one network must not forward packets from an address of the other network.
    settings = (
        "ipv4/ip_forward",
        "ipv6/conf/all/forwarding",
        *(f"ipv4/conf/{uplink}/rp_filter" for uplink in UPLINKS),
    )
    await router.run("sh", "-c", "; ".join(f"echo 1 >/proc/sys/net/{setting}" for setting in settings))
    chains = {
        "through": "type filter hook forward priority filter;",
        # Drop packets to ports that the NAT has not assigned, so that nothing responds to them.
        "door": 'type filter hook input priority filter; iifname "wan" meta l4proto { tcp, udp } drop',
        "address": "type nat hook postrouting priority srcnat;",
    }
    table = "".join(f"chain {name} {{ {what}\n}}\n" for name, what in chains.items())
    await router.run("nft", "-f", "-", text=f"table inet home {{\n{table}}}\n")
    await home._translate()
    await home.up(UPLINKS[0])


def _width(family: int) -> int:
    return 24 if family == 4 else 64


def _at_once(family: int) -> str:
    """Make an address usable without duplicate address detection, because the namespace has no other host."""
    return " nodad" if family == 6 else ""


def _line(number: int, family: int) -> tuple[str, str]:
    """Return the addresses at the router's and the server's ends of the link."""
    return (f"10.9.{number}.2", f"10.9.{number}.1") if family == 4 else _pair(f"2001:db8:ff:{number}")


def _at_home(number: int, at: int, family: int) -> tuple[str, str]:
    """Return the addresses of the device and its router on one of the device's networks."""
    if family == 4:
        return f"192.168.{at + 1}.2", f"192.168.{at + 1}.1"
    return _pair(f"2001:db8:{number}:{at + 1}")


def _pair(prefix: str) -> tuple[str, str]:
    return f"{prefix}::2", f"{prefix}::1"


def _outside(number: int, at: int) -> str:
    """Return the device's address on one of its networks, as seen by the server."""
    return f"198.51.100.{10 * number + at}"


@asynccontextmanager
async def server_in(world: World, data_dir: Path, *flags: str, **variables: str) -> AsyncIterator[SvcUp]:
    """Run `svc up` on the server, over IPv6 if the world has no IPv4."""
    families = next(iter(world.homes.values())).families
    host = SERVER if 4 in families else SERVER_V6
    addresses = [address for family, address in ((4, SERVER), (6, SERVER_V6)) if family in families]
    variables = {"ICE_ADVERTISE_IP": ",".join(addresses), **variables}
    flags = ("--host", host, *flags)
    async with running_svc_up(data_dir, *flags, network=world.server.path, **variables) as product:
        yield product


@asynccontextmanager
async def people_in(
    home: Home,
    url: str,
    executable: str,
    more_flags: Sequence[str] = (),
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    viewport: ViewportSize = VIEWPORT,
    service_worker: bool = False,
) -> AsyncIterator[People]:
    """Run Chromium on a device in a home network. `names` maps host names to addresses.

    The page opens at SECURE_NAME. Only the full Chromium, which takes twice the CPU time, has a flag that
    makes the address itself secure.
    """
    parts = urlsplit(url)
    names = {**names, SECURE_NAME: parts.hostname or ""}
    rules = ", ".join(f"MAP {name} {_in_rule(address)}" for name, address in names.items())
    flags = [flag for flag in FLAGS if flag != "--allow-loopback-in-peer-connection"]
    flags += [f"--host-resolver-rules={rules}", *more_flags]
    port = f":{parts.port}" if parts.port else ""
    async with people_at(
        parts._replace(netloc=SECURE_NAME + port).geturl(),
        executable,
        flags=flags,
        inside=home.inside,
        viewport=viewport,
        service_worker=service_worker,
        still=True,
    ) as people:
        yield people


@asynccontextmanager
async def firefox_in(
    home: Home,
    url: str,
    executable: str,
    profile: Path,
    names: Mapping[str, str] = MappingProxyType({}),
    trusted: bytes | None = None,
) -> AsyncIterator[Firefox]:
    """Run Firefox on a device in a home network.

    `names` maps host names to addresses; `trusted` is a CA certificate in PEM format.
    """
    inside = home.inside
    if names:
        hosts = profile.with_name("hosts")
        hosts.write_text("".join(f"{address} {name}\n" for name, address in names.items()))
        inside = (*inside, "unshare", "--mount", "sh", "-c", _WITH_HOSTS, str(hosts))
    settings: dict[str, Any] = {
        # Firefox's remote control turns this setting off, so pages would never learn of a lost network.
        "network.manage-offline-status": True,
        "dom.securecontext.allowlist": urlsplit(url).hostname or "",
        "media.devices.insecure.enabled": True,
        "media.getusermedia.insecure.enabled": True,
        "media.peerconnection.ice.loopback": False,
    }
    running = running_firefox(
        executable,
        profile,
        inside=inside,
        connector=home.device.connector(),
        preferences=settings,
        trusted=trusted,
    )
    async with running as browser:
        yield browser


def _in_rule(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
