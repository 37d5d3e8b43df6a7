"""The core's HMAC-SHA1 agrees with Python's, with and without OpenSSL."""

import hmac
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.sha1 import OPENSSL, hmac_sha1_digest

# Lengths near the end of a block, and near the point where the padding no longer fits.
EDGES = (0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1500)


@pytest.mark.parametrize("message", EDGES)
@pytest.mark.parametrize("secret", EDGES)
def test_digests_around_the_block_length_agree_with_hashlib(secret: int, message: int) -> None:
    key, text = bytes(range(256)) * 6, bytes(reversed(range(256))) * 6
    assert hmac_sha1_digest(key[:secret], text[:message]) == hmac.digest(key[:secret], text[:message], "sha1")


@given(st.binary(max_size=200), st.binary(max_size=600))
def test_digests_of_any_secret_and_message_agree_with_hashlib(secret: bytes, message: bytes) -> None:
    assert hmac_sha1_digest(secret, message) == hmac.digest(secret, message, "sha1")


def test_the_core_finds_openssl_for_hmac() -> None:
    assert OPENSSL


CHECK_WITHOUT = """
import _hashlib, hmac
from pylibsrtp import _binding
_binding.__file__ = _hashlib.__file__ = "/nowhere"
from svc._rtp import sha1
for secret in (b"", b"a password of 22 chars", bytes(64), bytes(65)):
    assert sha1.hmac_sha1_digest(secret, b"message") == hmac.digest(secret, b"message", "sha1")
print(sha1.OPENSSL)
"""


def test_without_openssl_python_computes_the_hmac() -> None:
    result = subprocess.run([sys.executable, "-c", CHECK_WITHOUT], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False"]
