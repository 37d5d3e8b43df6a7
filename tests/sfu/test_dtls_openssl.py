"""Our DTLS interoperates with the openssl program and with aiortc."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any, cast

import pytest
from aiortc.rtcdtlstransport import (
    RTCCertificate,
    RTCDtlsFingerprint,
    RTCDtlsParameters,
    RTCDtlsTransport,
)
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_pem_x509_certificate

from svc.sfu.dtls import Certificate, Closed, Connected, DtlsEvent, DtlsTransport, Role

LOCALHOST = "127.0.0.1"


class DtlsSocket(asyncio.DatagramProtocol):
    """A transport on a real socket that responds to any sender."""

    def __init__(self, transport: DtlsTransport, remote: tuple[str, int] | None) -> None:
        self.dtls = transport
        self._remote = remote
        self._clock = asyncio.get_running_loop().time
        self._timer: asyncio.TimerHandle | None = None
        self.events: asyncio.Queue[DtlsEvent] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._remote = addr
        self.call(lambda now: self.dtls.receive(data, now))

    def call(self, function: Callable[[float], None]) -> None:
        function(self._clock())
        for data in self.dtls.transmits:
            assert self._remote is not None
            self._socket.sendto(data, self._remote)
        self.dtls.transmits.clear()
        for event in self.dtls.events:
            self.events.put_nowait(event)
        self.dtls.events.clear()
        if self._timer:
            self._timer.cancel()
        deadline = self.dtls.next_deadline()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(deadline, self.call, self.dtls.advance) if deadline else None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()


@pytest.fixture(scope="module")
def ours() -> Certificate:
    return Certificate.generate(datetime.now(UTC))


@asynccontextmanager
async def on_socket(
    transport: DtlsTransport, remote: tuple[str, int] | None = None
) -> AsyncIterator[tuple[DtlsSocket, int]]:
    loop = asyncio.get_running_loop()
    endpoint, peer = await loop.create_datagram_endpoint(
        lambda: DtlsSocket(transport, remote), local_addr=(LOCALHOST, 0)
    )
    try:
        yield peer, endpoint.get_extra_info("sockname")[1]
    finally:
        endpoint.close()


@asynccontextmanager
async def openssl(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        "openssl",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def write_certificate(folder: FilePath) -> tuple[list[str], str]:
    """Write a certificate. Return the openssl arguments that use it, and its SHA-256 fingerprint."""
    certificate = RTCCertificate.generateCertificate()
    (folder / "key.pem").write_bytes(
        certificate._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    pem = certificate._cert.public_bytes(serialization.Encoding.PEM)
    (folder / "cert.pem").write_bytes(pem)
    der = load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)
    fingerprint = sha256(der).hexdigest().upper()
    arguments = ["-cert", str(folder / "cert.pem"), "-key", str(folder / "key.pem"), "-dtls1_2"]
    arguments += ["-use_srtp", "SRTP_AES128_CM_SHA1_80:SRTP_AEAD_AES_128_GCM"]
    return arguments, ":".join(fingerprint[i : i + 2] for i in range(0, 64, 2))


needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@needs_openssl
async def test_openssl_s_client_agrees_on_gcm_although_it_prefers_sha1(
    ours: Certificate, tmp_path: FilePath
) -> None:
    arguments, fingerprint = write_certificate(tmp_path)
    transport = DtlsTransport(ours, "server")
    transport.set_remote_fingerprints([("sha-256", fingerprint)])
    async with (
        asyncio.timeout(20),
        on_socket(transport) as (peer, port),
        openssl("s_client", "-connect", f"{LOCALHOST}:{port}", *arguments) as client,
    ):
        event = await peer.events.get()
        assert isinstance(event, Connected) and event.keys.profile == "AEAD_AES_128_GCM"
        assert client.stdin is not None
        client.stdin.write(b"Q\n")  # On "Q", s_client sends close_notify.
        assert await peer.events.get() == Closed()


@needs_openssl
async def test_a_handshake_as_the_client_of_openssl_s_server_succeeds(
    ours: Certificate, tmp_path: FilePath
) -> None:
    arguments, fingerprint = write_certificate(tmp_path)
    transport = DtlsTransport(ours, "client")
    transport.set_remote_fingerprints([("sha-256", fingerprint)])
    options = ["-Verify", "1", "-accept", f"{LOCALHOST}:0", *arguments]
    async with asyncio.timeout(20), openssl("s_server", *options) as server:
        assert server.stdout is not None
        line = b""
        while not line.startswith(b"ACCEPT"):
            line = await server.stdout.readline()
        port = int(line.rpartition(b":")[2])
        async with on_socket(transport, (LOCALHOST, port)) as (peer, _):
            peer.call(transport.start)
            event = await peer.events.get()
            assert isinstance(event, Connected) and event.keys.profile == "AES_CM_128_HMAC_SHA1_80"
            peer.call(lambda now: transport.close())


async def test_openssl_retransmits_with_new_record_numbers_on_its_own_clock(
    ours: Certificate,
) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((LOCALHOST, 0))
        silent.setblocking(False)
        transport = DtlsTransport(ours, "client")
        async with asyncio.timeout(20), on_socket(transport, silent.getsockname()) as (peer, _):
            peer.call(transport.start)
            numbers = [0]
            while numbers[-1] == 0:
                datagram = await loop.sock_recv(silent, 2048)
                numbers.append(int.from_bytes(datagram[5:11], "big"))
    # The transport's own retransmissions, after 100, 300 and 700 ms, arrive first.
    assert len(numbers) >= 5 and numbers[-1] == 1


class Wire:
    """A stand-in for aiortc's ICE transport, connected to the tested transport by two queues."""

    state = "completed"

    def __init__(self, transport: DtlsTransport, role: str) -> None:
        self.role = role
        self._transport = transport
        self._inbox: asyncio.Queue[bytes] = asyncio.Queue()

    async def _recv(self) -> bytes:
        return await self._inbox.get()

    async def _send(self, data: bytes) -> None:
        self._transport.receive(data, asyncio.get_running_loop().time())
        self.flush()

    def flush(self) -> None:
        for datagram in self._transport.transmits:
            self._inbox.put_nowait(datagram)
        self._transport.transmits.clear()


@pytest.mark.parametrize(("role", "ice_role"), [("server", "controlled"), ("client", "controlling")])
async def test_aiortc_agrees_on_the_same_keys(role: Role, ice_role: str, ours: Certificate) -> None:
    transport = DtlsTransport(ours, role)
    certificate = RTCCertificate.generateCertificate()
    transport.set_remote_fingerprints(
        [(known.algorithm, known.value) for known in certificate.getFingerprints()]
    )
    wire = Wire(transport, ice_role)
    other = RTCDtlsTransport(cast(Any, wire), [certificate])
    parameters = RTCDtlsParameters([RTCDtlsFingerprint("sha-256", ours.fingerprint)], role)
    async with asyncio.timeout(20):
        transport.start(0.0)
        wire.flush()
        await other.start(parameters)
        [event] = transport.events
        assert isinstance(event, Connected) and event.keys.profile == "AEAD_AES_128_GCM"
        assert other._ssl is not None
        material = other._ssl.export_keying_material(b"EXTRACTOR-dtls_srtp", 56)
        keys = {event.keys.local, event.keys.remote}
        assert keys == {material[:16] + material[32:44], material[16:32] + material[44:]}
        await other.stop()
