"""Access tokens: HS256 JWTs that say which member is asking.

Issues and verifies; keeps no list and reads no clock. Spec: chat document section 5.
"""

from dataclasses import dataclass

import jwt

from svc.chat.errors import ChatError

# One evening: a page that loses its connection in a long call comes back with
# the token it has, since there is no other way yet to prove who it is.
LIFETIME_S = 12 * 3600
_MAX_TOKEN_CHARACTERS = 4096
# Tokens of other kinds may be signed with the same secret; none stands in for this one.
_TYPE = "access"


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    nickname: str

    def described(self) -> dict[str, str]:
        """As clients see it."""
        return {"id": self.id, "nickname": self.nickname}


class AccessTokens:
    """Signs and verifies with the one secret of this server."""

    def __init__(self, secret: str) -> None:
        self._key = secret.encode()

    def issue(self, member: Member, now: float) -> str:
        claims = {
            "typ": _TYPE,
            "sub": member.id,
            "nickname": member.nickname,
            "exp": int(now) + LIFETIME_S,
        }
        return jwt.encode(claims, self._key, algorithm="HS256")

    def verify(self, token: str, now: float) -> Member:
        """The member whose token it is; ChatError otherwise."""
        match self._claims(token):
            case {"typ": "access", "sub": str(member_id), "nickname": str(nickname), "exp": int(expiry)}:
                if now < expiry:
                    return Member(member_id, nickname)
        raise ChatError("token_invalid")

    def _claims(self, token: str) -> dict[str, object]:
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise ChatError("token_invalid")
        try:
            # The expiry is compared by the caller, with the time it was given.
            claims: dict[str, object] = jwt.decode(
                token, self._key, algorithms=["HS256"], options={"verify_exp": False}
            )
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            raise ChatError("token_invalid") from None
        return claims
