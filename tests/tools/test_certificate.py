"""A server's self-signed certificate has the right contents, and is replaced when necessary."""

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from svc.base.config_parsing import ConfigError
from svc.tools.certificate import (
    FILE_NAME,
    LIFETIME,
    RENEWED_BEFORE,
    fingerprint,
    hosts_of,
    read_or_create_certificate,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOSTS = ["localhost", "home", "192.0.2.7"]


def made(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / FILE_NAME).read_bytes())


def names_in(certificate: x509.Certificate) -> list[str]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [str(name.value) for name in names]


def test_the_certificate_names_every_host_once_and_is_private(tmp_path: Path) -> None:
    path = read_or_create_certificate(tmp_path / "data", [*HOSTS, "home"], NOW, passing=["2001:db8::7"])
    assert names_in(made(path.parent)) == [*HOSTS, "2001:db8::7"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_certificate_cannot_sign_other_certificates_and_lasts_as_long_as_browsers_allow(
    tmp_path: Path,
) -> None:
    read_or_create_certificate(tmp_path, HOSTS, NOW)
    certificate = made(tmp_path)
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not certificate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    lasts = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    assert lasts == LIFETIME <= timedelta(days=398)
    assert certificate.not_valid_before_utc < NOW


def test_the_certificate_is_kept_while_its_hosts_are_the_same(tmp_path: Path) -> None:
    first = read_or_create_certificate(tmp_path, HOSTS, NOW).read_bytes()
    assert read_or_create_certificate(tmp_path, HOSTS[:2], NOW + timedelta(days=300)).read_bytes() == first
    # A changed certificate would cause a browser warning.
    assert read_or_create_certificate(tmp_path, HOSTS, NOW, passing=["2001:db8::8"]).read_bytes() == first


@pytest.mark.parametrize(
    ("hosts", "now"),
    [
        ([*HOSTS, "198.51.100.9"], NOW),
        (HOSTS, NOW + LIFETIME - RENEWED_BEFORE),
        (HOSTS, NOW - timedelta(days=2)),
    ],
    ids=["another address", "it expires soon", "the clock is wrong"],
)
def test_the_certificate_is_replaced_when_its_hosts_change(
    tmp_path: Path, hosts: list[str], now: datetime
) -> None:
    first = fingerprint(read_or_create_certificate(tmp_path, HOSTS, NOW))
    assert fingerprint(read_or_create_certificate(tmp_path, hosts, now)) != first
    assert set(hosts) <= set(names_in(made(tmp_path)))


def test_openssl_accepts_the_certificate(tmp_path: Path) -> None:
    path = read_or_create_certificate(tmp_path, HOSTS, NOW)
    context = ssl.create_default_context(cafile=str(path))
    assert len(context.get_ca_certs()) == 0, "the certificate is not an authority"
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)


def test_the_fingerprint_is_the_one_that_openssl_prints(tmp_path: Path) -> None:
    shown = fingerprint(read_or_create_certificate(tmp_path, HOSTS, NOW))
    assert len(shown.split(":")) == 32
    assert shown == shown.upper()


def test_a_damaged_certificate_is_reported_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("nothing")
    with pytest.raises(ConfigError, match=r"tls\.pem is damaged"):
        read_or_create_certificate(tmp_path, HOSTS, NOW)


ADDRESSES = ["127.0.0.1", "192.0.2.7", "169.254.1.1", "::1", "2001:db8::7", "fe80::1"]


@pytest.mark.parametrize(
    ("host", "names", "lasting", "passing"),
    [
        ("0.0.0.0", [], ["localhost", "pi", "pi.local", "127.0.0.1", "192.0.2.7"], ["::1", "2001:db8::7"]),
        ("127.0.0.1", [], ["localhost", "pi", "pi.local", "127.0.0.1"], []),
        (
            "192.0.2.7",
            ["chat.example:8443", "chat.example", "[2001:db8::1]:8443", "2001:db8::2"],
            [
                *("localhost", "pi", "pi.local", "chat.example", "chat.example"),
                *("2001:db8::1", "2001:db8::2", "192.0.2.7"),
            ],
            [],
        ),
    ],
)
def test_the_hosts_include_the_machine_name_the_operators_hosts_and_the_addresses(
    host: str, names: list[str], lasting: list[str], passing: list[str]
) -> None:
    assert hosts_of(host, names, ADDRESSES, "pi") == (lasting, passing)


def test_an_invalid_host_name_is_left_out() -> None:
    assert hosts_of("127.0.0.1", [], [], "a_b c") == (["localhost", "127.0.0.1"], [])
