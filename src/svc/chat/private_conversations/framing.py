"""Parses the unencrypted framing around MLS messages, the only part that the server can read.

This module parses private messages, Welcomes and key packages. It verifies no signatures, decrypts nothing
and performs no I/O. Public messages are not parsed, because devices also encrypt their handshake messages.
See RFC 9420 sections 2.1.2, 5.2, 6, 7.2, 10 and 12.4.3.1.
"""

import hashlib
from dataclasses import dataclass

MLS_1_0 = 1
# MLS_128_DHKEMP256_AES128GCM_SHA256_P256, the only suite supported by the Web Crypto API of every browser.
SUITE = 2
# The maximum number of devices in a group, and therefore of a Welcome's recipients.
MAX_RECIPIENTS = 200
APPLICATION, COMMIT = 1, 3
_PRIVATE_MESSAGE, _WELCOME, _KEY_PACKAGE = 2, 3, 5
_BASIC_CREDENTIAL = 1
_FROM_KEY_PACKAGE = 1
_REF_LABEL = b"MLS 1.0 KeyPackage Reference"
# A length below the first bound is encoded in one byte, below the second in two, and otherwise in four.
_ONE_BYTE, _TWO_BYTES = 1 << 6, 1 << 14


class FramingError(ValueError):
    """The data is not a valid message of the expected type. The error message gives the reason."""


@dataclass(frozen=True, slots=True)
class PrivateMessage:
    group_id: bytes
    epoch: int
    content_type: int
    # Authenticated together with the ciphertext, but not encrypted.
    authenticated_data: bytes


@dataclass(frozen=True, slots=True)
class KeyPackage:
    """A key package. Welcomes refer to it by `ref`. `identity` comes from its credential."""

    ref: bytes
    signature_key: bytes
    identity: bytes
    not_before: int
    not_after: int


def read_private_message(data: bytes) -> PrivateMessage:
    """Parse a PrivateMessage. Raises FramingError."""
    reader = _open_message(data, _PRIVATE_MESSAGE)
    message = PrivateMessage(reader.vector(), reader.number(8), reader.number(1), reader.vector())
    for _ in ("sender data", "ciphertext"):
        reader.vector()
    reader.end()
    return message


def read_welcome(data: bytes) -> frozenset[bytes]:
    """Parse a Welcome. Return the references to its recipients' key packages. Raises FramingError."""
    reader = _open_message(data, _WELCOME)
    _require_suite(reader)
    secrets = _Reader(reader.vector())
    reader.vector()
    reader.end()
    recipients: set[bytes] = set()
    count = 0
    while secrets.remaining():
        recipients.add(secrets.vector())
        for _ in ("KEM output", "ciphertext"):
            secrets.vector()
        count += 1
        if count > MAX_RECIPIENTS or count > len(recipients):
            raise FramingError("a Welcome names each of at most 200 devices once")
    if not recipients:
        raise FramingError("a Welcome has no recipients")
    return frozenset(recipients)


def read_key_package(data: bytes) -> KeyPackage:
    """Parse a key package. Raises FramingError."""
    reader = _open_message(data, _KEY_PACKAGE)
    package = reader.read_all()
    if reader.number(2) != MLS_1_0:
        raise FramingError("the key package has another version of MLS")
    _require_suite(reader)
    reader.vector()  # The key to which the Welcome is encrypted.
    reader.vector()  # The key of the device's leaf in the tree.
    signature_key = reader.vector()
    if reader.number(2) != _BASIC_CREDENTIAL:
        raise FramingError("the credential must be a basic one")
    identity = reader.vector()
    for _ in ("versions", "suites", "extensions", "proposals", "credentials"):
        reader.vector()
    if reader.number(1) != _FROM_KEY_PACKAGE:
        raise FramingError("the leaf must be that of a key package")
    not_before, not_after = reader.number(8), reader.number(8)
    for _ in ("leaf's extensions", "leaf's signature", "extensions", "signature"):
        reader.vector()
    reader.end()
    return KeyPackage(key_package_ref(package), signature_key, identity, not_before, not_after)


def key_package_ref(package: bytes) -> bytes:
    """Return a key package's reference (RFC 9420 section 5.2)."""
    return hashlib.sha256(_vector(_REF_LABEL) + _vector(package)).digest()


def _vector(data: bytes) -> bytes:
    size = len(data)
    if size < _ONE_BYTE:
        return size.to_bytes(1) + data
    if size < _TWO_BYTES:
        return (size | 0x4000).to_bytes(2) + data
    return (size | 0x8000_0000).to_bytes(4) + data


def _open_message(data: bytes, wire_format: int) -> "_Reader":
    reader = _Reader(data)
    if reader.number(2) != MLS_1_0:
        raise FramingError("it has another version of MLS")
    if reader.number(2) != wire_format:
        raise FramingError("it is another kind of MLS message")
    return reader


def _require_suite(reader: "_Reader") -> None:
    if reader.number(2) != SUITE:
        raise FramingError("the suite must be MLS_128_DHKEMP256_AES128GCM_SHA256_P256")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def remaining(self) -> int:
        return len(self._data) - self._at

    def read_all(self) -> bytes:
        return self._data[self._at :]

    def number(self, size: int) -> int:
        return int.from_bytes(self._take(size))

    def vector(self) -> bytes:
        """Read a vector. Its length must be encoded in as few bytes as possible (RFC 9420 section 2.1.2)."""
        first = self.number(1)
        more = (1 << (first >> 6)) - 1
        if first >> 6 == 3:
            raise FramingError("a length has one, two or four bytes")
        size = (first & 0x3F) << (8 * more) | self.number(more)
        if more and size < (_ONE_BYTE if more == 1 else _TWO_BYTES):
            raise FramingError("a length is encoded in more bytes than necessary")
        return self._take(size)

    def end(self) -> None:
        if self.remaining():
            raise FramingError("there is data after its end")

    def _take(self, size: int) -> bytes:
        if size > self.remaining():
            raise FramingError("it is cut short")
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken
