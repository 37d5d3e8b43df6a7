"""Checks the TURN server: requests a relay at each of its addresses, as a member's browser does.

Reports which step fails: the name lookup, the connection, the certificate, the response, the secret, or the
relay to the SFU. Releases every relay. See RFC 8656 sections 7 and 9, RFC 8489 section 9.2.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import md5
from typing import Protocol

from aioice.stun import Class, Message, Method, parse_message
from yarl import URL

from svc.base.addresses import parse_address
from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem

# The timeout for a relay. A slower relay is useless for a call.
ANSWER_DEADLINE_S = 4.0
# The time between retransmissions over UDP (RFC 8489 section 6.2.1, simplified).
RESENT_AFTER_S = 1.0
PORT, TLS_PORT = 3478, 5349
_UDP_RELAY = 17 << 24
_UNAUTHENTICATED, _FORBIDDEN, _STALE_NONCE, _QUOTA, _FULL = 401, 403, 438, 486, 508
_WRONG_CREDENTIALS = 441
# The maximum length of a realm or a nonce in bytes (RFC 8489 sections 14.9 and 14.10).
_MAX_VALUE_BYTES = 763


@dataclass(frozen=True, slots=True)
class Address:
    """One of the URLs in TURN_URLS (RFC 7065)."""

    url: str
    host: str
    port: int
    transport: str
    tls: bool

    @classmethod
    def of(cls, url: str) -> "Address":
        scheme, _, rest = url.partition(":")
        tls = scheme == "turns"
        # TURN URLs have no slashes (RFC 7065 section 3.1). Add slashes, so that the usual parser works.
        parsed = URL(f"turn://{rest}")
        transport = parsed.query.get("transport", "tcp" if tls else "udp")
        return cls(
            url, parsed.host or "", parsed.explicit_port or (TLS_PORT if tls else PORT), transport, tls
        )

    @property
    def way(self) -> str:
        return f"{'TLS' if self.tls else self.transport.upper()} port {self.port}"


class Refused(Exception):
    """Raised if the server responds with an error."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code


async def diagnose(server: Mapping[str, object], peers: Sequence[str], trust: ssl.SSLContext) -> Findings:
    """Check a TURN server. `server` is an RTCIceServer. `peers` are the SFU's addresses, which the server
    must reach.
    """
    urls = server["urls"]
    assert isinstance(urls, list)
    name, password = str(server["username"]), str(server["credential"])
    checks = (_one(Address.of(url), name, password, peers, trust) for url in urls)
    return list(await asyncio.gather(*checks))


async def _one(
    address: Address, name: str, password: str, peers: Sequence[str], trust: ssl.SSLContext
) -> Finding:
    server_name = f"TURN server {address.url}"
    if address.tls and address.transport == "udp":
        return problem(f"{server_name}: browsers do not support TURN over DTLS", "Add ?transport=tcp to it.")
    try:
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            transport = await _way(address, trust)
    except OSError as fault:  # Includes TimeoutError and every ssl.SSLError.
        return unreachable(address, fault)
    allocation = _Allocation(transport, name, password)
    try:
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            await allocation.ask(Method.ALLOCATE, {"REQUESTED-TRANSPORT": _UDP_RELAY})
            for peer in peers:
                await allocation.ask(Method.CREATE_PERMISSION, {"XOR-PEER-ADDRESS": (peer, 0)})
            if address.tls and parse_address(address.host):
                return notice(
                    f"{server_name} relays for members, but not in Firefox: it takes turns: with a name only",
                    "Put the name in its certificate into TURN_URLS.",
                )
            return ok(f"{server_name} relays for members")
    except Refused as refusal:
        return explain_refusal(address, refusal, allocation.allocated)
    except OSError as fault:
        return unreachable(address, fault)
    finally:
        await allocation.give_back()
        await transport.close()


def unreachable(address: Address, fault: OSError) -> Finding:
    """Return the finding for a server that cannot be reached or does not respond."""
    server_name = f"TURN server {address.url}"
    match fault:
        case socket.gaierror():
            return problem(f"{server_name}: the name {address.host} is unknown", "Check it in TURN_URLS.")
        case ssl.SSLCertVerificationError():
            return problem(
                f"{server_name}: its certificate is rejected: {fault.verify_message}",
                "Browsers reject it too, silently. Install a trusted certificate for this name.",
            )
        case ssl.SSLError():
            return problem(
                f"{server_name}: what answers at {address.way} speaks no TLS",
                "Is that its TLS port, and does coturn have cert= and pkey=?",
            )
        case ConnectionRefusedError():
            return problem(
                f"{server_name}: nothing listens at {address.way}", "Start it, or correct TURN_URLS."
            )
        case TimeoutError():
            return problem(
                f"{server_name}: no answer from {address.way}",
                f"Let {address.way} through its firewall. Is it a TURN server, and does it run?",
            )
        case ConnectionError():
            return problem(
                f"{server_name}: what listens at {address.way} hangs up",
                "Is it a TURN server, and is it the right port?",
            )
    return problem(
        f"{server_name}: there is no route to it from here ({fault.strerror or fault})",
        "Is the address right, and has this machine a network of that kind?",
    )


