"""`svc doctor` examines coturn with the configuration from `deploy`, and identifies network faults on the way
to it.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Sequence
from pathlib import Path

from svc.base.turn_server import TurnServer
from svc.tools.cluster_demo import free_ports
from svc.tools.doctor import turn
from svc.tools.doctor.check_result import Finding, Verdict
from svc.tools.doctor.examination import Target, examine
from tests.chat.chat_server import chat_server
from tests.kit.coturn import NAME, PORT, SECRET, SFU, TLS_PORT, TURN, coturn
from tests.kit.external_programs import required
from tests.kit.namespace import in_namespace
from tests.kit.tcp_server import tcp_server

ELSEWHERE = "203.0.113.3"
URLS = (
    f"turn:{NAME}:{PORT}",
    f"turn:{NAME}:{PORT}?transport=tcp",
    f"turns:{NAME}:{TLS_PORT}?transport=tcp",
)


async def answer_of(
    urls: Sequence[str], trust: ssl.SSLContext, *, secret: str = SECRET, peers: Sequence[str] = ()
) -> list[Finding]:
    return list(await turn.diagnose(TurnServer(urls, secret).ice_server("ada", time.time()), peers, trust))


def idle(folder: Path) -> Target:
    port, sfu_port, udp_port = free_ports(3)
    return Target(folder, port, sfu_port, udp_port)


def problems(findings: Sequence[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.verdict is Verdict.PROBLEM]


def test_a_turn_server_is_tested_at_each_of_its_addresses(tmp_path: Path) -> None:
    required("turnserver")

    async def body() -> None:
        async with coturn(tmp_path) as trust:
            trust.check_hostname = True
            findings = await answer_of(URLS, trust, peers=[SFU])
            assert [finding.what for finding in findings] == [
                f"TURN server {url} relays for members" for url in URLS
            ]
            assert problems(await answer_of(URLS, trust, peers=[ELSEWHERE])) == [
                f"TURN server {url} does not relay to the SFU" for url in URLS
            ]
            wrong = await answer_of(URLS, trust, secret="another secret than it has")
            assert problems(wrong) == [f"TURN server {url} refuses the secret (401)" for url in URLS]
            ok, _, tls = await answer_of(URLS, ssl.create_default_context())
            assert ok.verdict is Verdict.OK
            assert "its certificate is rejected: self" in tls.what
            by_address = [f"turns:{TURN}:{TLS_PORT}?transport=tcp"]
            [mismatched] = await answer_of(by_address, trust)
            assert "its certificate is rejected: IP address mismatch" in mismatched.what
            trust.check_hostname = False  # as if its certificate had been issued for the address
            [nameless] = await answer_of(by_address, trust)
            assert nameless.verdict is Verdict.NOTICE
            assert "not in Firefox" in nameless.what

            # While no server is running, the command uses its own environment variables.
            variables = {
                "DISABLE_STUN": "1",
                "ICE_ADVERTISE_IP": SFU,
                "TURN_URLS": ",".join(URLS[:2]),
                "TURN_SECRET": SECRET,
            }
            texts = [finding.what for finding in await examine(idle(tmp_path / "data"), variables)]
            assert [what for what in texts if what.startswith("TURN")] == [
                f"TURN server {url} relays for members" for url in URLS[:2]
            ]

    hosts = tmp_path / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{TURN} {NAME}\n")
    addresses = [f"{address}/32" for address in (SFU, TURN, ELSEWHERE)]
    in_namespace(body, addresses, {"/etc/hosts": hosts})


def test_each_reason_for_an_unreachable_turn_server_is_reported_separately() -> None:
    async def body() -> None:
        loop = asyncio.get_running_loop()

        async def greets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 mail.example.org at your service\r\n")
            await reader.read()

        silent, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, (TURN, 3480))
        trust = ssl.create_default_context()
        urls = [
            "turn:turn.nowhere.invalid:3478",
            "turn:198.51.100.7",
            f"turn:{TURN}",
            f"turn:{TURN}?transport=tcp",
            f"turn:{TURN}:3480",
            f"turns:{TURN}",
            f"turns:{TURN}:443?transport=udp",
        ]
        async with tcp_server(greets, TURN, 5349):
            findings = await answer_of(urls, trust)
        texts = [finding.what.partition(": ")[2] or finding.what for finding in findings]
        assert texts == [
            "the name turn.nowhere.invalid is unknown",
            "there is no route to it from here (Network is unreachable)",
            "nothing listens at UDP port 3478",
            "nothing listens at TCP port 3478",
            "no answer from UDP port 3480",
            "what answers at TLS port 5349 speaks no TLS",
            "browsers do not support TURN over DTLS",
        ]
        assert all(finding.advice for finding in findings)
        silent.close()

    in_namespace(body, [f"{TURN}/32"], {})


async def test_another_program_on_the_media_port_is_detected_if_there_is_no_sfu(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        port, sfu_port = free_ports(2)
        target = Target(tmp_path, port, sfu_port, foreign.getsockname()[1])
        findings = await examine(target, {"DISABLE_STUN": "1"})
    (finding,) = [candidate for candidate in findings if "where UDP is blocked" in candidate.what]
    assert finding.verdict is Verdict.NOTICE
    assert "is in use: calls would need UDP" in finding.what


async def test_the_turn_server_that_members_use_is_found_on_a_running_server(tmp_path: Path) -> None:
    port, sfu_port, udp_port, nobody = free_ports(4)
    variables = {
        "PORT": str(port),
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path),
        "SVC_IDENTITY_TIERS": "local",
        # The SFU need not be running.
        "SFU_WS_HOST": f"127.0.0.1:{sfu_port}",
        "SERVER_ID": "home",
        "SERVER_PASSWORD": SECRET,
        "DISABLE_STUN": "true",
        "TURN_URLS": f"turn:127.0.0.1:{nobody}?transport=tcp",
        "TURN_SECRET": SECRET,
    }
    async with chat_server(variables):
        findings = await examine(Target(tmp_path, port, sfu_port, udp_port), {"DISABLE_STUN": "1"})
    text = f"TURN server turn:127.0.0.1:{nobody}?transport=tcp: nothing listens at TCP port {nobody}"
    assert text in problems(findings)
