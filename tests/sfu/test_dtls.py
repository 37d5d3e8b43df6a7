"""Two of our DTLS transports shake hands over an in-memory network with its own clock."""

import random
from datetime import UTC, datetime

import pytest
from OpenSSL import SSL

from svc.sfu.dtls import (
    HANDSHAKE_TIMEOUT_S,
    MAX_DATAGRAM_BYTES,
    MAX_HANDSHAKE_DATAGRAMS,
    RESENDS_WHEN_CONNECTED,
    Certificate,
    Closed,
    Connected,
    DtlsTransport,
    HandshakeFailed,
    SrtpKeys,
)
from tests.kit.dtls_peer import DtlsPeer
from tests.kit.network import Network

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SERVER, CLIENT = ("192.0.2.1", 3478), ("198.51.100.7", 5000)


@pytest.fixture(scope="module")
def ours() -> Certificate:
    return Certificate.generate(NOW)


@pytest.fixture(scope="module")
def theirs() -> Certificate:
    return Certificate.generate(NOW)


def peers(network: Network, ours: Certificate, theirs: Certificate) -> tuple[DtlsPeer, DtlsPeer]:
    server = DtlsPeer(network, DtlsTransport(ours, "server"), SERVER, CLIENT)
    client = DtlsPeer(network, DtlsTransport(theirs, "client"), CLIENT, SERVER)
    server.transport.set_remote_fingerprints([("sha-256", theirs.fingerprint)])
    client.transport.set_remote_fingerprints([("sha-256", ours.fingerprint)])
    return server, client


def connected(network: Network, server: DtlsPeer, client: DtlsPeer) -> bool:
    client.start()
    return network.run_until(lambda: bool(server.keys and client.keys), within_s=HANDSHAKE_TIMEOUT_S)


def outcome(network: Network, peer: DtlsPeer, other: DtlsPeer) -> str:
    other.start()
    network.run_until(lambda: bool(peer.events), within_s=HANDSHAKE_TIMEOUT_S + 1)
    [event] = peer.events
    assert isinstance(event, HandshakeFailed) and peer.keys is None
    return event.reason


def test_client_and_server_derive_matching_gcm_keys(ours: Certificate, theirs: Certificate) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    assert connected(network, server, client)
    assert server.keys and client.keys
    assert server.keys.profile == client.keys.profile == "AEAD_AES_128_GCM"
    assert (server.keys.local, server.keys.remote) == (client.keys.remote, client.keys.local)
    assert server.keys.local != server.keys.remote
    assert len(server.keys.local) == 16 + 12


@pytest.mark.parametrize("restricted", ["server", "client"])
def test_a_peer_that_does_not_support_gcm_gets_the_sha1_profile(restricted: str, theirs: Certificate) -> None:
    network = Network()
    limited = Certificate.generate(NOW)
    limited.context.set_tlsext_use_srtp(b"SRTP_AES128_CM_SHA1_80")
    certificates = (limited, theirs) if restricted == "server" else (theirs, limited)
    server, client = peers(network, *certificates)
    assert connected(network, server, client)
    assert server.keys and client.keys
    assert server.keys.profile == client.keys.profile == "AES_CM_128_HMAC_SHA1_80"
    assert server.keys.local == client.keys.remote and len(server.keys.local) == 16 + 14


def test_the_handshake_fails_without_a_common_profile(ours: Certificate) -> None:
    network = Network()
    other = Certificate.generate(NOW)
    other.context.set_tlsext_use_srtp(b"SRTP_AEAD_AES_256_GCM")
    server, client = peers(network, ours, other)
    assert outcome(network, server, client) == "the peer accepts none of our SRTP profiles"


@pytest.mark.parametrize("seed", range(100))
def test_a_handshake_survives_half_of_all_datagrams_being_lost(
    seed: int, ours: Certificate, theirs: Certificate
) -> None:
    network = Network(seed=seed, loss=0.5, delay_s=(0.01, 0.08))
    server, client = peers(network, ours, theirs)
    assert connected(network, server, client)


def test_a_lost_flight_is_retransmitted_after_100_ms_and_then_less_often(
    ours: Certificate, theirs: Certificate
) -> None:
    network = Network(loss=1.0)
    _, client = peers(network, ours, theirs)
    client.start()
    for count, after_s in enumerate((0.1, 0.2, 0.4, 0.8, 1.0, 1.0), start=1):
        network.run_for(after_s - 0.001)
        assert len(network.sent) == count
        network.run_for(0.001)
    assert len({data for _, _, data in network.sent}) == 1


