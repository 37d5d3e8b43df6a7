"""Runs `svc up` as operators do, with the real command, programs and signals."""

import asyncio
import json
import os
import pty
import signal
import socket
import ssl
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector, WSMsgType

from svc.base.config_parsing import ConfigError
from svc.base.signalling_codec import parse, payload, serialise
from svc.tools import up
from svc.tools.certificate import fingerprint
from svc.tools.secret_store import Secrets, read_or_create_secrets
from svc.tools.supervisor import Child, Program, stop_all
from svc.tools.up import Installation, open_ports, plan
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.kit import pictures
from tests.kit.markdown import rows
from tests.worker.upload_client import UploadClient, ended

DEADLINE_S = 20.0
PORT_FLAGS = ("--port", "--sfu-port", "--udp-port")


@dataclass
class Up:
    """A running `svc up`."""

    process: asyncio.subprocess.Process
    address: str
    invite: str

    @property
    def children(self) -> dict[str, int]:
        """Return the process ids, keyed by program name."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return {_program(int(pid)): int(pid) for pid in path.read_text().split()}


def _program(pid: int) -> str:
    """Return the program's name, or an empty string if the process has exited."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # A fork is called `svc chat …`. A program that was started with exec is called `python … -m svc.cli chat
    # …`.
    return next((after for word, after in pairwise(words) if word in ("svc", "svc.cli")), "")


@asynccontextmanager
async def svc_up(data_dir: Path, **variables: str) -> AsyncIterator[Up]:
    """Start `svc up` on free ports. Stop it at the end if the test has not done so."""
    environment = {**os.environ, "DISABLE_STUN": "true", "ICE_ADVERTISE_IP": "127.0.0.1", **variables}
    process = await _svc("up", *_on_free_ports(data_dir), environment=environment)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            line = (await process.stdout.readline()).decode()
        assert line.startswith("Open http://127.0.0.1:"), line
        address, _, invite = line.removeprefix("Open ").strip().partition("/#invite=")
        yield Up(process, address, invite)
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(DEADLINE_S):
            await process.wait()


def _on_free_ports(data_dir: Path) -> list[str]:
    return ["--data-dir", str(data_dir), "--port", "0", "--sfu-port", "0", "--udp-port", "0"]


