"""Access tokens: HS256 JWTs that say which member is asking, and in which session; and the tokens of bots.

Issues and verifies; keeps no list but the digests of bots' tokens, and reads no clock. A bot's token has no
end: it is good until another one takes its place. A token is good for a quarter of an
hour, and ends earlier with its session or when the member's epoch rises. docs/http.md, "Signing in and
devices".
"""

import base64
import hashlib
import hmac
import re
from contextlib import suppress
from dataclasses import dataclass, field

import jwt

from svc.chat.access.directory import Directory, Member
from svc.chat.errors import ChatError

LIFETIME_S = 15 * 60
# By so much a clock is set back now and then.
CLOCK_SLACK_S = 60
_MAX_TOKEN_CHARACTERS = 4096
# What a bot's token begins with: who finds one in a file knows what it is.
BOT_PREFIX = "svcbot."
# What a bot's live socket is told of when its token ends: it need not come back before.
BOT_LIFETIME_S = 365 * 24 * 60 * 60
# Tokens of other kinds may be signed with the same secret; none stands in for this one.
_TYPE = "access"
# In the header of a request (RFC 9110 section 5, RFC 6750 section 2.1). A page can add nothing to the
# handshake of a WebSocket but subprotocols (RFC 6455 section 1.9): it offers `LIVE_PROTOCOL`, and its token.
LIVE_PROTOCOL = "svc.live"
_SHOWN = {
    b"\r\nauthorization:": re.compile(rb"[ \t]{0,8}bearer[ \t]{1,8}([!-~]+)[ \t]*\r\n", re.IGNORECASE),
    b"\r\nsec-websocket-protocol:": re.compile(
        rb"[ \t]{0,8}svc\.live,[ \t]{0,8}svc\.token\.([!-~]+)[ \t]*\r\n"
    ),
}


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who has shown an access token."""

    member_id: str
    # All tokens of one sign-in share it.
    session_id: str
    # When the token ends, in seconds since 1970.
    expires_at: float = 0.0
    # The member's epoch by then.
    epoch: int = field(default=0, compare=False)
    # Of a bot: the token does not end by itself.
    lasting: bool = False


class AccessTokens:
    """Signs and verifies with the one secret of this server."""

    def __init__(self, secret: str, directory: Directory) -> None:
        self._key = secret.encode()
        self._directory = directory
        # SHA-256 of each bot's token.
        self._bots: dict[str, bytes] = {}

    def accept_bot(self, member_id: str, digest: bytes) -> frozenset[str]:
        """From now on a bot's token is the one with this digest; the sessions that end by that."""
        ended = self._directory.sessions.get(member_id, frozenset()) - {_session_of(digest)}
        self._bots[member_id] = digest
        self._directory.sessions[member_id] = frozenset({_session_of(digest)})
        return ended

    def forget_bot(self, member_id: str) -> frozenset[str]:
        """It has no token; the sessions that end by that."""
        self._bots.pop(member_id, None)
        return self._directory.sessions.pop(member_id, frozenset())

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
        if token.startswith(BOT_PREFIX):
            return self._bot(token, now)
        match self._claims(token):
            case {
                "typ": "access",
                "sub": str(member_id),
                "sid": str(session_id),
                "epoch": int(epoch),
                "exp": int(expiry),
            }:
                member = self._directory.members.get(member_id)
                current = member is not None and member.epoch == epoch
                # One that ends later was issued by a clock that was wrong.
                in_time = now < expiry <= now + LIFETIME_S + CLOCK_SLACK_S
                if in_time and current and self._directory.has_session(member_id, session_id):
                    return Asker(member_id, session_id, expiry, epoch)
        raise ChatError("token_invalid")

    def shown_in(self, said: bytes, now: float) -> str | None:
        """Whose valid token a request begins with: this says who goes first, and allows nothing."""
        lowered = said.lower()
        for name, token in _SHOWN.items():
            at = lowered.find(name)
            shown = token.match(said, at + len(name)) if at >= 0 else None
            if shown is not None:
                with suppress(ChatError):
                    return self.verify(shown[1].decode("ascii"), now).member_id
        return None

    def require_standing(self, asker: Asker) -> None:
        """Raises ChatError where somebody has been sent away, or signed out, since they showed a token."""
        member = self._directory.members.get(asker.member_id)
        current = member is not None and member.epoch == asker.epoch
        if not current or not self._directory.has_session(asker.member_id, asker.session_id):
            raise ChatError("token_invalid")

    def _bot(self, token: str, now: float) -> Asker:
        if len(token) > _MAX_TOKEN_CHARACTERS or not token.isascii():
            raise ChatError("token_invalid")
        member_id, _, _ = token.removeprefix(BOT_PREFIX).rpartition(".")
        known, member = self._bots.get(member_id), self._directory.members.get(member_id)
        digest = hashlib.sha256(token.encode()).digest()
        if known is None or member is None or not hmac.compare_digest(known, digest):
            raise ChatError("token_invalid")
        return Asker(member_id, _session_of(digest), now + BOT_LIFETIME_S, member.epoch, lasting=True)

    def _claims(self, token: str) -> dict[str, object]:
        if len(token) > _MAX_TOKEN_CHARACTERS or not self._is_signed(token):
            raise ChatError("token_invalid")
        try:
            # The expiry is compared by the caller, with the time it was given.
            claims: dict[str, object] = jwt.decode(
                token, self._key, algorithms=["HS256"], options={"verify_exp": False}
            )
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            raise ChatError("token_invalid") from None
        return claims

    def _is_signed(self, token: str) -> bool:
        """Looked at first: PyJWT takes long for what somebody has made up, as it reads all of it before."""
        said, _, signature = token.encode("utf-8", "replace").rpartition(b".")
        own = base64.urlsafe_b64encode(hmac.digest(self._key, said, "sha256")).rstrip(b"=")
        return hmac.compare_digest(own, signature)


def _session_of(digest: bytes) -> str:
    """What stands for a session of a bot: it changes with its token."""
    return f"bot-{digest[:12].hex()}"
