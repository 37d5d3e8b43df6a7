"""Acknowledged messages are on disk. The tests use `kill -9`, a full disk and traced system calls."""

import asyncio
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession

from svc.chat.access.rate_limits import REQUEST_BURST
from tests.chat.chat_server import ChatServer
from tests.kit.chat_process import ChatProcess, NotStarted, chat_process
from tests.kit.device import Device
from tests.kit.wait import wait_until

MESSAGES = "/api/channels/general/messages"
WRITERS = 8


@pytest.fixture
def no_sfu(tmp_path: Path) -> dict[str, str]:
    """Create the data folder of a server without a media service. Return the server's variables."""
    (tmp_path / "data").mkdir()
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
    }


async def token_of(server: ChatProcess, data_dir: Path) -> str:
    """Sign in as a new member. Return the access token."""
    invite = (data_dir / "invite-code").read_text().strip()
    async with ClientSession(server.address) as http:
        chat = ChatServer(server.address, http, invite)
        return str((await chat.sign_in(Device(), nickname="Ada", invite_code=invite))["access_token"])


async def posted(http: ClientSession, text: str) -> tuple[int, dict[str, str]]:
    """Post a message, waiting if the rate limit requires it. Return the status and the response."""
    return await _requested(http, "POST", {"text": text})


async def read(http: ClientSession) -> int:
    """Read a page of messages, waiting if the rate limit requires it. Return the status."""
    return (await _requested(http, "GET", None))[0]


async def _requested(http: ClientSession, method: str, body: object) -> tuple[int, dict[str, str]]:
    while True:
        async with http.request(method, MESSAGES, json=body) as response:
            answered = await response.json()
        if response.status != 429:
            return response.status, answered
        await asyncio.sleep(answered["retry_after_ms"] / 1000)


class Load:
    """Clients that keep posting until the server is gone.

    `acknowledged` contains the ids of the messages that the server has acknowledged.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"}
        self.acknowledged: list[str] = []

    async def run(self) -> None:
        async with ClientSession(self._address, headers=self._headers) as http:
            await asyncio.gather(*(self._write(http) for _ in range(WRITERS)))

    async def _write(self, http: ClientSession) -> None:
        with suppress(ClientError, ConnectionError):
            while True:
                self.acknowledged.append((await posted(http, "x" * 200))[1]["id"])


@pytest.mark.parametrize(
    "kills", [5, pytest.param(100, marks=[pytest.mark.nightly("a hundred kills"), pytest.mark.timeout(1800)])]
)
async def test_killing_the_server_at_any_moment_loses_no_acknowledged_message(
    no_sfu: dict[str, str], kills: int
) -> None:
    chance = random.Random(5)
    data_dir = Path(no_sfu["DATA_DIR"])
    acknowledged: list[str] = []
    token = ""
    for _ in range(kills):
        async with chat_process(no_sfu) as server:
            token = token or await token_of(server, data_dir)
            load = Load(server.address, token)
            writing = asyncio.create_task(load.run())
            enough = chance.randrange(1, REQUEST_BURST)

            async def has_written(load: Load = load, enough: int = enough) -> bool:
                return len(load.acknowledged) >= enough

            await wait_until("messages are acknowledged", has_written, within_s=30)
            # Kill the server at a random point during the next commits.
            await asyncio.sleep(chance.random() * 0.02)
            server.kill()
            await server.ended()
            await writing
        acknowledged += load.acknowledged
        kept = stored_ids(data_dir)
        assert set(acknowledged) <= kept
    assert len(acknowledged) >= kills


async def test_an_acknowledged_webhook_post_survives_a_kill(no_sfu: dict[str, str]) -> None:
    data_dir = Path(no_sfu["DATA_DIR"])
    async with chat_process(no_sfu) as server:
        headers = {"Authorization": f"Bearer {await token_of(server, data_dir)}"}
        async with ClientSession(server.address) as http:
            body = {"name": "Hook", "channel_id": "general"}
            async with http.post("/api/webhooks", json=body, headers=headers) as response:
                made = await response.json()

            async def post(number: int) -> str:
                path = f"/api/webhooks/{made['id']}/{made['token']}"
                async with http.post(path, json={"cards": [{"title": str(number)}]}) as response:
                    return str((await response.json())["message_id"])

            posted = await asyncio.gather(*map(post, range(15)))
            server.kill()
            await server.ended()
    assert set(posted) <= stored_ids(data_dir)


def stored_ids(data_dir: Path) -> set[str]:
    """Check the integrity of a stopped server's database. Return the ids of its messages."""
    connection = sqlite3.connect(data_dir / "community.sqlite3")
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row[0] for row in connection.execute("SELECT id FROM messages")}
    finally:
        connection.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed (ci/setup installs it)")
