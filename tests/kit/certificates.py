"""Creates a small certificate authority for tests, and certificates that it signs for this machine.

The keys and certificates are real. They are valid for three months by default.
"""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
QUARTER = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key in PEM format."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the certificate and the key. Return their paths."""
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        certificate.write_bytes(self.certificate)
        key.write_bytes(self.key)
        return certificate, key

    @property
    def serial(self) -> int:
        return x509.load_pem_x509_certificate(self.certificate).serial_number


class Authority:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for tests")])
        unsigned = _builder(self._name, self._name, self._key.public_key(), QUARTER).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self.certificate = unsigned.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def pair(
        self, *, lasting: timedelta = QUARTER, password: bytes | None = None, name: str | None = None
    ) -> Pair:
        """Create a certificate and a key for 127.0.0.1, or for the host `name`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A server for tests")])
        called = x509.DNSName(name) if name else x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        unsigned = _builder(subject, self._name, key.public_key(), lasting).add_extension(
            x509.SubjectAlternativeName([called]), critical=False
        )
        locked = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        return Pair(
            unsigned.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked),
        )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lasting: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * DAY)
        .not_valid_after(now + lasting)
    )