async def _svc(*arguments: str, environment: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", *arguments),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def until(holds: Callable[[], bool]) -> None:
    """Poll the list of running processes until the condition holds, because the system sends no events."""
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline, "the expected output did not appear"
        await asyncio.sleep(0.02)


async def until_gone(pids: Sequence[int]) -> None:
    await until(lambda: all(_is_gone(pid) for pid in pids))


def _is_gone(pid: int) -> bool:
    """Return whether the process has exited. A zombie, which only waits to be reaped, counts as exited."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def enter(http: ClientSession, grant: dict[str, Any]) -> tuple[str, dict[str, object]]:
    """Join a room through the pass-through. Return the media service's first response."""
    async with http.ws_connect(grant["urls"][0]) as signalling, asyncio.timeout(DEADLINE_S):
        await signalling.send_str(serialise("client_join", grant["client_join"]))
        message = await signalling.receive()
        assert message.type is WSMsgType.TEXT, message
        envelope = parse(message.data)
        return envelope.event, payload(envelope)


async def test_a_person_can_join_both_before_and_after_the_sfu_is_killed(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "data") as up, ClientSession(up.address) as http:
        chat = ChatServer(up.address, http, up.invite)
        async with chat.member("Ada") as ada:
            grant = (await ada.ask("voice_join", channel_id="voice"))["data"]
            event, answer = await enter(http, grant)
            assert (event, answer["room_id"], answer["user_id"]) == ("room_joined", "voice", ada.id)
            assert await ada.people("voice") == ["Ada"]
            assert await ada.people("voice") == []

            killed = up.children["sfu"]
            os.kill(killed, signal.SIGKILL)
            await until_gone([killed])
            async with asyncio.timeout(30):
                grant = (await ada.ask("voice_join", channel_id="voice"))["data"]
                event, _ = await enter(http, grant)
            assert event == "room_joined"
            assert up.children["sfu"] != killed


async def test_requests_wait_while_a_killed_chat_server_restarts(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "data") as up, ClientSession(up.address) as http:
        chat = ChatServer(up.address, http, up.invite)
        token = await chat.join("Ada")
        killed = up.children["chat"]
        os.kill(killed, signal.SIGKILL)
        await until_gone([killed])
        async with chat.member("Ada", token) as ada:
            assert (await ada.ask("voice_join", channel_id="voice"))["event"] == "voice_join"


async def test_an_upload_is_processed_even_if_the_worker_is_killed(tmp_path: Path) -> None:
    photograph = pictures.picture_with_metadata("JPEG")
    variables = {"ADDITIONAL_CHANNELS": "general"}
    async with svc_up(tmp_path / "data", **variables) as up, ClientSession(up.address) as http:
        chat = ChatServer(up.address, http, up.invite)
        client = UploadClient(chat, await newcomer(chat, "Ada"), variables)
        assert set(up.children) == {"chat", "sfu"}, "an idle server has no worker"
        async with client.page() as page:
            for _ in range(2):
                done = await ended(page, await client.send(photograph))
                served = await client.get(done["result"]["url"])
                assert pictures.decoded(served).size == (64, 48) and pictures.SECRET not in served
                killed = up.children["worker"]
                os.kill(killed, signal.SIGKILL)
                await until_gone([killed])
                await until(lambda: "worker" in up.children)


async def test_a_worker_that_exited_while_idle_is_started_again_by_the_next_connection(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        arguments = ("worker", f"--data-dir={tmp_path}", "--idle-exit=1")
        program = Program("worker", arguments, os.environ, address, on_demand=True)
        child = Child(program, [listening.fileno()])
        running = asyncio.create_task(child.keep_running())
        try:
            async with ClientSession(f"http://127.0.0.1:{address[1]}") as http, asyncio.timeout(DEADLINE_S):
                for _ in range(2):
                    assert not child.is_started
                    async with http.get("/health", headers={"Connection": "close"}) as response:
                        assert response.status == 200
                    await until(lambda: not child.is_started)
        finally:
            running.cancel()
            await child.stop()


async def test_a_grant_can_be_used_only_once(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "data") as up, ClientSession(up.address) as http:
        chat = ChatServer(up.address, http, up.invite)
        async with chat.member("Ada") as ada:
            grant = (await ada.ask("voice_join", channel_id="voice"))["data"]
            assert (await enter(http, grant))[0] == "room_joined"
            async with http.ws_connect("/sfu/client") as signalling:
                await signalling.send_str(serialise("client_join", grant["client_join"]))
                assert parse(await signalling.receive_str()).event == "room_error"
                assert (await signalling.receive()).type is WSMsgType.CLOSE
                assert signalling.close_code == 4003


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_stops_all_programs_in_order(tmp_path: Path, number: signal.Signals) -> None:
    async with svc_up(tmp_path / "data") as up:
        children = list(up.children.values())
        assert len(children) == 2
        up.process.send_signal(number)
        assert await up.process.wait() == 0
        await until_gone(children)
        assert up.process.stdout is not None
        output = (await up.process.stdout.read()).decode()
        assert output.endswith(f"Stopped. Everything is kept in {tmp_path / 'data'}.\n")
        assert up.process.stderr is not None
        assert b"Traceback" not in await up.process.stderr.read()


async def test_no_process_survives_when_the_command_is_killed(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "data") as up:
        children = list(up.children.values())
        up.process.kill()
        await up.process.wait()
        await until_gone(children)


async def test_the_secrets_and_the_invite_are_created_once_and_stay_private(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with svc_up(data_dir) as first:
        invite = first.invite
    secrets = (data_dir / "secrets.json").read_text()
    async with svc_up(data_dir) as second:
        assert second.invite == invite
    assert (data_dir / "secrets.json").read_text() == secrets
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in data_dir.rglob("*")}
    assert {path.name for path in modes} >= {"secrets.json", "invite-code", "community.sqlite3"}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if path.is_dir()} <= {0o700}


async def test_with_tls_everything_is_served_over_https_with_its_own_certificate(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    process = await _svc(
        *("up", *_on_free_ports(data_dir), "--host", "0.0.0.0", "--tls"),
        environment={**os.environ, "DISABLE_STUN": "true", "EXTERNAL_HOST": "chat.example"},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            lines = [await process.stdout.readline()]
            while lines[-1] and lines[-1][2:3] != b":":  # up to and including the fingerprint
                lines.append(await process.stdout.readline())
        address = lines[0].decode().removeprefix("Open ").partition("/#")[0]
        assert address.startswith("https://127.0.0.1:")
        assert any(b"https://chat.example:" in line for line in lines)
        trusting = ssl.create_default_context(cafile=str(data_dir / "tls.pem"))
        trusting.verify_flags &= ~ssl.VERIFY_X509_STRICT
        trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        async with ClientSession(connector=TCPConnector(ssl=trusting)) as http:
            for url in (address, address.replace("https", "http")):
                async with http.get(url + "/health") as response:
                    assert (response.status, response.url.scheme) == (200, "https")
                    assert "Strict-Transport-Security" not in response.headers
        assert lines[-1].decode().strip() == fingerprint(data_dir / "tls.pem")
    finally:
        process.terminate()
        async with asyncio.timeout(DEADLINE_S):
            await process.wait()


async def test_a_terminal_shows_a_qr_code_for_phones(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    arguments = ("up", *_on_free_ports(tmp_path / "data"), "--host", "0.0.0.0", "--tls")
    environment = {**os.environ, "DISABLE_STUN": "true", "EXTERNAL_HOST": "chat.example:8443"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", *arguments), env=environment, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while shown.count(b"\x1b[0m") < 15:
                shown += await asyncio.to_thread(os.read, ours, 4096)
    finally:
        process.terminate()
        async with asyncio.timeout(DEADLINE_S):
            await process.wait()
        os.close(ours)
    assert "Or scan this code with a phone:" in shown.decode(errors="ignore")
    assert "\u2580" in shown.decode(errors="ignore")


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--tls-cert", "{}/none.pem"], "none.pem cannot be read: No such file or directory"),
        (["--tls-key", "{}/none.pem"], "svc up: --tls-key needs --tls-cert"),
    ],
)
async def test_unusable_tls_files_are_reported(tmp_path: Path, flags: list[str], problem: str) -> None:
    arguments = [*_on_free_ports(tmp_path / "data"), *(flag.format(tmp_path) for flag in flags)]
    process = await _svc("up", *arguments, environment={**os.environ, "DISABLE_STUN": "true"})
    async with asyncio.timeout(DEADLINE_S):
        output, errors = await process.communicate()
    assert (process.returncode, output) == (2, b"")
    assert problem in errors.decode()
    assert b"Traceback" not in errors


@pytest.mark.parametrize("flag", PORT_FLAGS)
def test_a_port_in_use_is_reported(flag: str) -> None:
    kind = socket.SOCK_DGRAM if flag == "--udp-port" else socket.SOCK_STREAM
    with socket.socket(type=kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        port = taken.getsockname()[1]
        chat, sfu, udp = (port if name == flag else 0 for name in PORT_FLAGS)
        with pytest.raises(ConfigError) as refusal:
            open_ports(Installation(Path("data"), "127.0.0.1", chat, sfu, udp, worker_port=0))
    expected = f"Port {port} is already in use by another program. Choose another one with {flag}."
    assert str(refusal.value) == expected


async def test_a_second_installation_is_not_mistaken_for_the_first(tmp_path: Path) -> None:
    async with svc_up(tmp_path / "first") as first:
        port = first.address.rpartition(":")[2]
        arguments = [*_on_free_ports(tmp_path / "second"), "--port", port]
        process = await _svc("up", *arguments, environment={**os.environ, "DISABLE_STUN": "true"})
        async with asyncio.timeout(DEADLINE_S):
            output, errors = await process.communicate()
    assert (process.returncode, output) == (2, b"")
    expected = f"svc up: Port {port} is already in use by another program. Choose another one with --port.\n"
    assert errors.decode() == expected


INSTALLATION = Installation(Path("data"), "127.0.0.1", 5000, 5005, 3478, worker_port=5010)
SECRETS = Secrets("j", "s1", "p1")


def test_each_program_sees_only_its_own_variables() -> None:
    variables = {
        "PATH": "/bin",
        "PYTHONUTF8": "1",
        "PORT": "9999",
        "JWT_SECRET": "somebody else's",
        "AWS_SECRET_ACCESS_KEY": "nobody's business",
        "MAX_PEERS": "7",
        "STUN_SERVERS": "",
        "SERVER_NAME": "Ours",
    }
    sfu, chat, worker = plan(INSTALLATION, SECRETS, variables)
    assert dict(sfu.environment) == {
        "PATH": "/bin",
        "PYTHONUTF8": "1",
        "DEBUG": "false",
        "MAX_PEERS": "7",
        "STUN_SERVERS": "",
        "SFU_PORT": "5005",
        "ICE_UDP_MUX_PORT": "3478",
    }
    assert dict(chat.environment) == {
        "PATH": "/bin",
        "PYTHONUTF8": "1",
        "STUN_SERVERS": "",
        "SERVER_NAME": "Ours",
        "SERVER_INVITE_IP_MAX_RETRIES": "20",
        "SERVER_INVITE_RETRY_COOLDOWN_MS": "60000",
        "SERVER_INVITE_MAX_COOLDOWN_MS": "3600000",
        "SVC_IDENTITY_TIERS": "account, local",
        "HOST": "127.0.0.1",
        "PORT": "5000",
        "DATA_DIR": "data",
        "STORAGE_BACKEND": "filesystem",
        "IMAGE_WORKER_URL": "http://127.0.0.1:5010",
        "JWT_SECRET": "j",
        "SERVER_ID": "s1",
        "SERVER_PASSWORD": "p1",
        "SFU_WS_HOST": "127.0.0.1:5005",
    }
    assert dict(worker.environment) == {
        "PATH": "/bin",
        "PYTHONUTF8": "1",
        "DATA_DIR": "data",
        "STORAGE_BACKEND": "filesystem",
        "IMAGE_WORKER_URL": "http://127.0.0.1:5010",
    }


def test_the_sfu_http_port_is_reachable_only_from_this_machine() -> None:
    sfu, _, _ = plan(INSTALLATION, SECRETS, {})
    assert list(sfu.arguments) == ["sfu", "--host", "127.0.0.1"]


def test_with_tls_the_chat_server_uses_the_certificate_and_is_reached_over_https() -> None:
    made = replace(INSTALLATION, tls=True)
    _, chat, _ = plan(made, SECRETS, {})
    assert list(chat.arguments) == ["chat", "--worker-on-demand", "--tls-cert", "data/tls.pem"]
    assert chat.secure
    own = replace(made, tls_certificate=Path("/c.pem"), tls_key=Path("/k.pem"))
    assert list(plan(own, SECRETS, {})[1].arguments) == [
        "chat",
        "--worker-on-demand",
        "--tls-cert",
        "/c.pem",
        "--tls-key",
        "/k.pem",
    ]


def test_a_host_that_belongs_to_another_machine_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"--host 192\.0\.2\.250 cannot be used: "):
        open_ports(Installation(Path("data"), "192.0.2.250", 0, 0, 0))


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"jwt_secret": "j"})])
def test_a_damaged_secrets_file_is_reported_and_not_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "secrets.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"secrets\.json is damaged"):
        read_or_create_secrets(tmp_path)
    assert path.read_text() == text


