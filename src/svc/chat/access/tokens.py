"""Issues and verifies access tokens (HS256 JWTs for a member and a session) and bot tokens.

Stores only digests of bot tokens, and does not read the clock. An access token is valid for 15 minutes, or
until its session ends or the member's epoch is incremented. A bot token is valid until it is replaced. See
docs/http.md, "Signing in and devices".
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
# The tolerance for clock corrections.
CLOCK_SLACK_S = 60
_MAX_TOKEN_CHARACTERS = 4096
# The prefix of bot tokens, which makes leaked tokens recognisable.
BOT_PREFIX = "svcbot."
# The token lifetime that the live socket reports to a bot, so that the bot does not renew its sign-in.
BOT_LIFETIME_S = 365 * 24 * 60 * 60
# The token type. It is checked, because other kinds of token may be signed with the same secret.
_TYPE = "access"
# Patterns for a token in a request's headers (RFC 9110 section 5, RFC 6750 section 2.1). Pages can add
# nothing but subprotocols to a WebSocket handshake (RFC 6455 section 1.9), so they offer `LIVE_PROTOCOL` and
# their token.
LIVE_PROTOCOL = "svc.live"
_SHOWN = {
    b"\r\nauthorization:": re.compile(rb"[ \t]{0,8}bearer[ \t]{1,8}([!-~]+)[ \t]*\r\n", re.IGNORECASE),
    b"\r\nsec-websocket-protocol:": re.compile(
        rb"[ \t]{0,8}svc\.live,[ \t]{0,8}svc\.token\.([!-~]+)[ \t]*\r\n"
    ),
}


@dataclass(frozen=True, slots=True)
class Session:
    """The member and session of a verified access token."""

    member_id: str
    # Shared by all tokens that result from the same sign-in.
    session_id: str
    # The token's expiry in seconds since 1970.
    expires_at: float = 0.0
    # The member's epoch when the token was issued.
    epoch: int = field(default=0, compare=False)
    # Whether this is a bot token, which does not expire.
    lasting: bool = False


class AccessTokens:
    """The issuer and verifier of access tokens, which are signed with the server's secret. Also verifies bot
    tokens.
    """

    def __init__(self, secret: str, directory: Directory) -> None:
        self._key = secret.encode()
        self._directory = directory
        # SHA-256 of each bot's token.
        self._bots: dict[str, bytes] = {}

    def accept_bot(self, member_id: str, digest: bytes) -> frozenset[str]:
        """Accept a new bot token with the given digest. End the previous token's sessions and return their
        ids.
        """
        ended = self._directory.sessions.get(member_id, frozenset()) - {_session_of(digest)}
        self._bots[member_id] = digest
        self._directory.sessions[member_id] = frozenset({_session_of(digest)})
        return ended

    def forget_bot(self, member_id: str) -> frozenset[str]:
        """Remove a bot's token. Return the ids of the sessions that this ends."""
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

    def verify(self, token: str, now: float) -> Session:
        """Return the token's member and session. Raises ChatError for an invalid token."""
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
                # A token with a later expiry was issued while the clock was wrong.
                in_time = now < expiry <= now + LIFETIME_S + CLOCK_SLACK_S
                if in_time and current and self._directory.has_session(member_id, session_id):
                    return Session(member_id, session_id, expiry, epoch)
        raise ChatError("token_invalid")

    def member_in(self, head: bytes, now: float) -> str | None:
        """Return the member whose valid token is in the given request headers, or None.

        The result affects only priority, never access.
        """
        lowered = head.lower()
        for name, token in _SHOWN.items():
            at = lowered.find(name)
            shown = token.match(head, at + len(name)) if at >= 0 else None
            if shown is not None:
                with suppress(ChatError):
                    return self.verify(shown[1].decode("ascii"), now).member_id
        return None

    def require_standing(self, session: Session) -> None:
        """Raise ChatError if the member has been removed or signed out since presenting the token."""
        member = self._directory.members.get(session.member_id)
        current = member is not None and member.epoch == session.epoch
        if not current or not self._directory.has_session(session.member_id, session.session_id):
            raise ChatError("token_invalid")

    def _bot(self, token: str, now: float) -> Session:
        if len(token) > _MAX_TOKEN_CHARACTERS or not token.isascii():
            raise ChatError("token_invalid")
        member_id, _, _ = token.removeprefix(BOT_PREFIX).rpartition(".")
        known, member = self._bots.get(member_id), self._directory.members.get(member_id)
        digest = hashlib.sha256(token.encode()).digest()
        if known is None or member is None or not hmac.compare_digest(known, digest):
            raise ChatError("token_invalid")
        return Session(member_id, _session_of(digest), now + BOT_LIFETIME_S, member.epoch, lasting=True)

    def _claims(self, token: str) -> dict[str, object]:
        if len(token) > _MAX_TOKEN_CHARACTERS or not self._is_signed(token):
            raise ChatError("token_invalid")
        try:
            # `verify` checks the expiry against the given time.
            claims: dict[str, object] = jwt.decode(
                token, self._key, algorithms=["HS256"], options={"verify_exp": False}
            )
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            raise ChatError("token_invalid") from None
        return claims

    def _is_signed(self, token: str) -> bool:
        """Check the signature before the token is parsed. PyJWT would parse a forged token before it checks
        the signature, which is slow.
        """
        signed_part, _, signature = token.encode("utf-8", "replace").rpartition(b".")
        own = base64.urlsafe_b64encode(hmac.digest(self._key, signed_part, "sha256")).rstrip(b"=")
        return hmac.compare_digest(own, signature)


def _session_of(digest: bytes) -> str:
    """Return the session id for a bot's token. A new token has a different session id."""
    return f"bot-{digest[:12].hex()}"
