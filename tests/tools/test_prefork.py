"""The programs that `svc up` starts first are forks. They share memory, but not each other's secrets."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from svc.tools import hidden_environment
from tests.tools.test_up import svc_up, until, until_gone

pytestmark = pytest.mark.skipif(not hidden_environment.can_fork(), reason="this system cannot prefork")

SHARED_KB = 8 * 1024
DRAWS = r"""
import asyncio, os, random, ssl, uuid
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from svc.tools import prefork

def draw(arguments=()):
    key = X25519PrivateKey.generate().private_bytes_raw().hex()
    os.write(1, f"{random.random()} {uuid.uuid4()} {ssl.RAND_bytes(8).hex()} {key}\n".encode())
    return 0

draw()
forks = prefork.fork(["sfu", "chat"], os.memfd_create("hidden"), draw)
assert set(forks) == {"sfu", "chat"}

async def main():
    for fork in [fork.begin([], {}, []) for fork in forks.values()]:
        assert await fork.wait() == 0

asyncio.run(main())
"""


async def test_the_first_programs_share_memory_and_a_restarted_program_has_a_new_address_layout(
    tmp_path: Path,
) -> None:
    async with svc_up(tmp_path / "data") as up:
        first = up.children
        layouts = {layout(pid) for pid in (up.process.pid, *first.values())}
        assert len(layouts) == 1
        assert all(shared_kb(pid) > SHARED_KB for pid in first.values())
        for pid in first.values():
            os.kill(pid, signal.SIGKILL)
        await until_gone(list(first.values()))
        await until(lambda: set(up.children) == set(first) and all(map(layout, up.children.values())))
        assert len(layouts | {layout(pid) for pid in up.children.values()}) == 3


async def test_a_fork_has_the_name_of_its_program(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "data") as up:
        shown = {name: names_of(pid) for name, pid in up.children.items()}
    for name, (short, command_line) in shown.items():
        assert short == f"svc {name}"
        assert command_line.startswith(f"svc {name} --")


async def test_no_program_holds_the_secrets_of_another(tmp_path: Path) -> None:
    operators = {"S3_SECRET_ACCESS_KEY": "secret-of-chat-server", "AWS_SESSION_TOKEN": "secret-of-nobody"}
    async with svc_up(tmp_path / "data", **operators) as up:
        own = json.loads((tmp_path / "data" / "secrets.json").read_text())
        secrets = [*operators.values(), own["jwt_secret"]]
        memories = {name: memory(pid) for name, pid in up.children.items()}
        held = {name: [secret.encode() in data for secret in secrets] for name, data in memories.items()}
    assert held == {"sfu": [False, False, False], "chat": [True, False, True]}


def test_forks_generate_different_random_numbers() -> None:
    command = (sys.executable, "-c", DRAWS)
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(drawn) == 3
    assert all(len(set(column)) == 3 for column in zip(*map(str.split, drawn), strict=True))


def layout(pid: int) -> str:
    """Return the address of the C library in the process, or an empty string if it is not loaded yet."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return next((line.partition("-")[0] for line in maps.splitlines() if "/libc" in line), "")


def names_of(pid: int) -> tuple[str, str]:
    """Return a process's name and command line as `ps` shows them."""
    process = Path(f"/proc/{pid}")
    return (process / "comm").read_text().strip(), (process / "cmdline").read_text().replace("\0", " ")


def shared_kb(pid: int) -> int:
    """Return how many KB of a process's dirty memory are shared with other processes."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.findall(r"^Shared_Dirty: +(\d+) kB$", rollup, re.MULTILINE)[0])


def memory(pid: int) -> bytes:
    """Return a process's writable memory, including its initial environment."""
    ranges = re.findall(r"^(\w+)-(\w+) rw", Path(f"/proc/{pid}/maps").read_text(), re.MULTILINE)
    pieces = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        for start, end in ((int(start, 16), int(end, 16)) for start, end in ranges):
            file.seek(start)
            with suppress(OSError):
                pieces.append(file.read(end - start))
    return b"".join(pieces)
