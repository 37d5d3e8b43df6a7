"""A program responds to requests over a socket in its data folder, but only to requests from the folder's
owner.
"""

import asyncio
import json
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from svc.base import control_socket
from svc.base.control_socket import MAX_REQUEST_BYTES, ControlFailed, NotRunning, ask, listening
from svc.base.progress import Progress, report


async def echo(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    return {"result": [command, dict(arguments)]}


@pytest.fixture(params=["unix", "port"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(control_socket, "_MAX_PATH_BYTES", 0 if request.param == "port" else 1000)
    return tmp_path


async def test_a_command_gets_its_result(folder: Path) -> None:
    async with listening(folder, echo):
        answers = await asyncio.gather(*(ask(folder, "do", {"number": n}) for n in range(5)))
    assert answers == [{"result": ["do", {"number": n}]} for n in range(5)]


def modes(folder: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()]


async def test_only_the_owner_may_open_the_socket_and_closing_removes_it(folder: Path) -> None:
    async with listening(folder, echo):
        assert modes(folder) == [0o600]
    assert modes(folder) == []


async def test_a_socket_left_behind_by_a_killed_process_is_replaced(folder: Path) -> None:
    for name in (control_socket.SOCKET_NAME, control_socket.PORT_NAME):
        (folder / name).write_text("{}")
    async with listening(folder, echo):
        assert await ask(folder, "do", {}) == {"result": ["do", {}]}


async def test_without_a_running_program_the_socket_is_unreachable(folder: Path) -> None:
    with pytest.raises(NotRunning):
        await ask(folder, "do", {})
    (folder / control_socket.PORT_NAME).write_text('{"port": 1, "token": "x"}')
    with pytest.raises(NotRunning):
        await ask(folder, "do", {})


async def raw(folder: Path, line: bytes) -> bytes:
    reader, writer, _ = await control_socket._connect(folder)
    writer.write(line)
    writer.write_eof()
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("line", [b"", b"nonsense\n", b"[]\n", b"\xff\n", b"x" * (MAX_REQUEST_BYTES + 2)])
async def test_garbage_gets_no_response(folder: Path, line: bytes) -> None:
    async with listening(folder, echo):
        assert await raw(folder, line) == b""
        assert await ask(folder, "still", {}) == {"result": ["still", {}]}


async def test_a_request_with_missing_fields_is_rejected(folder: Path) -> None:
    async with listening(folder, echo):
        assert json.loads(await raw(folder, b"{}\n"))["error"] == "invalid_request"


async def test_a_tcp_port_requires_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "_MAX_PATH_BYTES", 0)
    async with listening(tmp_path, echo):
        line = b'{"command":"do","arguments":{},"token":"guessed"}\n'
        assert json.loads(await raw(tmp_path, line))["error"] == "forbidden"


async def test_concurrent_commands_beyond_the_limit_are_rejected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "MAX_CONNECTIONS", 0)
    async with listening(folder, echo):
        with pytest.raises(ControlFailed):
            await ask(folder, "do", {})


async def test_a_long_command_reports_its_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "PROGRESS_INTERVAL_S", 0.001)
    # The deadline is far shorter than the work takes, but each progress report extends it.
    monkeypatch.setattr(control_socket, "ANSWER_DEADLINE_S", 5.0)
    seen: list[Progress] = []
    received = asyncio.Event()

    async def work(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        for done in range(1, 4):
            received.clear()
            await asyncio.to_thread(report, "working", done, 3)
            await received.wait()
        return {"result": "done"}

    def hear(progress: Progress) -> None:
        seen.append(progress)
        received.set()

    async with listening(folder, work):
        assert await ask(folder, "work", {}, hear) == {"result": "done"}
    assert seen == [Progress("working", done, 3) for done in (1, 2, 3)]


async def test_a_command_is_cancelled_when_its_caller_disconnects(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "PROGRESS_INTERVAL_S", 0.001)
    received, ended = asyncio.Event(), asyncio.Event()

    async def work(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            while True:
                report("working", 1, 2)
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    async with listening(folder, work):
        task = asyncio.ensure_future(ask(folder, "work", {}, lambda _: received.set()))
        async with asyncio.timeout(30):
            await received.wait()
            task.cancel()
            await ended.wait()


async def test_a_command_without_progress_times_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "PROGRESS_INTERVAL_S", 0.001)
    monkeypatch.setattr(control_socket, "ANSWER_DEADLINE_S", 0.05)
    ended = asyncio.Event()

    async def work(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with listening(folder, work):
        with pytest.raises(ControlFailed):
            await ask(folder, "work", {})
        async with asyncio.timeout(30):
            await ended.wait()
