"""Creates a self-signed certificate, stores it in the data folder, and replaces it when necessary.

No authority signs the certificate, so browsers warn once and show the fingerprint for comparison. The
certificate cannot sign other certificates. Its profile follows RFC 5280, and the CA/Browser Forum's rules
where browsers enforce them.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from svc.base.config_parsing import ConfigError
from svc.base.private_files import replace_text

# The certificate and the key are in one file, so that both change together.
FILE_NAME = "tls.pem"
# Apple's systems reject certificates that are valid for more than 825 days, regardless of who signed them.
# Other systems allow only 398 days.
LIFETIME = timedelta(days=390)
# Renew this early, so that even a server that is started only once a month never shows an expired
# certificate.
RENEWED_BEFORE = timedelta(days=45)
# The validity period starts in the past, because a phone's clock may be slow.
_EARLIER = timedelta(days=1)
_MAX_NAME_CHARACTERS = 253


def read_or_create_certificate(
    data_dir: Path, hosts: Sequence[str], now: datetime, *, passing: Sequence[str] = ()
) -> Path:
    """Return the file with the certificate and key for these names and addresses. Raises ConfigError.

    A new certificate is created if there is none, or if the old certificate expires soon or lacks one of
    `hosts`. Browsers then warn again. The `passing` addresses change often, so they are included but never
    cause a new certificate to be created.
    """
    path = data_dir / FILE_NAME
    try:
        fits = _fits(x509.load_pem_x509_certificate(path.read_bytes()), hosts, now)
    except FileNotFoundError:
        fits = False
    except ValueError:
        raise ConfigError(f"{path} is damaged; delete it and the server will create a new one") from None
    except OSError as fault:
        raise ConfigError(f"{path} cannot be read: {fault.strerror}") from None
    if not fits:
        replace_text(path, _made([*hosts, *passing], now))
    return path


def hosts_of(
    host: str, names: Sequence[str], addresses: Sequence[str], hostname: str
) -> tuple[list[str], list[str]]:
    """Return the permanent names and addresses of a server that listens on `host`, and its temporary
    addresses.

    `names` are the names in EXTERNAL_HOST. `addresses` are this machine's addresses. Many IPv6 addresses
    change every day.
    """
    local = [hostname] if "." in hostname else [hostname, f"{hostname}.local"]
    lasting = ["localhost", *filter(_is_name, local), *map(_without_port, names)]
    if host not in ("0.0.0.0", "::"):
        return [*lasting, host], []
    ips = [ip for ip in map(ip_address, addresses) if not ip.is_link_local]
    lasting += [str(ip) for ip in ips if ip.version == 4]
    return lasting, [str(ip) for ip in ips if ip.version == 6]


def fingerprint(path: Path) -> str:
    """Return the SHA-256 fingerprint as browsers display it."""
    der = x509.load_pem_x509_certificate(path.read_bytes()).public_bytes(serialization.Encoding.DER)
    return hashlib.sha256(der).digest().hex(":").upper()


def _fits(certificate: x509.Certificate, hosts: Iterable[str], now: datetime) -> bool:
    timely = certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - RENEWED_BEFORE
    certified = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return timely and {*map(_general_name, hosts)} <= {*certified}


def _made(hosts: Sequence[str], now: datetime) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "svc, made by this server itself")])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now - _EARLIER + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([*dict.fromkeys(map(_general_name, hosts))]), False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
        .add_extension(usage, True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (certificate.public_bytes(serialization.Encoding.PEM) + private).decode()


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*", text) is not None


def _without_port(name: str) -> str:
    try:
        return str(ip_address(name))
    except ValueError:
        return urlsplit(f"//{name}").hostname or name


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host.partition("%")[0]))
    except ValueError:
        return x509.DNSName(host.encode("idna").decode("ascii").lower()[:_MAX_NAME_CHARACTERS])
