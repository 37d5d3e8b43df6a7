"""Checks a server at its public address: the certificate, the WebSockets, and the proxies in front of it.

Sends one request with a unique marker and asks the running server how it arrived. Changes nothing.
"""

import asyncio
import secrets
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from aiohttp import (
    ClientConnectorCertificateError,
    ClientError,
    ClientSession,
    ClientTimeout,
    ClientWSTimeout,
)
from yarl import URL

from svc.sfu.candidates import is_loopback
from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem

ANSWER_DEADLINE_S = 10.0
RENEW_WITHIN_DAYS = 14
_MARK_BYTES = 16

# Returns the running server's record of the marked request, or None if the request has not arrived.
Arrivals = Callable[[str], Awaitable[Mapping[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """A request's route to the server. `hops` is SVC_TRUSTED_PROXY_HOPS."""

    url: URL
    hops: int
    arrival: Mapping[str, Any]


async def diagnose(
    url: URL, hops: int, arrivals: Arrivals, trust: ssl.SSLContext, *, voice: bool = True
) -> Findings:
    """Check the URL. `hops` and `voice` (whether an SFU is configured) are the running server's settings.

    `trust` contains the trusted certificates.
    """
    mark = secrets.token_hex(_MARK_BYTES)
    timeout = ClientTimeout(total=ANSWER_DEADLINE_S)
    async with ClientSession(timeout=timeout) as http:
        try:
            async with http.get(url / "health", params={"probe": mark}, ssl=trust) as response:
                healthy = response.status == 200
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                shown = await certificate(url, trust)
        except ClientConnectorCertificateError as fault:
            return [secure_context(url), untrusted_certificate(fault)]
        except (ClientError, OSError) as fault:
            return [
                problem(f"{url} cannot be reached: {fault}", "Check the name, and whether the port is open.")
            ]
        arrival = await arrivals(mark)
        if not healthy or arrival is None:
            return [
                problem(
                    f"A different server answers at {url}",
                    "Let the name, and the proxy behind it, point to this machine and its port.",
                )
            ]
        findings = [secure_context(url), *certificate_finding(shown, datetime.now(UTC))]
        findings += proxies(ProxyRoute(url, hops, arrival))
        findings.append(await websocket(http, url / "live", trust))
        if voice:
            findings.append(await websocket(http, url / "sfu" / "client", trust))
        else:
            findings.append(notice("Calls do not work: SFU_WS_HOST is not set", "Set it, or use svc up."))
    return findings


def secure_context(url: URL) -> Finding:
    host = url.host or ""
    if url.scheme == "https" or host == "localhost" or (_is_ip(host) and is_loopback(host)):
        return ok("Browsers allow the microphone and the camera at this address")
    return problem(
        f"{url} is not https, so browsers do not allow the microphone there",
        "Start with --tls, or put a proxy with a certificate in front (docs/operations.md).",
    )


def certificate_finding(ends: datetime | None, now: datetime) -> Findings:
    if ends is None:
        return []
    days = (ends - now).days
    if days < RENEW_WITHIN_DAYS:
        return [notice(f"The certificate expires in {days} days", "Make sure that it is renewed.")]
    return [ok(f"The certificate is valid for {days} days")]


def proxies(route: ProxyRoute) -> Findings:
    """Check that the proxies in front of the server match the server's settings."""
    entries = [
        entry for value in route.arrival["forwarded_for"] for entry in value.split(",") if entry.strip()
    ]
    findings = [_hops(route, len(entries))]
    # Clients omit the default port.
    expected_host = route.url.host_port_subcomponent
    if route.arrival["host"] not in (expected_host, route.url.authority):
        findings.append(
            problem(
                f"The proxy passes the host {route.arrival['host']!r} on instead of {expected_host!r}",
                "Make it pass on the Host header (nginx: proxy_set_header Host $http_host).",
            )
        )
    return findings


def _hops(route: ProxyRoute, entries: int) -> Finding:
    if entries == route.hops:
        through = (
            f"through {entries} proxies, as SVC_TRUSTED_PROXY_HOPS says" if entries else "without a proxy"
        )
        return ok(f"Requests come {through}; their addresses tell people apart")
    if entries > route.hops:
        return problem(
            f"{entries} proxies pass requests on, and SVC_TRUSTED_PROXY_HOPS is {route.hops}",
            f"Set it to {entries}, or all people share one limit per address.",
        )
    if entries == 0 and route.url.scheme == "https" and not route.arrival["secure"]:
        return problem(
            "A proxy passes requests on without the address of the sender",
            "Make it add X-Forwarded-For (deploy/nginx and deploy/caddy do).",
        )
    return problem(
        f"SVC_TRUSTED_PROXY_HOPS is {route.hops}, but requests come through {entries} proxies",
        f"Set it to {entries}: if it is too high, people can fake their addresses.",
    )


async def websocket(http: ClientSession, url: URL, trust: ssl.SSLContext) -> Finding:
    try:
        closing = ClientWSTimeout(ws_close=1.0)
        async with http.ws_connect(url, ssl=trust, timeout=closing, origin=str(url.origin())):
            return ok(f"WebSockets reach {url.path}")
    except (ClientError, OSError):
        return problem(
            f"No WebSocket can be opened at {url.path}",
            "Make the proxy pass on the headers Upgrade and Connection (deploy has examples).",
        )


def untrusted_certificate(fault: ClientConnectorCertificateError) -> Finding:
    reason_text = getattr(fault.certificate_error, "verify_message", "") or "it is not trusted"
    return problem(
        f"The certificate is rejected: {reason_text}",
        "With a certificate made by --tls, browsers show a warning once. A trusted certificate avoids that.",
    )


async def certificate(url: URL, trust: ssl.SSLContext) -> datetime | None:
    """Return the expiry time of the server's certificate, or None if the certificate has none. Raises
    OSError.
    """
    if url.scheme != "https":
        return None
    _, writer = await asyncio.open_connection(url.host, url.port, ssl=trust)
    try:
        shown = writer.get_extra_info("peercert")
    finally:
        writer.close()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(shown["notAfter"]), UTC)


def _is_ip(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
