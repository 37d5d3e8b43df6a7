"""Reads the chat server's TLS certificate and key from files, and reloads them when they change.

New connections use the renewed certificate. If it is unusable, an error is logged and the previous
certificate stays in use. Creates no certificates and opens no ports.
"""

import asyncio
import logging
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from svc.base.config_parsing import ConfigError

# The interval between checks for changed files. It need not be short, because nothing waits for the reload. A
# check between the writes of a new certificate and its key would find a mismatched pair.
LOOK_INTERVAL_S = 5.0
# A certificate that expires within this time triggers a warning. Renewal usually happens a month before
# expiry, so it must have failed.
SOON = timedelta(days=14)
# The cipher suites for TLS 1.2, all with forward secrecy and authenticated encryption as in TLS 1.3 (RFC 9325
# section 4.2).
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"

logger = logging.getLogger(__name__)


class TlsFiles:
    """The TLS certificate in use.

    The constructor raises ConfigError if there is no usable certificate and key. `key` may be the same file
    as `certificate`.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._certificate = certificate
        self._key = key
        self._seen = self._fingerprint()
        self.context, self._leaf = self._read()
        self._warn()

    @property
    def self_signed(self) -> bool:
        """Whether the certificate is self-signed. If so, HSTS must not be sent."""
        return self._leaf.issuer == self._leaf.subject

    async def watch(self) -> None:
        """Reload the files whenever they change."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            if self._fingerprint() != self._seen:
                self.reload()

    def reload(self) -> None:
        """Load the files. If they are unusable, keep the certificate in use."""
        self._seen = self._fingerprint()
        try:
            self.context, self._leaf = self._read()
        except ConfigError as problem:
            logger.error("certificate rejected", extra={"problem": str(problem)})
            return
        logger.info("certificate loaded", extra={"valid_until": f"{self._leaf.not_valid_after_utc:%F %R}Z"})
        self._warn()

    def _fingerprint(self) -> list[tuple[int, int, int]]:
        """Return a value that changes whenever the files change."""
        looks = []
        for path in (self._certificate, self._key):
            try:
                status = path.stat()
            except OSError:
                continue
            looks.append((status.st_mtime_ns, status.st_size, status.st_ino))
        return looks

    def _read(self) -> tuple[ssl.SSLContext, x509.Certificate]:
        leaf = _leaf_of(self._certificate)
        if leaf.public_key() != _private_key_of(self._key).public_key():
            raise ConfigError(f"{self._key} is not the key of the first certificate in {self._certificate}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(CIPHERS)
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._certificate, self._key, password=_no_password)
        except (ssl.SSLError, OSError) as fault:
            raise ConfigError(f"{self._certificate} cannot be used: {fault.strerror or fault}") from None
        return context, leaf

    def _warn(self) -> None:
        fields = {"file": str(self._certificate), "valid_until": f"{self._leaf.not_valid_after_utc:%F %R}Z"}
        now = datetime.now(UTC)
        if now < self._leaf.not_valid_before_utc:
            logger.warning("certificate is not valid yet: is this machine's clock right?", extra=fields)
        elif now >= self._leaf.not_valid_after_utc:
            logger.warning("certificate has expired: browsers refuse it", extra=fields)
        elif now >= self._leaf.not_valid_after_utc - SOON:
            logger.warning("certificate expires soon", extra=fields)


def _leaf_of(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(_content(path))[0]
    except ValueError:
        raise ConfigError(f"{path} contains no PEM certificate") from None


def _private_key_of(path: Path) -> PrivateKeyTypes:
    try:
        return serialization.load_pem_private_key(_content(path), None)
    except TypeError:
        raise ConfigError(f"{path} contains a key with a password. Remove the password") from None
    except ValueError:
        raise ConfigError(f"{path} contains no PEM private key") from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"{path} cannot be read: {fault.strerror}") from None


def _no_password() -> NoReturn:
    raise ssl.SSLError("the key is locked with a password")
