"""Builds networks for a cluster's processes from loopback proxies or namespaces. A test can cut them.

On loopback, only the connections from nodes and relays to NATS can be cut. With namespaces, each process is a
separate host, and all packets between two parts of the cluster can be dropped. The caller always reaches
every host. Namespaces need Linux and root, and the caller must be in a separate namespace
(`unshare_network`).
"""

import asyncio
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

from tests.kit.home_networks import network_namespace
from tests.kit.severable_proxy import SeverableProxy, severable_proxy

_DEADLINE_S = 30.0


@dataclass(frozen=True)
class Host:
    """The address of a process, and the command prefix that runs programs there."""

    address: str = "127.0.0.1"
    inside: Sequence[str] = ()


LOOPBACK = Host()


class ClusterNetwork(Protocol):
    """A network in which a test can place processes and isolate them from each other."""

    async def host(self, name: str) -> Host:
        """Return a new host for a process."""

    async def servers_for(self, name: str, urls: Sequence[str]) -> list[str]:
        """Return the addresses at which a node or relay reaches the NATS servers."""

    async def separate(self, apart: Collection[str]) -> None:
        """Cut the network between these processes and all others."""

    async def join(self) -> None:
        """Restore the network between all processes."""


class LoopbackNetwork:
    """A proxy between each node or relay and each NATS server."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._proxies: dict[str, list[SeverableProxy]] = {}

    async def host(self, name: str) -> Host:
        return LOOPBACK

    async def servers_for(self, name: str, urls: Sequence[str]) -> list[str]:
        self._proxies[name] = [await self._stack.enter_async_context(severable_proxy(url)) for url in urls]
        return [proxy.url for proxy in self._proxies[name]]

    async def separate(self, apart: Collection[str]) -> None:
        for name in apart:
            for proxy in self._proxies[name]:
                proxy.pause()

    async def join(self) -> None:
        for proxies in self._proxies.values():
            for proxy in proxies:
                proxy.resume()


class NamespaceNetwork:
    """A network with a namespace for each process. This process's namespace is the router between them."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._addresses: dict[str, str] = {}

    async def host(self, name: str) -> Host:
        if not self._addresses:
            await run("ip", "link", "set", "lo", "up")
            await run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
        namespace = await self._stack.enter_async_context(network_namespace())
        number = len(self._addresses) + 1
        line, router, address = f"to{number}", f"10.9.{number}.1", f"10.9.{number}.2"
        await run(
            *("ip", "link", "add", line, "type", "veth", "peer", "name", "wire", "netns", str(namespace.pid))
        )
        await run("ip", "address", "add", f"{router}/24", "dev", line)
        await run("ip", "link", "set", line, "up")
        await namespace.ip(
            *("link set lo up", f"addr add {address}/24 dev wire", "link set wire up"),
            f"route add default via {router}",
        )
        self._addresses[name] = address
        return Host(address, namespace.inside)

    async def servers_for(self, name: str, urls: Sequence[str]) -> list[str]:
        return list(urls)

    async def separate(self, apart: Collection[str]) -> None:
        ones = ", ".join(self._addresses[name] for name in apart)
        others = ", ".join(address for name, address in self._addresses.items() if name not in apart)
        rules = [
            f"ip saddr {{ {source} }} ip daddr {{ {target} }} drop\n"
            for source, target in ((ones, others), (others, ones))
        ]
        chain = "type filter hook forward priority filter;\n" + "".join(rules)
        await run("nft", "-f", "-", text=f"table inet apart {{\nchain through {{\n{chain}}}\n}}\n")

    async def join(self) -> None:
        await run("nft", "flush", "ruleset")


async def run(*command: str, text: str = "") -> None:
    """Run a command that must succeed."""
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=STDOUT)
    async with asyncio.timeout(_DEADLINE_S):
        printed, _ = await process.communicate(text.encode())
    assert process.returncode == 0, f"{command} {text}: {printed.decode()}"