def explain_refusal(address: Address, refusal: Refused, allocated: bool) -> Finding:
    """Return the finding for an error response to the request for a relay or, if the relay is `allocated`, to
    a later request for the SFU's address.
    """
    server_name = f"TURN server {address.url}"
    if allocated and refusal.code == _FORBIDDEN:
        return problem(
            f"{server_name} does not relay to the SFU",
            "Name each address of ICE_ADVERTISE_IP in allowed-peer-ip=.",
        )
    if refusal.code in (_UNAUTHENTICATED, _WRONG_CREDENTIALS):
        return problem(
            f"{server_name} refuses the secret ({refusal.code})",
            "TURN_SECRET and its static-auth-secret= must be the same, and both clocks right.",
        )
    if refusal.code in (_QUOTA, _FULL):
        return problem(
            f"{server_name} gives no more relays ({refusal})", "Raise user-quota=, total-quota= or its ports."
        )
    return problem(f"{server_name} refuses a relay ({refusal})", "Its log says why.")


class _Way(Protocol):
    async def exchange(self, message: Message) -> Message:
        """Return the response to a request. Raises OSError."""

    async def close(self) -> None: ...


class _Allocation:
    """A relay and its credentials. The server's first error response contains the realm and the nonce."""

    def __init__(self, way: _Way, name: str, password: str) -> None:
        self.allocated = False
        self._way, self._name, self._password = way, name, password
        self._realm, self._nonce = "", b""

    async def ask(self, method: Method, attributes: Mapping[str, object]) -> Message:
        for _ in range(3):  # First without a nonce, then with the server's nonce, then with a fresh one.
            request = Message(method, Class.REQUEST, attributes=dict(attributes))
            signed = bool(self._nonce)
            if signed:
                request.attributes |= {"USERNAME": self._name, "REALM": self._realm, "NONCE": self._nonce}
                key = f"{self._name}:{self._realm}:{self._password}".encode()
                request.add_message_integrity(md5(key, usedforsecurity=False).digest())
            answer = await self._way.exchange(request)
            if answer.message_class is Class.RESPONSE:
                self.allocated |= method is Method.ALLOCATE
                return answer
            code, reason = answer.attributes.get("ERROR-CODE", (0, "without a code"))
            wants_name = (code == _UNAUTHENTICATED and not signed) or code == _STALE_NONCE
            nonce, realm = answer.attributes.get("NONCE", b""), answer.attributes.get("REALM", self._realm)
            # Longer values are not valid in a request, so they cannot be sent back.
            if not wants_name or not nonce or max(len(nonce), len(realm)) > _MAX_VALUE_BYTES:
                break
            self._nonce, self._realm = nonce, realm
        raise Refused(code, reason)

    async def give_back(self) -> None:
        if not self.allocated:
            return
        with suppress(OSError, Refused):  # If this fails, the relay expires after ten minutes.
            async with asyncio.timeout(RESENT_AFTER_S):
                await self.ask(Method.REFRESH, {"LIFETIME": 0})


async def _way(address: Address, trust: ssl.SSLContext) -> _Way:
    if address.transport == "udp":
        return await _Datagrams.connect(address)
    return _Stream(
        *await asyncio.open_connection(address.host, address.port, ssl=trust if address.tls else None)
    )


class _Datagrams:
    @classmethod
    async def connect(cls, address: Address) -> "_Datagrams":
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
        family, _, _, _, socket_address = addresses[0]
        udp_socket = socket.socket(family, socket.SOCK_DGRAM)
        udp_socket.setblocking(False)
        try:
            udp_socket.connect(socket_address)
        except OSError:
            udp_socket.close()
            raise
        return cls(udp_socket)

    def __init__(self, udp_socket: socket.socket) -> None:
        self._socket = udp_socket

    async def exchange(self, message: Message) -> Message:
        loop = asyncio.get_running_loop()
        while True:
            await loop.sock_sendall(self._socket, bytes(message))
            try:
                async with asyncio.timeout(RESENT_AFTER_S):
                    while (answer := _read(await loop.sock_recv(self._socket, 1500), message)) is None:
                        pass
                    return answer
            except TimeoutError:
                continue  # The caller sets a timeout.

    async def close(self) -> None:
        self._socket.close()


class _Stream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def exchange(self, message: Message) -> Message:
        self._writer.write(bytes(message))
        while True:
            try:
                head = await self._reader.readexactly(20)
                body = await self._reader.readexactly(struct.unpack_from("!H", head, 2)[0])
            except asyncio.IncompleteReadError:
                raise ConnectionResetError from None
            if (answer := _read(head + body, message)) is not None:
                return answer

    async def close(self) -> None:
        self._writer.transport.abort()  # There is nothing left to send.
        with suppress(OSError):
            await self._writer.wait_closed()


def _read(data: bytes, request: Message) -> Message | None:
    """Return the response to this request, or None for any other message."""
    try:
        answer = parse_message(data)
    except (ValueError, struct.error):
        return None
    return answer if answer.transaction_id == request.transaction_id else None
