"""Checks a server from another machine: its page, its certificate, its WebSockets, and its media port over
TCP.

Needs no account, so it cannot check UDP: the SFU answers only participants of a call. Changes nothing.
"""

import asyncio
import socket
import ssl
from datetime import UTC, datetime

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientTimeout,
)
from yarl import URL

from svc.tools.doctor import public_address
from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem

ANSWER_DEADLINE_S = 5.0


async def diagnose(url: URL, media_port: int, trust: ssl.SSLContext) -> Findings:
    findings = [public_address.secure_context(url)]
    async with ClientSession(timeout=ClientTimeout(total=ANSWER_DEADLINE_S)) as http:
        try:
            async with http.get(url / "health", ssl=trust) as response:
                healthy = response.status == 200
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                certificate = await public_address.certificate(url, trust)
        except ClientConnectorCertificateError as fault:
            return [*findings, public_address.untrusted_certificate(fault)]
        except (ClientError, OSError) as fault:
            advice = "Check the name, and whether firewall and router let this port in."
            return [*findings, problem(f"{url} cannot be reached from here: {_reason(fault)}", advice)]
        if not healthy:
            return [
                *findings,
                problem(f"{url} answers with an error", "Run svc doctor on the server itself."),
            ]
        findings += [
            ok(f"{url} answers"),
            *public_address.certificate_finding(certificate, datetime.now(UTC)),
        ]
        findings += [
            await public_address.websocket(http, url / path, trust) for path in ("live", "sfu/client")
        ]
    return [*findings, await _tcp(url.host or "", media_port), _udp(media_port)]


async def _tcp(host: str, port: int) -> Finding:
    target = f"TCP port {port} of {host} (media where UDP is blocked)"
    try:
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return problem(f"{target} does not answer", "Let it through the server's firewall and router.")
    except OSError as fault:
        advice = "Check that the SFU is running there. Name another port with --udp-port."
        return problem(f"{target} cannot be reached: {_reason(fault)}", advice)
    writer.close()
    return ok(f"{target} can be reached")


def _reason(fault: Exception) -> str:
    cause = fault.os_error if isinstance(fault, ClientConnectorError) else fault
    match cause:
        case TimeoutError():
            return "no answer"
        case ConnectionRefusedError():
            return "nothing listens there"
        case socket.gaierror():
            return "the name is unknown"
        case OSError(strerror=str(words)) if words:
            return words
    return str(cause) or type(cause).__name__


def _udp(port: int) -> Finding:
    return notice(
        f"UDP port {port} cannot be tried from outside of a call",
        "Join a call on this machine and open Call quality: its route should be UDP.",
    )
