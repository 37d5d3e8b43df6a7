"""`svc doctor` examines real installations that are stopped, running, behind proxies, or broken."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svc.base.config_parsing import ConfigError
from svc.sfu.config import Config
from svc.tools.cluster_demo import free_ports
from svc.tools.doctor import network
from svc.tools.doctor.check_result import Finding, Verdict
from svc.tools.doctor.examination import Target, examine
from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.proxy import Proxy, nginx
from tests.kit.sfu_process import SECRET, SfuProcess, running_sfu
from tests.kit.wait import wait_for_value

QUIET = {"DISABLE_STUN": "true"}


@dataclass
class Installation:
    chat: ChatServer
    sfu: SfuProcess
    data_dir: Path

    def target(self, **changes: Any) -> Target:
        """Return the options that a user who knows only the TCP ports would pass. The SFU reports its own UDP
        port.
        """
        return Target(self.data_dir, self.chat_port, self.sfu.http_port, **changes)

    @property
    def chat_port(self) -> int:
        return int(self.chat.address.rpartition(":")[2])


@pytest.fixture
async def installation(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Installation]:
    async with running_sfu() as sfu:
        variables = {
            "PORT": "0",
            "JWT_SECRET": "a secret of at least thirty-two bytes",
            "DATA_DIR": str(tmp_path / "data"),
            "SVC_IDENTITY_TIERS": "local",
            "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
            "SERVER_ID": "home",
            "SERVER_PASSWORD": SECRET,
            "DISABLE_STUN": "true",
            "SVC_TRUSTED_PROXY_HOPS": getattr(request, "param", "0"),
        }
        async with chat_server(variables) as chat:
            yield Installation(chat, sfu, tmp_path / "data")


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """Make a data folder readable by other users."""
    tmp_path.chmod(0o755)
    return tmp_path


def idle(folder: Path, url: str = "") -> Target:
    """Return the options for a server that is not running, with unused ports."""
    port, sfu_port, udp_port = free_ports(3)
    return Target(folder, port, sfu_port, udp_port, url)


def problems(findings: list[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.verdict is Verdict.PROBLEM]


async def test_a_running_server_has_no_problems(installation: Installation) -> None:
    target = installation.target(url=installation.chat.address)
    findings = await examine(target, QUIET)
    assert problems(findings) == []
    texts = "\n".join(finding.what for finding in findings)
    assert "A server runs on the data folder" in texts
    assert f"TCP port {installation.chat_port} (the chat server): svc responds" in texts
    assert f"UDP port {installation.sfu.udp_port} (media) is used by the running SFU" in texts
    assert f"TCP port {installation.sfu.udp_port} (media where UDP is blocked) is used by" in texts
    assert "Requests come without a proxy" in texts
    assert "WebSockets reach /live" in texts
    assert "WebSockets reach /sfu/client" in texts


# For each check on the page, the beginning or end of the doctor's finding, which must have the same verdict.
SHARED = {
    "database": "The database is intact",
    "disk": "GB are free on the disk of the data folder",
    "joining": "People can join",
    "voice": "Calls do not work",
    "uploads": "No media worker is connected",
}


async def test_the_owners_page_agrees_with_the_doctor(installation: Installation) -> None:
    headers = {"Authorization": f"Bearer {await installation.chat.join('Ada')}"}

    async def report() -> dict[str, str]:
        async with installation.chat.http.get("/api/health", headers=headers) as answer:
            checks = (await answer.json())["checks"]
        return {check["check"]: check["verdict"] for check in checks if check["check"] in SHARED}

    async def by_name() -> dict[str, str]:
        findings = await examine(installation.target(), QUIET)
        by_check = {
            check: finding.verdict.value
            for check, words in SHARED.items()
            for finding in findings
            if words in finding.what
        }
        return {"voice": "ok", **by_check}  # The doctor does not report that calls work.

    async def calls() -> str:
        return (await report())["voice"]

    await wait_for_value(calls, "ok")
    judged = await report()
    assert set(judged) == set(SHARED) and judged == await by_name()
    await installation.sfu.kill()
    await wait_for_value(calls, "problem")
    # The server knows the reason only after the connection has been closed.
    await wait_for_value(by_name, await report())


async def test_a_stopped_server_is_not_a_problem(tmp_path: Path) -> None:
    findings = await examine(idle(tmp_path / "data"), QUIET)
    assert problems(findings) == []


async def test_ports_in_use_by_other_programs_are_reported(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as foreign,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(("127.0.0.1", 0))
        port, udp_port = foreign.getsockname()[1], datagrams.getsockname()[1]
        (sfu_port,) = free_ports(1)
        findings = await examine(Target(tmp_path, port, sfu_port, udp_port), QUIET)
    assert problems(findings) == [
        f"TCP port {port} (the chat server) is used by another program",
        f"UDP port {udp_port} is in use, and no SFU is running",
    ]


async def test_a_folder_that_others_can_read_is_a_problem(shown: Path) -> None:
    findings = await examine(idle(shown), QUIET)
    assert len(problems(findings)) == 1
    assert "Other users of this machine can read" in problems(findings)[0]


@pytest.fixture
async def proxy(installation: Installation, tmp_path: Path) -> AsyncIterator[Proxy]:
    folder = tmp_path / "proxy"
    folder.mkdir()
    async with nginx(folder, installation.chat.address.removeprefix("http://")) as proxy:
        yield proxy


@pytest.mark.parametrize("installation", ["1"], indirect=True)
async def test_a_working_proxy_is_not_a_problem(installation: Installation, proxy: Proxy) -> None:
    url = f"https://localhost:{proxy.https_port}"
    findings = await examine(installation.target(url=url, ca_file=proxy.certificate), QUIET)
    assert problems(findings) == []
    texts = "\n".join(finding.what for finding in findings)
    assert "Requests come through 1 proxies, as SVC_TRUSTED_PROXY_HOPS says" in texts
    assert "The certificate is valid for" in texts


async def test_an_unconfigured_proxy_is_a_problem(installation: Installation, proxy: Proxy) -> None:
    url = f"https://localhost:{proxy.https_port}"
    findings = await examine(installation.target(url=url, ca_file=proxy.certificate), QUIET)
    assert problems(findings) == ["1 proxies pass requests on, and SVC_TRUSTED_PROXY_HOPS is 0"]


async def test_an_untrusted_certificate_is_a_problem(installation: Installation, proxy: Proxy) -> None:
    findings = await examine(installation.target(url=f"https://localhost:{proxy.https_port}"), QUIET)
    assert len(problems(findings)) == 1
    assert "The certificate is rejected: self" in problems(findings)[0]


async def test_the_address_of_another_server_is_a_problem(installation: Installation, tmp_path: Path) -> None:
    findings = await examine(idle(tmp_path / "other", installation.chat.address), QUIET)
    assert "no server runs on the data folder" in findings[-1].what
    url = f"http://127.0.0.1:{installation.sfu.http_port}"
    findings = await examine(installation.target(url=url), QUIET)
    assert problems(findings) == [f"A different server answers at {url}"]


async def test_a_server_that_nobody_can_join_is_reported_as_a_problem(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(data_dir),
    }
    async with chat_server(variables) as chat:
        port, sfu_port, udp_port = int(chat.address.rpartition(":")[2]), *free_ports(2)
        target = Target(data_dir, port, sfu_port, udp_port, chat.address)
        findings = await examine(target, QUIET)
    assert problems(findings) == [
        "Nobody can join: SVC_IDENTITY_TIERS accepts accounts only, and no issuer of accounts is trusted"
    ]
    # Without an SFU, there is no path for WebSockets to the SFU, so no proxy can be the cause.
    assert "Calls do not work: SFU_WS_HOST is not set" in [finding.what for finding in findings]


async def test_an_invalid_address_is_rejected(installation: Installation) -> None:
    with pytest.raises(ConfigError, match="--url must be"):
        await examine(installation.target(url="chat.example.org"), QUIET)


async def test_the_public_address_is_found_with_a_stun_server() -> None:
    """Use a test server that responds as in RFC 8489 section 6.3.1, because the SFU ignores unauthenticated
    requests.
    """
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(StunServer, ("127.0.0.1", 0))
    address = transport.get_extra_info("sockname")
    unreachable = free_ports(1)[0]
    config = Config.read({"STUN_SERVERS": f"127.0.0.1:{unreachable},127.0.0.1:{address[1]}"})
    try:
        assert await network.mapped_address(config.stun_servers) == "127.0.0.1"
    finally:
        transport.close()


class StunServer(asyncio.DatagramProtocol):
    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        from aioice.stun import Class, Message, Method, parse_message

        answer = Message(Method.BINDING, Class.RESPONSE, parse_message(data).transaction_id)
        answer.attributes["XOR-MAPPED-ADDRESS"] = address
        self._transport.sendto(bytes(answer), address)


async def test_the_command_prints_lines_or_json(shown: Path) -> None:
    ports = [str(port) for port in free_ports(3)]
    flags = [*("--data-dir", str(shown), "--port", ports[0], "--sfu-port", ports[1], "--udp-port", ports[2])]
    command = (str(Path(sys.executable).with_name("svc")), "doctor", *flags)
    pipe = asyncio.subprocess.PIPE
    lines = await asyncio.create_subprocess_exec(*command, stdout=pipe, env={"DISABLE_STUN": "1"})
    printed = (await lines.communicate())[0].decode()
    assert lines.returncode == 1
    assert f"         chmod 700 {shown}\n" in printed
    as_json = await asyncio.create_subprocess_exec(*command, "--json", stdout=pipe, env={"DISABLE_STUN": "1"})
    findings = json.loads((await as_json.communicate())[0])["findings"]
    assert as_json.returncode == 1
    assert [finding["advice"] for finding in findings if finding["verdict"] == "problem"] == [
        f"chmod 700 {shown}"
    ]


async def test_a_server_can_be_examined_from_another_machine(
    installation: Installation, tmp_path: Path
) -> None:
    """Check that the doctor examines nothing on its own machine."""
    address, udp_port = installation.chat.address, installation.sfu.udp_port
    target = Target(tmp_path / "none", udp_port=udp_port, seen_from_here=address)
    findings = await examine(target, QUIET)
    assert problems(findings) == []
    texts = [finding.what for finding in findings]
    assert texts[1:] == [
        f"{address} answers",
        "WebSockets reach /live",
        "WebSockets reach /sfu/client",
        f"TCP port {udp_port} of 127.0.0.1 (media where UDP is blocked) can be reached",
        f"UDP port {udp_port} cannot be tried from outside of a call",
    ]
    (nobody,) = free_ports(1)
    closed = await examine(Target(tmp_path, udp_port=nobody, seen_from_here=address), QUIET)
    assert "cannot be reached" in problems(closed)[0]
    gone = await examine(Target(tmp_path, seen_from_here=f"http://127.0.0.1:{nobody}"), QUIET)
    assert f"127.0.0.1:{nobody} cannot be reached from here: nothing listens there" in problems(gone)[0]
    with pytest.raises(ConfigError, match="--from must be"):
        await examine(Target(tmp_path, seen_from_here="chat.example.org"), QUIET)
