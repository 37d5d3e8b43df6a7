"""Tests MLS clients, which run the web client's own code in Node, with a real server.

`ci/nightly` tries a thousand random schedules.
"""

import asyncio
import logging
import os
import tarfile
from base64 import b64encode
from pathlib import Path

import pytest

from svc.chat.private_conversations import rules
from tests.chat.chat_server import ChatServer
from tests.kit.device import Device
from tests.kit.openmls import BUILD_DEADLINE_S, built, why_not
from tests.kit.packages import NODE

# The schedules cause each kind of loss a few times and take a few seconds.
SCHEDULES = 4
MANY = 1000
# A message text that the server must never store.
SECRET = "between the two of us"
# The text as it is, with hyphens as in a reaction, and in base64 at each alignment.
FORMS = [SECRET.encode(), SECRET.replace(" ", "-").encode()]
FORMS += [b64encode(bytes(shift) + SECRET.encode())[4:-4] for shift in range(3)]


@pytest.fixture(autouse=True)
def unlimited_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the limits, because each schedule opens a new conversation between the same people."""
    monkeypatch.setattr(rules, "OPEN_BURST", 2 * MANY)
    monkeypatch.setattr(rules, "MAX_CONVERSATIONS", 2 * MANY)


async def run(chat: ChatServer, clients: str, within_s: float = 120, **variables: str) -> str:
    """Run a test file from this folder in Node. All its tests must pass. Return its output."""
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
    text = output.decode()
    assert process.returncode == 0, text[max(0, text.find("✖") - 2000) :][:8000]
    return text


@pytest.mark.parametrize(
    "schedules", [SCHEDULES, pytest.param(MANY, marks=pytest.mark.nightly("a thousand schedules"))]
)
@pytest.mark.timeout(3600)
async def test_racing_crashing_and_disconnected_clients_converge(
    chat: ChatServer,
    variables: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    schedules: int,
) -> None:
    caplog.set_level(logging.DEBUG, logger="svc")
    owner = await owner_device(chat)
    wanted = {"SVC_SCHEDULES": str(schedules), "SVC_SECRET": SECRET}
    await run(chat, "clients.test.mjs", 120 + 10 * schedules, **wanted)
    kept = everything_in(Path(variables["DATA_DIR"]))
    assert any(name.endswith("-wal") for name in kept)
    backup = await made_backup(chat, owner, Path(variables["DATA_DIR"]))
    assert any("uploads" in name for name in backup), "the files are included"
    kept |= backup | {"log": caplog.text.encode()}
    assert [name for name, data in kept.items() if any(form in data for form in FORMS)] == []


async def test_a_device_gives_earlier_messages_only_to_a_new_device_of_the_same_member(
    chat: ChatServer, variables: dict[str, str]
) -> None:
    owner = await owner_device(chat)
    await run(chat, "history_messages.test.mjs", SVC_SECRET=SECRET)
    kept = everything_in(Path(variables["DATA_DIR"]))
    kept |= await made_backup(chat, owner, Path(variables["DATA_DIR"]))
    assert [name for name, data in kept.items() if any(form in data for form in FORMS)] == []


async def test_a_tampered_or_forked_log_is_detected(chat: ChatServer) -> None:
    await chat.join("Owner")
    await run(chat, "hostile.test.mjs")


@pytest.mark.skipif(bool(why_not()), reason=why_not())
@pytest.mark.timeout(BUILD_DEADLINE_S + 180)
@pytest.mark.nightly("compiles OpenMLS; the page's own clients run daily")
async def test_the_web_client_and_openmls_can_share_a_group_and_read_each_others_messages(
    chat: ChatServer,
) -> None:
    program = await built()
    await chat.join("Owner")
    await run(chat, "openmls.test.mjs", SVC_OPENMLS=str(program))


async def owner_device(chat: ChatServer) -> Device:
    """Create the owner's device."""
    owner = Device()
    await chat.sign_in(owner, nickname="Owner", invite_code=chat.invite)
    return owner


async def made_backup(chat: ChatServer, owner: Device, data_dir: Path) -> dict[str, bytes]:
    """Create a backup. Return the content of each of its files."""
    token = (await chat.sign_in(owner))["access_token"]
    async with chat.member("", token) as live:
        headers = {"Authorization": f"Bearer {token}"}
        async with chat.http.post("/api/backups", headers=headers) as response:
            assert response.status < 300, await response.text()
        event = await live.pushed("backup_finished")
    assert event["fault"] is None
    with tarfile.open(data_dir / "backups" / event["name"]) as archive:
        opened = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        return {f"backup/{name}": file.read() for name, file in opened.items() if file}


def everything_in(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in the folder."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
