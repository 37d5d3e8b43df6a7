"""Access tokens: HS256 JWTs that say which member is asking, and in which session.

Issues and verifies; keeps no list and reads no clock. A token is good for a quarter of an
hour, and not even that long once the member's epoch has risen. Spec: chat document section 5.
"""

from dataclasses import dataclass

import jwt

from svc.chat.access.directory import Directory, Member
from svc.chat.errors import ChatError

LIFETIME_S = 15 * 60
_MAX_TOKEN_CHARACTERS = 4096
# Tokens of other kinds may be signed with the same secret; none stands in for this one.
_TYPE = "access"


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who has shown an access token."""

    member_id: str
    # All tokens of one sign-in share it.
    session_id: str
    # When the token ends, in seconds since 1970.
    expires_at: float = 0.0


class AccessTokens:
    """Signs and verifies with the one secret of this server."""

    def __init__(self, secret: str, directory: Directory) -> None:
        self._key = secret.encode()
        self._directory = directory

    def issue(self, member: Member, session_id: str, now: float) -> str:
        claims = {
            "typ": _TYPE,
            "sub": member.id,
            "sid": session_id,
            "epoch": member.epoch,
            "exp": int(now) + LIFETIME_S,
        }
        return jwt.encode(claims, self._key, algorithm="HS256")

    def verify(self, token: str, now: float) -> Asker:
        """Whose token it is; ChatError otherwise."""
        match self._claims(token):
            case {
                "typ": "access",
                "sub": str(member_id),
                "sid": str(session_id),
                "epoch": int(epoch),
                "exp": int(expiry),
            }:
                member = self._directory.members.get(member_id)
                if now < expiry and member is not None and member.epoch == epoch:
                    return Asker(member_id, session_id, expiry)
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
