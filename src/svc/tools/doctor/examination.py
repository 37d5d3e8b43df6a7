"""`svc doctor`: run all checks and print each finding with advice.

Changes nothing and is harmless to a running server. The exit status is 1 if there is a problem.
"""

import asyncio
import json
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from yarl import URL

from svc.base.config_parsing import ConfigError
from svc.base.control_socket import ControlFailed, NotRunning, ask
from svc.base.turn_server import read as read_turn
from svc.sfu.config import Config
from svc.tools.certificate import FILE_NAME as OWN_CERTIFICATE
from svc.tools.doctor import (
    cluster,
    data_folder,
    decoders,
    machine,
    network,
    public_address,
    remote_checks,
    services,
    turn,
)
from svc.tools.doctor.check_result import Finding, Verdict, notice, ok

DEFAULT_PORT, DEFAULT_SFU_PORT, DEFAULT_UDP_PORT = 5000, 5005, 3478

_SIGNS = {Verdict.OK: "ok     ", Verdict.NOTICE: "notice ", Verdict.PROBLEM: "PROBLEM"}


@dataclass(frozen=True, slots=True)
class Target:
    """The command-line options. `url` is the public address, if it is to be checked.

    A running server reports its own port and the SFU's port, and a running SFU reports its UDP port.
    """

    data_dir: Path
    port: int | None = None
    sfu_port: int | None = None
    udp_port: int | None = None
    url: str = ""
    # Certificates to trust in addition to the system's.
    ca_file: Path | None = None
    # A server on another machine. If it is given, nothing on this machine is checked.
    seen_from_here: str = ""


def run(target: Target, variables: Mapping[str, str], *, as_json: bool) -> int:
    """Print the findings and return the exit status. Raises ConfigError for invalid options."""
    findings = asyncio.run(examine(target, variables))
    if as_json:
        listed = [{"verdict": f.verdict.value, "what": f.what, "advice": f.advice} for f in findings]
        print(json.dumps({"findings": listed}, ensure_ascii=False, separators=(",", ":")))
    else:
        for finding in findings:
            print(f"{_SIGNS[finding.verdict]}  {finding.what}")
            if finding.advice:
                print(f"{'':9}{finding.advice}")
    return int(any(finding.verdict is Verdict.PROBLEM for finding in findings))


async def examine(target: Target, variables: Mapping[str, str]) -> list[Finding]:
    if target.seen_from_here:
        url = _url("--from", target.seen_from_here)
        return list(await remote_checks.diagnose(url, target.udp_port or DEFAULT_UDP_PORT, _trust(target)))
    config = Config.read(variables)
    findings = [*machine.diagnose(), *data_folder.diagnose(target.data_dir)]
    findings += await decoders.diagnose()
    # Only cluster nodes support this command.
    if (nodes := await _ask(target.data_dir, "cluster_status", {})) is not None:
        findings += cluster.diagnose(nodes)
    server = await _ask(target.data_dir, "status_get", {})
    if server is not None:
        findings.append(ok(f"The server is running: version {server['version']}"))
        findings += services.diagnose(server)
        if (checked := await _ask(target.data_dir, "database_check", {})) is not None:
            findings.append(data_folder.database(checked["faults"]))
    else:
        findings += await asyncio.to_thread(data_folder.database_at_rest, target.data_dir)
    port, sfu_port = _ports(target, server)
    findings.append(await network.port("the chat server", port, "chat", secure_too=True))
    sfu = await network.port("the SFU", sfu_port, "sfu")
    media = await network.media(sfu_port)
    udp_port = target.udp_port or media.port or DEFAULT_UDP_PORT
    findings += [sfu, network.udp_port(udp_port, ours=network.is_ours(sfu))]
    findings.append(network.tcp_port(udp_port, taken=media.tcp))
    findings += await network.outside(config, udp_port)
    findings += await _turn(target, variables, config.advertised)
    if target.url:
        findings += await _site(target, server)
    return findings


def _ports(target: Target, server: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the ports of the chat server and of the SFU."""
    running = server or {}
    sfu = URL(running.get("sfu", "")).port
    return (
        target.port or running.get("port") or DEFAULT_PORT,
        target.sfu_port or sfu or DEFAULT_SFU_PORT,
    )


async def _site(target: Target, server: Mapping[str, Any] | None) -> list[Finding]:
    url = _url("--url", target.url)
    if server is None:
        return [
            notice(f"{url} was not checked: no server runs on the data folder", "Start it and try again.")
        ]

    async def arrival(mark: str) -> Mapping[str, Any] | None:
        answer = await _ask(target.data_dir, "status_probe", {"mark": mark})
        return answer and answer["arrival"]

    trust = _trust(target)
    self_signed = target.data_dir / OWN_CERTIFICATE
    if self_signed.exists():
        trust.load_verify_locations(self_signed)
        trust.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    hops, voice = int(server["trusted_proxy_hops"]), bool(server["sfu"])
    return list(await public_address.diagnose(url, hops, arrival, trust, voice=voice))


async def _turn(target: Target, variables: Mapping[str, str], advertised: Sequence[str]) -> Sequence[Finding]:
    """Check the TURN server that the running server announces to members, or else the configured server."""
    running = await _ask(target.data_dir, "status_turn", {})
    if running is not None:
        server = running["server"]
    elif (configured := read_turn(variables)) is not None:
        server = configured.ice_server("doctor", time.time())
    else:
        server = None
    if server is None:
        return []
    # The relayed address is an IPv4 address, so it reaches only IPv4 peers. No TURN server relays to its own
    # loopback.
    reached = [ip for ip in advertised if ip_address(ip).version == 4 and not ip_address(ip).is_loopback]
    return await turn.diagnose(server, reached, _trust(target))


def _url(flag: str, text: str) -> URL:
    url = URL(text.rstrip("/"))
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"{flag} must be an http:// or https:// address, not {text!r}")
    return url


def _trust(target: Target) -> ssl.SSLContext:
    """Return the certificates that the system and --ca-file trust."""
    trust = ssl.create_default_context()
    if target.ca_file is not None:
        try:
            trust.load_verify_locations(target.ca_file)
        except (OSError, ssl.SSLError) as fault:
            raise ConfigError(f"{target.ca_file} contains no certificates: {fault}") from None
    return trust


async def _ask(data_dir: Path, command: str, arguments: Mapping[str, object]) -> Mapping[str, Any] | None:
    """Return a command's result, or None if no server is running or the server is too old for the command."""
    try:
        answer: Mapping[str, Any] = await ask(data_dir, command, arguments)
    except (NotRunning, ControlFailed):
        return None
    return answer.get("result")