async def test_the_write_ahead_log_is_synced_before_the_response_is_sent(
    no_sfu: dict[str, str], tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    calls = "fsync,fdatasync,sendto,sendmsg,write,writev,pwrite64"
    wrapper = ("strace", "-f", "-y", "-s", "4096", "-e", f"trace={calls}", "-o", str(trace))
    try:
        async with chat_process(no_sfu, wrapper) as server:
            token = await token_of(server, Path(no_sfu["DATA_DIR"]))
            headers = {"Authorization": f"Bearer {token}"}
            async with ClientSession(server.address, headers=headers) as http:
                for number in range(5):
                    async with http.post(MESSAGES, json={"text": f"marker-{number}-marker"}) as response:
                        assert response.status == 201
    except NotStarted as fault:
        if "ptrace" in str(fault) or "PTRACE" in str(fault):
            pytest.skip("this sandbox forbids tracing")
        raise
    lines = trace.read_text(errors="replace").splitlines()
    for number in range(5):
        marker = f"marker-{number}-marker"
        first = next(i for i, line in enumerate(lines) if marker in line and "-wal" in line)
        answered = next(i for i, line in enumerate(lines) if marker in line and "socket:" in line)
        synced = [i for i in range(first, answered) if done_syncing(lines, i)]
        assert synced, "\n".join(lines[first : answered + 1])


def done_syncing(lines: list[str], index: int) -> bool:
    """Return whether the line shows that a sync of the write-ahead log has completed."""
    line = lines[index]
    if re.search(r"\b(fsync|fdatasync)\(\d+<[^>]*-wal>\)\s+= 0", line):
        return True
    if not re.search(r"<\.\.\. (fsync|fdatasync) resumed>.*= 0", line):
        return False
    thread = line.split()[0]
    begun = next(earlier for earlier in reversed(lines[:index]) if earlier.split()[0] == thread)
    return "-wal" in begun


def small_disk(folder: Path, size: str) -> tuple[str, ...]:
    """Return a command prefix that mounts a private disk of the given size at `folder`."""
    unshare = (
        ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--user", "--map-root-user")
    )
    mount = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    return (*unshare, "sh", "-c", mount, str(folder))


def refuse_without_namespaces(folder: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is missing")
    tried = subprocess.run((*small_disk(folder, "1m"), "true"), capture_output=True, check=False, timeout=10)
    if tried.returncode:
        pytest.skip(f"this sandbox cannot mount anything: {tried.stderr.decode(errors='replace').strip()}")


async def test_writes_fail_on_a_full_disk_and_the_server_recovers(no_sfu: dict[str, str]) -> None:
    data_dir = Path(no_sfu["DATA_DIR"])
    refuse_without_namespaces(data_dir)
    async with chat_process(no_sfu, small_disk(data_dir, "4m")) as server:
        # The path of the data folder in the server's mount namespace.
        inside = Path(f"/proc/{server.process.pid}/root{data_dir}")
        token = await token_of(server, inside)
        async with ClientSession(server.address, headers={"Authorization": f"Bearer {token}"}) as http:
            before = [(await posted(http, f"before {number}"))[1]["id"] for number in range(10)]
            fill(inside / "ballast")
            refused = False
            # The server still accepts messages that fit into the free space of the write-ahead log.
            for _ in range(100):
                status, answered = await posted(http, "x" * 4_000)
                if status == 201:
                    before.append(answered["id"])
                    continue
                assert (status, answered["error"]) == (503, "storage_unavailable")
                refused = True
            assert refused
            assert await read(http) == 200  # Reads continue to work.
            (inside / "ballast").unlink()

            async def posts_again() -> bool:
                status, answered = await posted(http, "after")
                if status == 201:
                    before.append(answered["id"])
                return status == 201

            await wait_until("messages are stored again", posts_again, within_s=10)
        # The disk is copied while the process is stopped.
        server.process.send_signal(signal.SIGSTOP)
        assert set(before) <= stored_ids(copied(inside, data_dir.parent / "copy"))


def copied(folder: Path, to: Path) -> Path:
    to.mkdir()
    for file in folder.glob("community.sqlite3*"):
        shutil.copy(file, to)
    return to


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)


async def test_a_read_only_data_folder_prevents_startup_with_a_message(no_sfu: dict[str, str]) -> None:
    data_dir = Path(no_sfu["DATA_DIR"])
    refuse_without_namespaces(data_dir)
    read_only = small_disk(data_dir, "4m,ro")
    with pytest.raises(NotStarted) as refused:
        async with chat_process(no_sfu, read_only):
            pass
    assert str(data_dir) in str(refused.value)
    assert "Traceback" not in str(refused.value)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed (ci/setup installs it)")
async def test_writes_fail_in_a_folder_that_becomes_read_only_and_the_server_recovers(
    no_sfu: dict[str, str], tmp_path: Path
) -> None:
    data_dir = Path(no_sfu["DATA_DIR"])
    # A file system cannot be remounted read-only while files are open for writing, so the errors are
    # simulated.
    refused = "inject=pwrite64,pwritev,ftruncate,fdatasync,fsync:error=EROFS:when=100..160"
    log = str(data_dir / "community.sqlite3-wal")
    wrapper = ("strace", "-f", "-q", "-o", str(tmp_path / "trace"), "-P", log, "-e", refused)
    async with chat_process(no_sfu) as server:
        token = await token_of(server, data_dir)
    acknowledged: list[str] = []
    outcomes: list[int] = []
    try:
        async with (
            chat_process(no_sfu, wrapper) as server,
            ClientSession(server.address, headers={"Authorization": f"Bearer {token}"}) as http,
        ):
            while len(outcomes) < 400 and not (503 in outcomes and outcomes[-20:] == [201] * 20):
                status, answered = await posted(http, "x" * 4_000)
                outcomes.append(status)
                if status == 201:
                    acknowledged.append(answered["id"])
                    continue
                assert (status, answered["error"]) == (503, "storage_unavailable")
                assert await read(http) == 200  # Reads continue to work.
    except NotStarted as fault:
        if "ptrace" in str(fault) or "PTRACE" in str(fault):
            pytest.skip("this sandbox forbids tracing")
        raise
    assert 503 in outcomes
    assert outcomes[-20:] == [201] * 20
    assert set(acknowledged) == stored_ids(data_dir)
