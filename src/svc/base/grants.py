"""Issues and checks the grant that admits a member to one voice room.

The chat server issues grants, and the media service checks them. The module does not remember used `jti`
values (the verifier's caller does) and never reads a clock. See docs/signalling.md, "From participants".

Functions import `jwt` when they need it, because programs that only compare secrets start faster without it.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

CAPS = frozenset({"speak", "share_video", "share_screen"})
MAX_LIFETIME_S = 300
# Tokens longer than this are rejected before decoding. Our tokens are about 400 characters long.
MAX_TOKEN_CHARACTERS = 2048
_MAX_JTI_CHARACTERS = 128
_CLAIMS = ("iss", "sub", "room", "exp", "jti", "caps")


class GrantError(Exception):
    """The token does not admit its bearer. The message contains no secrets."""


@dataclass(frozen=True, slots=True)
class UserToken:
    user_id: str
    room_id: str
    caps: frozenset[str]
    jti: str
    expires_at: float


def client_credential(server_password: str, server_id: str) -> str:
    """Return the `server_password` that members send. It is derived from the real password, which members
    never learn.
    """
    return _derive(server_password, f"client:{server_id}").hex()


def issue_user_token(
    server_password: str,
    server_id: str,
    *,
    user_id: str,
    room_id: str,
    caps: Iterable[str],
    now: float,
    jti: str,
    lifetime_s: int = MAX_LIFETIME_S,
) -> str:
    """Sign a single-use token that admits one user to one room."""
    import jwt

    granted = sorted(caps)
    assert CAPS.issuperset(granted), "only known capabilities are granted"
    assert 0 < lifetime_s <= MAX_LIFETIME_S, "a grant is valid for at most five minutes"
    claims = {
        "iss": server_id,
        "sub": user_id,
        "room": room_id,
        "exp": int(now) + lifetime_s,
        "jti": jti,
        "caps": granted,
    }
    return jwt.encode(claims, _signing_key(server_password, server_id), algorithm="HS256")


def verify_user_token(
    token: str, server_password: str, server_id: str, *, user_id: str, room_id: str, now: float
) -> UserToken:
    """Verify that a token admits this user to this room at `now`. Raises GrantError."""
    claims = _decode(token, _signing_key(server_password, server_id))
    if (claims["iss"], claims["sub"], claims["room"]) != (server_id, user_id, room_id):
        raise GrantError("the token is for another user or another room")
    return UserToken(
        user_id=user_id,
        room_id=room_id,
        caps=_caps(claims["caps"]),
        jti=_jti(claims["jti"]),
        expires_at=_expiry(claims["exp"], now),
    )


def same_secret(given: str, expected: str) -> bool:
    """Compare two secrets in constant time, so that timing reveals neither the matching part nor the
    length.
    """
    return hmac.compare_digest(_digest(given), _digest(expected))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _derive(server_password: str, message: str) -> bytes:
    return hmac.digest(server_password.encode(), message.encode(), hashlib.sha256)


def _signing_key(server_password: str, server_id: str) -> bytes:
    return _derive(server_password, f"token:{server_id}")


def _decode(token: str, key: bytes) -> dict[str, object]:
    import jwt

    if len(token) > MAX_TOKEN_CHARACTERS:
        raise GrantError("the token is too long")
    # The library would check times against its own clock, so every claim is checked here instead.
    options: jwt.types.Options = {"verify_signature": True, "verify_exp": False, "verify_iat": False}
    options |= {"verify_nbf": False, "verify_iss": False, "verify_aud": False}
    options |= {"verify_sub": False, "verify_jti": False}
    try:
        claims: dict[str, object] = jwt.decode(token, key, algorithms=["HS256"], options=options)
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise GrantError("the token is not signed by this server") from None
    if missing := [name for name in _CLAIMS if name not in claims]:
        raise GrantError(f"the token lacks {', '.join(missing)}")
    return claims


def _caps(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(cap, str) and cap in CAPS for cap in value):
        raise GrantError("the token grants an unknown capability")
    return frozenset(value)


def _jti(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_JTI_CHARACTERS:
        raise GrantError("the token has no usable id")
    return value


def _expiry(value: object, now: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GrantError("the token has no usable expiry")
    # Compare the number but never compute with it, because JSON allows numbers too large for a float.
    if not value > now:
        raise GrantError("the token has expired")
    if value > now + MAX_LIFETIME_S:
        raise GrantError("the token is valid for more than five minutes")
    return float(value)
