"""Sealed secrets can be opened only with the key, and only for the owner they were sealed for."""

import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.base.config_parsing import ConfigError
from svc.base.sealing_key import KEY_BYTES, SealingKey

KEY = SealingKey(b"k" * KEY_BYTES, secrets.token_bytes)
OTHER = SealingKey(b"o" * KEY_BYTES, secrets.token_bytes)


@given(st.text(), st.text())
def test_a_sealed_secret_can_be_opened_for_its_owner(secret: str, owner: str) -> None:
    assert KEY.open(KEY.seal(secret, owner), owner) == secret


def test_a_sealed_secret_cannot_be_opened_for_any_other_owner() -> None:
    sealed = KEY.seal("secret", "one")
    assert KEY.open(sealed, "two") is None
    assert OTHER.open(sealed, "one") is None
    assert b"secret" not in sealed


@pytest.mark.parametrize("position", [0, 11, 12, -1])
def test_a_sealed_secret_that_was_changed_cannot_be_opened(position: int) -> None:
    sealed = bytearray(KEY.seal("secret", "one"))
    sealed[position] ^= 1
    assert KEY.open(bytes(sealed), "one") is None


@pytest.mark.parametrize("sealed", [b"", b"short", b"n" * 12, b"n" * 28])
def test_data_that_was_not_sealed_cannot_be_opened(sealed: bytes) -> None:
    assert KEY.open(sealed, "one") is None


def test_the_same_secret_is_sealed_differently_each_time() -> None:
    assert KEY.seal("secret", "one") != KEY.seal("secret", "one")


def test_a_fingerprint_depends_on_the_secret_the_owner_and_the_key() -> None:
    prints = {
        KEY.fingerprint("secret", "one"),
        KEY.fingerprint("secrets", "one"),
        KEY.fingerprint("secret", "two"),
        OTHER.fingerprint("secret", "one"),
    }
    assert len(prints) == 4
    assert KEY.fingerprint("secret", "one") in prints


def test_the_sealing_key_is_created_only_once(tmp_path: Path) -> None:
    path = tmp_path / "key"
    sealed = SealingKey.load(path).seal("secret", "one")
    assert SealingKey.load(path).open(sealed, "one") == "secret"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["abc", "zz" * KEY_BYTES, "00" * (KEY_BYTES - 1)])
def test_startup_fails_if_the_sealing_key_is_damaged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(ConfigError):
        SealingKey.load(path)
