"""Performs the DTLS handshake that yields the SRTP keys, over memory buffers (pyOpenSSL).

Sans-I/O: the inputs are datagrams and `now`, and the outputs are `transmits`, `events` and the next deadline.
Does not open sockets or carry application data. Releases keys only after the peer's certificate has matched a
fingerprint in its answer. See RFC 6347 (DTLS 1.2), RFC 5764 (use_srtp), RFC 8842 and RFC 8122 (roles,
fingerprints), RFC 8827 section 6.5 (the cipher suites of WebRTC).

Clocks. OpenSSL retransmits by its own clock, which cannot be replaced: first after 1 s, then doubling. This
module does not hide OpenSSL's clock: `next_deadline` includes the time that OpenSSL reports, and `advance`
lets OpenSSL act. If OpenSSL's clock has not reached the deadline, as in a test whose clock runs ahead of
OpenSSL's, `advance` retries later. A second is a long time to wait for media. If the latest flight fits in
one datagram, this module therefore also repeats it byte for byte on the caller's clock: first after 100 ms,
then doubling. A peer that already has the flight drops the copy as a replay. The server's last flight is
never acknowledged. It is repeated four times after the handshake, and whenever the peer shows that it is
still waiting for that flight.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from OpenSSL import SSL

from svc.sfu.state_machine import Transitions

Role = Literal["server", "client"]

HANDSHAKE_TIMEOUT_S = 15.0
RESEND_FIRST_S = 0.1
RESEND_LIMIT_S = 1.0
RESENDS_WHEN_CONNECTED = 4
# Polling OpenSSL more often than this would only waste CPU time.
_TIMER_STEP_S = 0.05

# A datagram of this size is not fragmented, even with IPv6 and tunnels. RTP packets have the same limit.
MTU_BYTES = 1200
# Chromium's largest datagram is 1413 bytes long. A flight with certificates takes several datagrams.
MAX_DATAGRAM_BYTES = 2048
# A handshake needs four datagrams, or a few dozen if many are lost.
MAX_HANDSHAKE_DATAGRAMS = 256
_RECORD_HEADER = 13
# The content types change_cipher_spec and handshake (RFC 6347 section 4.3.1).
_HANDSHAKE_RECORDS = (20, 22)
_BUFFER = 65536

_DTLS_1_2 = 0xFEFD
_CIPHERS = (
    b"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    b"ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    b"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
)
# RFC 8122 also allows md5 and sha-1. Fingerprints with either can be forged, so they prove nothing.
_DIGESTS = {"sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512"}


@dataclass(frozen=True, slots=True)
class _Profile:
    name: str
    openssl_name: bytes
    salt_bytes: int
    key_bytes: int = 16


# The SRTP profiles in order of preference. The server chooses. GCM takes a third of the CPU time of the other
# profile.
_PROFILES = (
    _Profile("AEAD_AES_128_GCM", b"SRTP_AEAD_AES_128_GCM", salt_bytes=12),
    _Profile("AES_CM_128_HMAC_SHA1_80", b"SRTP_AES128_CM_SHA1_80", salt_bytes=14),
)


@dataclass(frozen=True, slots=True)
class SrtpKeys:
    """The master key followed by the master salt, for each direction."""

    profile: str
    local: bytes = field(repr=False)  # The key for the packets that we send.
    remote: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Connected:
    keys: SrtpKeys


@dataclass(frozen=True, slots=True)
class Closed:
    """The peer has closed the connection."""


@dataclass(frozen=True, slots=True)
class HandshakeFailed:
    reason: str


DtlsEvent = Connected | Closed | HandshakeFailed


class Certificate:
    """Our self-signed certificate. All connections in the process share it."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self.fingerprint = certificate.fingerprint(SHA256()).hex(":").upper()
        self.context = SSL.Context(SSL.DTLS_METHOD)
        self.context.set_min_proto_version(_DTLS_1_2)
        self.context.set_cipher_list(_CIPHERS)
        self.context.set_options(SSL.OP_NO_TICKET | SSL.OP_NO_QUERY_MTU | SSL.OP_NO_RENEGOTIATION)
        self.context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        # Release buffers while a connection is idle, to save 21 KB per connection. After the handshake, a
        # connection carries at most the message that closes it.
        self.context.set_mode(SSL.MODE_RELEASE_BUFFERS)
        # Accept any certificate here, because its fingerprint is checked after the handshake.
        self.context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
        self.context.set_tlsext_use_srtp(b":".join(profile.openssl_name for profile in _PROFILES))
        self.context.use_certificate(certificate)
        self.context.use_privatekey(key)

    @classmethod
    def generate(cls, now: datetime) -> "Certificate":
        """Generate a certificate with an ECDSA key on P-256 (RFC 8827 section 6.5)."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "svc")])
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            # Peers check the fingerprint, not the dates, so a wrong clock is harmless.
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=365))
        )
        return cls(key, builder.sign(key, SHA256()))


class State(Enum):
    NEW = auto()
    HANDSHAKING = auto()
    CONNECTED = auto()
    CLOSED = auto()


class Event(Enum):
    STARTED = auto()
    AUTHENTICATED = auto()  # The handshake has succeeded, and the certificate matches the fingerprint.
    ENDED = auto()  # Either side closed the connection, or it failed.


# A closed connection may be closed again, because its owner closes it even after the peer has done so.
TRANSITIONS = Transitions(
    "DTLS",
    {
        State.NEW: {Event.STARTED: State.HANDSHAKING, Event.ENDED: State.CLOSED},
        State.HANDSHAKING: {Event.AUTHENTICATED: State.CONNECTED, Event.ENDED: State.CLOSED},
        State.CONNECTED: {Event.ENDED: State.CLOSED},
        State.CLOSED: {Event.ENDED: State.CLOSED},
    },
)


class DtlsTransport:
    """One DTLS connection with one peer. See the module docstring."""

    def __init__(self, certificate: Certificate, role: Role) -> None:
        self.transmits: list[bytes] = []
        self.events: list[DtlsEvent] = []
        self.dropped: Counter[str] = Counter()
        self._role = role
        self._fingerprints: list[tuple[str, str]] = []
        self._state = State.NEW
        self._connection = SSL.Connection(certificate.context, None)
        self._connection.set_ciphertext_mtu(MTU_BYTES)
        if role == "server":
            self._connection.set_accept_state()
        else:
            self._connection.set_connect_state()
        self._datagrams_left = MAX_HANDSHAKE_DATAGRAMS
        self._gives_up_at = 0.0
        self._openssl_due: float | None = None
        self._flight: bytes | None = None  # The last flight, if this module can repeat it.
        self._resend_at: float | None = None
        self._resend_after_s = RESEND_FIRST_S
        self._resends_left = 0

    def set_remote_fingerprints(self, fingerprints: Iterable[tuple[str, str]]) -> None:
        """Set the answer's a=fingerprint lines: algorithm in lower case, value as "AA:BB…"."""
        self._fingerprints = [(_DIGESTS[name], value) for name, value in fingerprints if name in _DIGESTS]

    def start(self, now: float) -> None:
        """Start the handshake. As the client, send the first flight. A repeated start does nothing."""
        if self._state is not State.NEW:
            return
        self._transition(Event.STARTED)
        self._gives_up_at = now + HANDSHAKE_TIMEOUT_S
        self._handshake(now)

    def receive(self, datagram: bytes, now: float) -> None:
        """Receive one datagram. The peer's first datagram starts the handshake if necessary."""
        self.start(now)
        if self._state is State.CLOSED:
            self.dropped["closed"] += 1
        elif not _RECORD_HEADER <= len(datagram) <= MAX_DATAGRAM_BYTES:
            self.dropped["size"] += 1
        elif self._state is State.CONNECTED:
            self._connection.bio_write(datagram)
            self._read()
            if datagram[0] in _HANDSHAKE_RECORDS and self._flight and not self.transmits:
                self.transmits.append(self._flight)
        elif self._datagrams_left == 0:
            self.dropped["too many"] += 1
        else:
            self._datagrams_left -= 1
            self._connection.bio_write(datagram)
            self._handshake(now)

    def next_deadline(self) -> float | None:
        """Return the latest time at which to call `advance`, or None if nothing is pending."""
        deadlines = [] if self._resend_at is None else [self._resend_at]
        if self._state is State.HANDSHAKING:
            deadlines.append(self._gives_up_at)
            if self._openssl_due is not None:
                deadlines.append(self._openssl_due)
        return min(deadlines, default=None)

    def advance(self, now: float) -> None:
        """Perform every action that is due at `now`."""
        if self._state is State.HANDSHAKING:
            if now >= self._gives_up_at:
                self._fail("the handshake took too long")
            elif self._openssl_due is not None and now >= self._openssl_due:
                self._let_openssl_retransmit(now)
        if self._flight and self._resend_at is not None and now >= self._resend_at:
            self._resend(self._flight, now)

    def close(self) -> None:
        """Notify the peer that we are closing the connection."""
        # During a handshake, OpenSSL refuses to shut down, so there is nothing to send.
        with suppress(SSL.Error):
            self._connection.shutdown()
        self.transmits += self._output()
        self._transition(Event.ENDED)
        self._flight = self._resend_at = None

    def _transition(self, event: Event) -> None:
        self._state = TRANSITIONS.after(self._state, event)

    def _handshake(self, now: float) -> None:
        try:
            self._connection.do_handshake()
        except SSL.WantReadError:
            self._start_flight(self._output(), now)
            self._arm_openssl_timer(now)
        except SSL.Error as error:
            self._fail(_reason(error))
        else:
            self._finish(now)

    def _finish(self, now: float) -> None:
        """Check the peer's certificate against the fingerprints in its answer. The handshake has proved that
        the peer has the certificate's key.
        """
        if not self._fingerprint_matches():
            self._fail("the certificate does not match the fingerprint of the answer")
            return
        selected = self._connection.get_selected_srtp_profile()
        profile = next((known for known in _PROFILES if known.openssl_name == selected), None)
        if profile is None:
            self._fail("the peer accepts none of our SRTP profiles")
            return
        self._transition(Event.AUTHENTICATED)
        self._flight = self._resend_at = None
        self._resends_left = RESENDS_WHEN_CONNECTED
        self._start_flight(self._output(), now)
        self.events.append(Connected(self._keys(profile)))

    def _fingerprint_matches(self) -> bool:
        certificate = self._connection.get_peer_certificate()
        return certificate is not None and any(
            certificate.digest(algorithm).decode() == value.upper() for algorithm, value in self._fingerprints
        )

    def _keys(self, profile: _Profile) -> SrtpKeys:
        """Extract the SRTP keys, which come in this order: the client's key, the server's key, the client's
        salt, the server's salt (RFC 5764 section 4.2).
        """
        key, salt = profile.key_bytes, profile.salt_bytes
        material = self._connection.export_keying_material(b"EXTRACTOR-dtls_srtp", 2 * (key + salt))
        salts = material[2 * key :]
        client = material[:key] + salts[:salt]
        server = material[key : 2 * key] + salts[salt:]
        local, remote = (server, client) if self._role == "server" else (client, server)
        return SrtpKeys(profile.name, local, remote)

    def _read(self) -> None:
        """Read after the handshake, to detect repeated flights and the closing message. Ignore any other
        data.
        """
        try:
            while True:
                self._connection.recv(_BUFFER)
        except SSL.WantReadError:
            self.transmits += self._output()
        except SSL.Error:
            self.close()
            self.events.append(Closed())

    def _fail(self, reason: str) -> None:
        self.close()
        self.events.append(HandshakeFailed(reason))

    def _output(self) -> list[bytes]:
        try:
            return _datagrams(self._connection.bio_read(_BUFFER))
        except SSL.WantReadError:
            return []

    def _start_flight(self, flight: list[bytes], now: float) -> None:
        if flight:
            self.transmits += flight
            self._flight = flight[0] if len(flight) == 1 else None
            self._resend_after_s = RESEND_FIRST_S
            self._resend_at = now + RESEND_FIRST_S if self._flight else None

    def _resend(self, flight: bytes, now: float) -> None:
        self.transmits.append(flight)
        self._resend_after_s = min(2 * self._resend_after_s, RESEND_LIMIT_S)
        self._resend_at = now + self._resend_after_s
        if self._state is State.CONNECTED:
            self._resends_left -= 1
            if self._resends_left == 0:
                self._resend_at = None

    def _arm_openssl_timer(self, now: float) -> None:
        left_s = self._connection.DTLSv1_get_timeout()
        self._openssl_due = None if left_s is None else now + max(left_s, _TIMER_STEP_S)

    def _let_openssl_retransmit(self, now: float) -> None:
        try:
            self._connection.DTLSv1_handle_timeout()
        except SSL.Error as error:
            self._fail(_reason(error))
            return
        self._start_flight(self._output(), now)
        self._arm_openssl_timer(now)


def _datagrams(records: bytes) -> list[bytes]:
    """Split OpenSSL's output, which the memory buffer has concatenated, into datagrams of whole records."""
    datagrams: list[bytes] = []
    while records:
        size = _RECORD_HEADER + int.from_bytes(records[11:13], "big")
        record, records = records[:size], records[size:]
        if datagrams and len(datagrams[-1]) + len(record) <= MTU_BYTES:
            datagrams[-1] += record
        else:
            datagrams.append(record)
    return datagrams


def _reason(error: SSL.Error) -> str:
    """Return OpenSSL's description of an error, such as "no shared cipher"."""
    entries = error.args[0] if error.args else None
    words = [entry[-1] for entry in entries if entry[-1]] if isinstance(entries, list) else []
    return words[0] if words else "the handshake broke off"
