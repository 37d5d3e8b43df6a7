"""Push messages are encrypted according to RFC 8291, and the server's key survives restarts."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key

from svc.base.config_parsing import ConfigError
from svc.chat.push.encryption import (
    VapidKey,
    base64url,
    encrypt,
    from_base64url,
    is_public_key,
    public_bytes,
)

# RFC 8291 appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SECRET, SALT = "BTBZMqHH6r4Tts7J_aSIgg", "DGv6ra1nlYgDCS1FRnbzlw"
SENT = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
    "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_in_rfc_8291_is_reproduced() -> None:
    sender = derive_private_key(int.from_bytes(from_base64url(SENDER), "big"), SECP256R1())
    sent = encrypt(
        PLAIN,
        receiver=from_base64url(RECEIVER),
        secret=from_base64url(SECRET),
        sender=sender,
        salt=from_base64url(SALT),
    )
    assert base64url(sent) == SENT


def test_padding_hides_the_length_of_a_notification() -> None:
    sender = derive_private_key(7, SECP256R1())
    lengths = {
        len(
            encrypt(
                plain,
                receiver=from_base64url(RECEIVER),
                secret=from_base64url(SECRET),
                sender=sender,
                salt=from_base64url(SALT),
                padded_to=100,
            )
        )
        for plain in (b"", b"short", bytes(100))
    }
    assert len(lengths) == 1


def test_a_key_that_is_not_a_point_on_the_curve_is_invalid() -> None:
    point = from_base64url(RECEIVER)
    assert is_public_key(point)
    assert not is_public_key(point[:-1] + b"\0") and not is_public_key(b"") and not is_public_key(point[:33])


def test_the_servers_key_is_created_once_and_only_the_server_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "data" / "push-key"
    first, again = (VapidKey.load(path, lambda: "https://chat.example") for _ in range(2))
    assert first.public == again.public and path.stat().st_mode & 0o077 == 0
    assert is_public_key(from_base64url(first.public))
    path.write_text("damaged")
    with pytest.raises(ConfigError, match="push-key is damaged"):
        VapidKey.load(path, lambda: "https://chat.example")


def test_the_public_key_belongs_to_the_private_key() -> None:
    key = derive_private_key(7, SECP256R1())
    assert VapidKey(key, lambda: "https://chat.example").public == base64url(public_bytes(key))
