"""Real MLS clients, which are the page's own code run by node, at a real server.

`ci/soak` tries a thousand random schedules.
"""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from tests.chat.member import ChatServer
from tests.kit.openmls import BUILD_DEADLINE_S, built, why_not
from tests.kit.packages import NODE

# Enough to meet each kind of loss some times, in a few seconds.
SCHEDULES = 30
MANY = 1000
# What one of them writes: it is nowhere at the server.
SECRET = "between the two of us"


async def run(chat: ChatServer, clients: str, within_s: float = 120, **variables: str) -> str:
    """What one of the files beside this prints, all of whose tests pass at the server."""
    async with chat.http.get("/info") as response:
        audience = (await response.json())["serverId"]
    process = await asyncio.create_subprocess_exec(
        *(NODE, "--test", "--test-reporter=spec", str(Path(__file__).with_name(clients))),
        env=os.environ
        | {"SVC_ADDRESS": chat.address, "SVC_INVITE": chat.invite, "SVC_AUDIENCE": audience}
        | variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = bytearray()
    try:
        async with asyncio.timeout(within_s):
            while process.stdout and (some := await process.stdout.read(65536)):
                output += some
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    said = output.decode()
    assert process.returncode == 0, said[max(0, said.find("✖") - 2000) :][:8000]
    return said


@pytest.mark.parametrize("schedules", [SCHEDULES, pytest.param(MANY, marks=pytest.mark.soak)])
@pytest.mark.timeout(3600)
async def test_clients_that_race_crash_and_lose_answers_end_up_agreeing(
    chat: ChatServer,
    variables: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    schedules: int,
) -> None:
    caplog.set_level(logging.DEBUG, logger="svc")
    await chat.join("Owner")
    wanted = {"SVC_SCHEDULES": str(schedules), "SVC_SECRET": SECRET}
    await run(chat, "clients.test.mjs", 120 + 10 * schedules, **wanted)
    kept = everything_in(Path(variables["DATA_DIR"]))
    assert any(name.endswith("-wal") for name in kept)
    assert [name for name, data in kept.items() if SECRET.encode() in data] == []
    assert SECRET not in caplog.text


@pytest.mark.skipif(bool(why_not()), reason=why_not())
@pytest.mark.timeout(BUILD_DEADLINE_S + 180)
async def test_the_page_and_openmls_are_in_one_group_and_read_what_the_other_has_made(
    chat: ChatServer,
) -> None:
    program = await built()
    await chat.join("Owner")
    await run(chat, "openmls.test.mjs", SVC_OPENMLS=str(program))


def everything_in(folder: Path) -> dict[str, bytes]:
    """The bytes of each file."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
