"""A running service hands its ports over to a successor. Both are real processes, with real sockets and
media.
"""

import asyncio
import os
import socket
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from svc.base.config_parsing import ConfigError
from svc.sfu.handover import READY, HandoverFailed, take_over, wait_for_successor
from tests.kit.aiortc_guests import Guests, guests_of
from tests.kit.sfu_process import SfuProcess, running_sfu
from tests.kit.wait import eventually


@pytest.fixture
def socket_path(tmp_path: Path) -> Path:
    """Return the path of the socket on which the service waits for a successor."""
    return tmp_path / "sfu.sock"


@asynccontextmanager
async def waiting_at(socket_path: Path) -> AsyncIterator[SfuProcess]:
    async with running_sfu("--handover-socket", str(socket_path)) as sfu:
        yield sfu


@asynccontextmanager
async def successor_at(socket_path: Path) -> AsyncIterator[SfuProcess]:
    async with running_sfu("--handover-socket", str(socket_path), "--take-over") as sfu:
        yield sfu


async def talking(guests: Guests) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await asyncio.gather(ada.sees(grace), grace.sees(ada))


async def test_people_rejoin_on_the_same_ports_and_hear_each_other(socket_path: Path) -> None:
    async with waiting_at(socket_path) as old:
        control = await old.control("lobby")
        async with guests_of(old) as before:
            ada, grace = await before.arrive("ada"), await before.arrive("grace")
            await asyncio.gather(ada.sees(grace), grace.sees(ada))
            async with successor_at(socket_path) as new:
                assert (new.http_port, new.udp_port) == (old.http_port, old.udp_port)
                closed, reason = await ada.ending()
                assert (closed, reason) == (4006, "Join again: another process serves this room now")
                assert await grace.ending() == (closed, reason)
                assert await control.ending() == 4006
                await new.control("lobby")
                async with guests_of(new) as after:
                    ada, grace = await after.arrive("ada"), await after.arrive("grace")
                    await eventually("both are in", lambda: ada.welcome and grace.welcome, within_s=30)
                    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace))
                    assert ada.remote_address == ("127.0.0.1", old.udp_port)
                assert await old.ended() == 0
                assert old.faults == new.faults == []


async def test_the_ports_stay_open_throughout_the_handover(socket_path: Path) -> None:
    answers: list[int] = []

    async def ask(url: str, enough: asyncio.Event) -> None:
        async with ClientSession() as http:
            while not enough.is_set():
                async with http.get(url + "/health", headers={"Connection": "close"}) as response:
                    answers.append(response.status)

    async with waiting_at(socket_path) as old:
        enough = asyncio.Event()
        task = asyncio.create_task(ask(old.url, enough))
        async with successor_at(socket_path):
            assert await old.ended() == 0
            before = len(answers)
            await eventually("the successor responds", lambda: len(answers) > before + 5, within_s=30)
            enough.set()
            await task
    assert set(answers) == {200}


async def test_a_successor_can_also_be_replaced(socket_path: Path) -> None:
    async with waiting_at(socket_path) as first, successor_at(socket_path) as second:
        assert await first.ended() == 0
        async with successor_at(socket_path) as third:
            assert await second.ended() == 0
            assert third.udp_port == first.udp_port
    assert not is_there(socket_path)


async def test_a_successor_that_dies_too_early_does_not_affect_the_service(socket_path: Path) -> None:
    async with waiting_at(socket_path) as sfu:
        await sfu.control("lobby")
        async with guests_of(sfu) as guests:
            ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
            await ada.sees(grace)
            succession = await take_over(socket_path)
            assert succession is not None
            assert {kind.type for kind in succession.ports.udp} == {socket.SOCK_DGRAM}
            numbers = {kind.getsockname()[1] for kind in succession.ports.tcp}
            assert numbers == {sfu.http_port, sfu.udp_port}
            succession.ports.close()
            succession._connection.close()
            await asyncio.gather(ada.sees(grace), grace.sees(ada))
            assert ada.closed is None
        # A client that sends anything else does not affect the service either.
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(socket_path))
            stranger.sendall(b"hello")
        async with successor_at(socket_path):
            assert await sfu.ended() == 0