def test_the_servers_last_flight_is_retransmitted_four_times(ours: Certificate, theirs: Certificate) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    assert connected(network, server, client)
    seen = len(network.sent)
    network.run_for(60)
    repeated = network.sent[seen:]
    assert [source for source, _, _ in repeated] == [SERVER] * RESENDS_WHEN_CONNECTED
    assert server.next_deadline() is client.next_deadline() is None
    assert len(server.events) == len(client.events) == 1


def fragments(record: bytes, size: int) -> list[bytes]:
    """Split the handshake message in one record into several records (RFC 6347 section 4.2.3)."""
    message_type, sequence, body = record[13:17], record[17:19], record[25:]
    datagrams = []
    # OpenSSL does not use these record numbers, because it does not know that the message was split.
    for number, offset in enumerate(range(0, len(body), size), start=40):
        part = body[offset : offset + size]
        header = record[:10] + bytes([number]) + (12 + len(part)).to_bytes(2, "big")
        fragment = offset.to_bytes(3, "big") + len(part).to_bytes(3, "big")
        datagrams.append(header + message_type + sequence + fragment + part)
    return datagrams


@pytest.mark.parametrize("order", [1, -1], ids=["in order", "reversed"])
def test_a_client_hello_in_two_datagrams_is_reassembled(
    order: int, ours: Certificate, theirs: Certificate
) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    client.transport.start(network.now)
    [hello] = client.transport.transmits
    client.transport.transmits.clear()
    # Chromium's ClientHello, with its post-quantum key share, never fits in one datagram.
    parts = fragments(hello, 100)[::order]
    assert len(parts) > 1
    for part in parts:
        network.send(part, CLIENT, SERVER)
    assert network.run_until(lambda: bool(server.keys and client.keys), within_s=0.09)


def test_a_peer_that_retransmits_gets_the_last_flight_again(ours: Certificate, theirs: Certificate) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    assert connected(network, server, client)
    network.run_for(60)
    last = [data for source, _, data in network.sent if source == CLIENT][-1]
    seen = len(network.sent)
    network.send(last, CLIENT, SERVER)
    network.run_for(1)
    assert [source for source, _, _ in network.sent[seen:]] == [CLIENT, SERVER]


@pytest.mark.parametrize("algorithm", ["sha-256", "sha-384", "sha-512"])
def test_the_fingerprint_may_use_any_sha_2_algorithm(
    algorithm: str, ours: Certificate, theirs: Certificate
) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    certificate = theirs.context
    probe = SSL.Connection(certificate, None).get_certificate()
    assert probe is not None
    value = probe.digest(algorithm.replace("-", "")).decode()
    server.transport.set_remote_fingerprints([("sha-256", "00:11"), (algorithm, value)])
    assert connected(network, server, client)


@pytest.mark.parametrize("algorithm", ["sha-1", "md5", "md2", ""])
def test_weak_fingerprints_are_not_accepted_as_proof(
    algorithm: str, ours: Certificate, theirs: Certificate
) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    certificate = SSL.Connection(theirs.context, None).get_certificate()
    assert certificate is not None
    server.transport.set_remote_fingerprints([(algorithm, certificate.digest("sha1").decode())])
    assert "does not match" in outcome(network, server, client)


@pytest.mark.parametrize("role", ["server", "client"])
def test_a_wrong_fingerprint_releases_no_keys(role: str, ours: Certificate, theirs: Certificate) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    deceived = server if role == "server" else client
    deceived.transport.set_remote_fingerprints([("sha-256", Certificate.generate(NOW).fingerprint)])
    reason = outcome(network, deceived, client)
    assert reason == "the certificate does not match the fingerprint of the answer"


def test_a_peer_without_a_certificate_is_rejected(ours: Certificate) -> None:
    network = Network()
    bare = Certificate.generate(NOW)
    bare.context = SSL.Context(SSL.DTLS_METHOD)
    bare.context.set_tlsext_use_srtp(b"SRTP_AEAD_AES_128_GCM")
    server, client = peers(network, ours, bare)
    assert outcome(network, server, client) == "peer did not return a certificate"