async def test_programs_stop_in_reverse_start_order() -> None:
    """Check that the chat server stops after the worker and before the media service."""
    ended: list[str] = []

    class Recorded(Child):
        async def stop(self) -> None:
            await asyncio.sleep(0)
            ended.append(self.program.name)

    programs = plan(INSTALLATION, SECRETS, {})
    await stop_all([Recorded(program) for program in programs])
    assert ended == [program.name for program in reversed(programs)]
    assert ended[-2:] == ["chat", "sfu"]


async def test_an_outdated_certificate_is_replaced_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(up, "RENEWAL_INTERVAL_S", 0.01)
    installation = replace(INSTALLATION, data_dir=tmp_path, tls=True)
    known = up._own_certificate(installation, [])
    renewing = asyncio.create_task(up._renew(installation, [], known))
    try:
        (tmp_path / "tls.pem").unlink()
        output = ""
        async with asyncio.timeout(DEADLINE_S):
            while not output:
                await asyncio.sleep(0.01)
                output = capsys.readouterr().out
    finally:
        renewing.cancel()
    assert known not in output
    assert output.strip().endswith(fingerprint(tmp_path / "tls.pem"))


def test_every_documented_variable_for_a_program_also_works_with_svc_up() -> None:
    documents = Path(__file__).parents[2] / "docs" / "configuration.md"
    documented = {
        name for section in ("SFU", "Chat server") for row in rows(documents, section) for name in row.code(0)
    }
    installation = Installation(Path("data"), "127.0.0.1", 5000, 5005, 3478)
    everything = dict.fromkeys(documented, "set by the operator")
    programs = plan(installation, Secrets("jwt", "id", "password"), everything)
    passed = {
        name
        for program in programs
        for name, value in program.environment.items()
        if value == everything.get(name)
    }
    set_here = {"DATA_DIR", "HOST", "ICE_UDP_MUX_PORT", "IMAGE_WORKER_URL", "JWT_SECRET", "PORT"}
    set_here |= {"SERVER_ID", "SERVER_PASSWORD", "SFU_PORT", "SFU_WS_HOST"}
    assert passed == documented - set_here