async def test_a_service_without_a_predecessor_starts_normally(socket_path: Path) -> None:
    async with successor_at(socket_path) as sfu:
        assert any("no service to take over from" in line for line in sfu.output.splitlines())
        async with sfu.http.get(sfu.url + "/health") as response:
            assert response.status == 200
    # A process that was killed leaves such a socket behind.
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(socket_path))
    async with waiting_at(socket_path):
        pass


async def test_only_the_services_own_user_can_open_the_handover_socket(socket_path: Path) -> None:
    async with waiting_at(socket_path):
        assert mode(socket_path) == 0o600
    assert not is_there(socket_path)


def is_there(socket_path: Path) -> bool:
    return socket_path.exists()


def mode(socket_path: Path) -> int:
    return stat.S_IMODE(socket_path.stat().st_mode)


async def refused(*flags: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "sfu", "--host", "127.0.0.1", *flags),
        env={**os.environ, "SFU_PORT": "0", "ICE_UDP_MUX_PORT": "0", "DISABLE_STUN": "true"},
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(20):
        _, errors = await process.communicate()
    assert process.returncode == 2, errors
    return errors.decode().splitlines()[-1]


async def test_a_client_that_is_not_a_successor_is_rejected(socket_path: Path) -> None:
    async with waiting_at(socket_path):
        problem = await refused("--handover-socket", str(socket_path))
    assert (
        problem
        == f"svc sfu: another service is already using {socket_path}; add --take-over to take over its ports"
    )


async def test_incompatible_flags_are_reported(socket_path: Path) -> None:
    assert "--take-over needs --handover-socket" in await refused("--take-over")
    nowhere = str(socket_path / "missing" / "sfu.sock")
    assert f"--handover-socket {nowhere} cannot be used" in await refused("--handover-socket", nowhere)


async def test_a_predecessor_that_exits_silently_is_reported(socket_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as old, socket.create_server(("127.0.0.1", 0)) as port:
        old.bind(str(socket_path))
        old.listen()
        taking = asyncio.create_task(take_over(socket_path))
        connection, _ = await asyncio.to_thread(old.accept)
        socket.send_fds(connection, [b"sockets 1\n"], [port.fileno()])
        succession = await taking
        assert succession is not None
        assert connection.recv(0) == b""
        connection.close()
        with pytest.raises(HandoverFailed):
            await succession.complete()
        succession.ports.close()


@pytest.mark.parametrize("message", [b"", b"nonsense", b"sockets 2\n"])
async def test_a_predecessor_that_sends_something_else_is_rejected(socket_path: Path, message: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as old, socket.create_server(("127.0.0.1", 0)) as port:
        old.bind(str(socket_path))
        old.listen()
        taking = asyncio.create_task(take_over(socket_path))
        connection, _ = await asyncio.to_thread(old.accept)
        with connection:
            if message:
                socket.send_fds(connection, [message], [port.fileno()])
        with pytest.raises(HandoverFailed, match="did not hand its ports over"):
            await taking


async def test_ports_stay_open_if_they_cannot_be_handed_over_in_time(
    socket_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("svc.sfu.handover.DEADLINE_S", 0.05)
    given_up: list[str] = []

    async def give_up() -> None:
        given_up.append("given up")

    async with wait_for_successor(socket_path, [], give_up, lambda: given_up.append("handed over")):
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(socket_path))
            await eventually(
                "the failure is logged", lambda: "handing over ports failed" in caplog.messages, within_s=30
            )
        assert given_up == []
        with socket.socket(socket.AF_UNIX) as quick:
            quick.connect(str(socket_path))
            quick.sendall(READY)
            await eventually("the ports are closed", lambda: len(given_up) == 2, within_s=30)
    assert given_up == ["given up", "handed over"]


async def test_a_process_of_another_user_is_ignored(
    socket_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting_at(socket_path) as sfu:
        monkeypatch.setattr("svc.sfu.handover.os.geteuid", lambda: 12345)
        with pytest.raises(HandoverFailed, match="the other end belongs to another user"):
            await take_over(socket_path)
        assert (await sfu.http.get(sfu.url + "/health")).status == 200


def test_the_log_states_why_a_handover_failed() -> None:
    assert issubclass(HandoverFailed, ConfigError)