def test_a_handshake_with_a_silent_peer_ends_at_its_deadline(ours: Certificate, theirs: Certificate) -> None:
    network = Network(loss=1.0)
    _, client = peers(network, ours, theirs)
    began = network.now
    assert outcome(network, client, client) == "the handshake took too long"
    assert network.now - began == pytest.approx(HANDSHAKE_TIMEOUT_S)
    assert client.next_deadline() is None


@pytest.mark.parametrize("closer", ["server", "client"])
def test_closing_notifies_the_peer(closer: str, ours: Certificate, theirs: Certificate) -> None:
    network = Network()
    server, client = peers(network, ours, theirs)
    assert connected(network, server, client)
    leaving, staying = (server, client) if closer == "server" else (client, server)
    leaving.transport.close()
    leaving.drain()
    assert network.run_until(lambda: Closed() in staying.events, within_s=1)
    assert leaving.next_deadline() is staying.next_deadline() is None


def test_closing_before_the_start_is_harmless(ours: Certificate) -> None:
    transport = DtlsTransport(ours, "server")
    transport.close()
    transport.receive(bytes(20), 0.0)
    assert transport.events == [] and transport.dropped == {"closed": 1}


def test_datagrams_that_are_not_a_handshake_are_dropped(ours: Certificate) -> None:
    transport = DtlsTransport(ours, "server")
    for datagram in (b"", b"\x16", bytes(12), bytes(MAX_DATAGRAM_BYTES + 1)):
        transport.receive(datagram, 0.0)
    assert transport.dropped == {"size": 4}


def test_a_flood_during_the_handshake_reaches_openssl_at_a_limited_rate(ours: Certificate) -> None:
    transport = DtlsTransport(ours, "server")
    for _ in range(MAX_HANDSHAKE_DATAGRAMS + 7):
        transport.receive(bytes(100), 0.0)
    assert transport.dropped == {"too many": 7}
    assert transport.transmits == [] and transport.events == []


@pytest.mark.parametrize("seed", range(20))
def test_garbage_between_the_datagrams_does_not_interrupt_the_handshake(
    seed: int, ours: Certificate, theirs: Certificate
) -> None:
    network = Network()
    numbers = random.Random(seed)
    server, client = peers(network, ours, theirs)

    def noise() -> None:
        for source, to in ((SERVER, CLIENT), (CLIENT, SERVER)):
            network.send(bytes([numbers.randrange(20, 64)]) + numbers.randbytes(60), source, to)
            network.send(b"\x16\xfe\xfd" + numbers.randbytes(numbers.randrange(60)), source, to)

    noise()
    client.start()
    while not (server.keys and client.keys) and network.now < 1010:
        noise()
        network.run_for(0.01)
    assert server.keys and client.keys
    noise()
    network.run_for(1)
    assert len(server.events) == len(client.events) == 1


@pytest.mark.parametrize("seed", range(200))
def test_a_corrupted_handshake_fails_or_succeeds_but_raises_no_exception(
    seed: int, ours: Certificate, theirs: Certificate
) -> None:
    network = Network()
    numbers = random.Random(seed)
    server, client = peers(network, ours, theirs)
    receive = server.transport.receive

    def corrupt(datagram: bytes, now: float) -> None:
        corrupted = bytearray(datagram)
        corrupted[numbers.randrange(len(corrupted))] = numbers.randrange(256)
        receive(
            bytes(corrupted[: numbers.randrange(len(corrupted) + 1)]) if seed % 2 else bytes(corrupted), now
        )

    server.transport.receive = corrupt  # type: ignore[method-assign]
    client.start()
    network.run_for(HANDSHAKE_TIMEOUT_S + 5)
    assert len(server.events) <= 2
    assert all(isinstance(event, Connected | HandshakeFailed | Closed) for event in server.events)


def test_the_fingerprint_has_the_format_used_in_session_descriptions(ours: Certificate) -> None:
    octets = ours.fingerprint.split(":")
    assert len(octets) == 32 and all(len(octet) == 2 and octet == octet.upper() for octet in octets)


def test_a_repr_does_not_contain_keys() -> None:
    assert "secret" not in repr(SrtpKeys("AEAD_AES_128_GCM", b"secret", b"secret"))
