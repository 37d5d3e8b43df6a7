"""Simulates two machines on the same Ethernet link with network namespaces. One of them runs Avahi.

No packet leaves the namespaces, which end with the block. The module does not depend on the product.
"""

import asyncio
import os
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

DEADLINE_S = 40.0
_PROGRAMS = ("unshare", "nsenter", "ip", "dbus-daemon", "avahi-daemon", "avahi-browse")
# The visitor uses the outer namespace. It has its own /run, through which D-Bus and Avahi communicate.
_SET_UP = """
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/avahi-daemon
# Names are resolved only from this file. Otherwise Avahi would ask DNS servers for names outside .local.
printf '127.0.0.1 localhost\\n203.0.113.9 chat.example.org\\n' >/run/hosts
mount --bind /run/hosts /etc/hosts
mount --bind /dev/null /etc/resolv.conf
ip link set lo up
unshare -n sleep 600 &
server=$!
while [ "$(readlink /proc/$server/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add cable type veth peer name cable netns $server
ip addr add 10.7.0.2/24 dev cable
ip link set cable up
nsenter -t $server -n ip link set lo up
nsenter -t $server -n ip addr add 10.7.0.1/24 dev cable
nsenter -t $server -n ip link set cable up
dbus-daemon --system --nofork --nopidfile 2>/dev/null &
while [ ! -S /run/dbus/system_bus_socket ]; do sleep 0.05; done
avahi-daemon --no-rlimits --no-drop-root --no-chroot >/dev/null 2>&1 &
while [ ! -S /run/avahi-daemon/socket ]; do sleep 0.05; done
echo $server
exec sleep 600
"""


def why_not() -> str:
    """Return the reason why this machine cannot have such a network, or "" if it can."""
    if missing := [program for program in _PROGRAMS if shutil.which(program) is None]:
        return f"missing: {', '.join(missing)}"
    probe = ["unshare", "-n", "-m", "-p", "-f", "--mount-proc", "true"]
    if subprocess.run(probe, capture_output=True, timeout=DEADLINE_S).returncode:
        return "namespaces are refused here"
    return ""


@dataclass
class Lan:
    """A network of two machines. The command prefixes `server` and `visitor` run a command on one of the
    machines.
    """

    server: Sequence[str]
    visitor: Sequence[str]


@dataclass
class Browser:
    """A running `avahi-browse`, and the services that it currently sees, by name."""

    process: asyncio.subprocess.Process
    advertised: dict[str, str] = field(default_factory=dict)

    async def until(self, what: str, *names: str) -> None:
        """Wait until exactly these services are announced, with their addresses and ports."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                while set(self.advertised) != set(names) or not all(self.advertised.values()):
                    self._receive((await self._line()).split(";"))
        except TimeoutError:
            raise AssertionError(f"not within {DEADLINE_S} s: {what}; there are {self.advertised}") from None

    async def _line(self) -> str:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        assert line, "avahi-browse has exited"
        return line.decode().rstrip("\n")

    def _receive(self, words: list[str]) -> None:
        match words:
            case ["+", _, _, name, *_]:
                self.advertised.setdefault(name, "")
            case ["-", _, _, name, *_]:
                self.advertised.pop(name, None)
            case ["=", _, _, name, _, _, _, address, port, text]:
                self.advertised[name] = f"{address}:{port} {text}"


@asynccontextmanager
async def lan() -> AsyncIterator[Lan]:
    process = await asyncio.create_subprocess_exec(
        *("unshare", "-n", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", _SET_UP),
        stdout=PIPE,
        stderr=DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            server = (await process.stdout.readline()).decode().strip()
        assert server, "the network could not be set up"
        visitor = ("nsenter", "-t", _child(process.pid), "-n", "-m", "-p", "--")
        yield Lan((*visitor, "nsenter", "-t", server, "-n", "--"), visitor)
    finally:
        process.kill()
        await process.wait()


def _child(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]


@asynccontextmanager
async def browsing(network: Lan, service: str) -> AsyncIterator[Browser]:
    """Run a visitor that browses for services of a type, over IPv4 only."""
    process = await asyncio.create_subprocess_exec(
        *network.visitor, "avahi-browse", "-p", "-r", "-k", service, stdout=PIPE, start_new_session=True
    )
    try:
        yield Browser(process)
    finally:
        os.killpg(process.pid, 9)
        await process.wait()
