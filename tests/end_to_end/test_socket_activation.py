"""Programs inherit listening sockets that a service manager keeps open: systemd-socket-activate or the test.

See `--listen-fd`, and sd_listen_fds(3): descriptors start at 3.
"""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.base.listeners import bound
from svc.tools.cluster_demo import free_ports
from tests.kit.aiortc_guests import guests_of
from tests.kit.sfu_process import SfuProcess, running_sfu
from tests.kit.wait import wait_until

ACTIVATE = shutil.which("systemd-socket-activate")
real = pytest.mark.skipif(ACTIVATE is None, reason="systemd-socket-activate is missing; ci/setup installs it")
SVC = str(Path(sys.executable).with_name("svc"))
WITHIN_S = 20.0


@asynccontextmanager
async def started(*command: str, descriptors: Sequence[int] = (), **variables: str) -> AsyncIterator[None]:
    """Run a program during the block. The program must exit cleanly."""
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | variables, pass_fds=descriptors, start_new_session=True
    )
    try:
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(WITHIN_S):
            status = await process.wait()
    assert status == 0


@asynccontextmanager
async def activated(port: int, *command: str, **variables: str) -> AsyncIterator[None]:
    """Start a command on the first connection to `port`, as systemd would."""
    assert ACTIVATE is not None
    handed = [f"--setenv={name}={value}" for name, value in variables.items()]
    async with started(ACTIVATE, f"--listen=127.0.0.1:{port}", *handed, SVC, *command):
        yield


async def health(port: int) -> str:
    """Return the service's name from its health endpoint, retrying until systemd-socket-activate listens."""
    answers: list[str] = []

    async def answered() -> bool:
        try:
            async with http.get(f"http://127.0.0.1:{port}/health") as response:
                answers.append((await response.json())["service"])
        except (ClientError, TimeoutError):
            return False
        return True

    async with ClientSession(timeout=ClientTimeout(total=WITHIN_S)) as http:
        await wait_until("the service responds", answered, within_s=WITHIN_S)
    return answers[0]


def chat_variables(folder: Path) -> dict[str, str]:
    # The server cannot listen on this host itself, so only the inherited socket can work.
    return {
        "HOST": "192.0.2.250",
        "JWT_SECRET": "a secret of at least 32 bytes, long",
        "DATA_DIR": str(folder),
    }


@real
async def test_systemd_starts_the_chat_server_at_the_first_request(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    async with activated(port, "chat", "--listen-fd", "3", **chat_variables(tmp_path / "data")):
        assert await health(port) == "chat"


@real
async def test_systemd_starts_the_sfu_at_the_first_request() -> None:
    (port,) = free_ports(1)
    quiet = {"DISABLE_STUN": "true", "ICE_UDP_MUX_PORT": "0"}
    async with activated(port, "sfu", "--listen-fd", "3", **quiet):
        assert await health(port) == "sfu"


async def test_requests_wait_while_the_chat_server_restarts(tmp_path: Path) -> None:
    (listening,) = bound("127.0.0.1", 0)
    with listening:
        port, number = listening.getsockname()[1], listening.fileno()
        command = (SVC, "chat", "--listen-fd", str(number))
        variables = chat_variables(tmp_path / "data")
        async with started(*command, descriptors=[number], **variables):
            assert await health(port) == "chat"
        # Connections wait while no service is running.
        task = asyncio.create_task(health(port))
        async with started(*command, descriptors=[number], **variables):
            assert await task == "chat"


async def test_a_call_uses_inherited_udp_and_tcp_ports() -> None:
    with ExitStack() as open_here:
        (tcp,) = bound("127.0.0.1", 0)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for sock in (tcp, udp):
            open_here.enter_context(sock)
        # Media over TCP uses the same port number, so the port must also be free for TCP.
        with bound("127.0.0.1", 0)[0] as occupied:
            udp.bind(occupied.getsockname())
        flags = [word for sock in (tcp, udp) for word in ("--listen-fd", str(sock.fileno()))]
        async with running_sfu(*flags, descriptors=[tcp.fileno(), udp.fileno()]) as sfu:
            assert (sfu.http_port, sfu.udp_port) == (tcp.getsockname()[1], udp.getsockname()[1])
            await two_people_talk(sfu)
            assert sfu.faults == []


async def two_people_talk(sfu: SfuProcess) -> None:
    await sfu.control("lobby")
    async with guests_of(sfu) as guests:
        ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
        await asyncio.gather(ada.sees(grace), grace.hears(ada))


@pytest.mark.parametrize(
    ("program", "kind", "problem"),
    [
        ("sfu", "dual", "the UDP sockets to hand over must be one IPv4 socket and one IPv6-only socket: "),
        ("sfu", "unbound", "is neither a listening TCP socket nor a bound UDP socket"),
        ("chat", "udp", "--listen-fd: this program does not use UDP sockets"),
    ],
)
async def test_unusable_sockets_are_reported(tmp_path: Path, program: str, kind: str, problem: str) -> None:
    family = socket.AF_INET6 if kind == "dual" else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as handed:
        if kind == "dual":
            handed.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if kind != "unbound":
            handed.bind(("", 0))
        process = await asyncio.create_subprocess_exec(
            *(SVC, program, "--listen-fd", str(handed.fileno())),
            env=os.environ | chat_variables(tmp_path) | {"DISABLE_STUN": "true", "SFU_PORT": "0"},
            pass_fds=[handed.fileno()],
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(WITHIN_S):
            _, errors = await process.communicate()
    assert process.returncode == 2
    assert problem in errors.decode().splitlines()[-1]
