"""Creates and checks refresh tokens, each derived from a session's row and the server's secret.

A refresh token can be used only once: each refresh increments the session's generation, and only the token
for the current generation is valid. For half a minute, the previous token can be exchanged again for the
current one, because two tabs might refresh at the same time and responses can be lost. If an older token is
used, that token or a later one has been stolen, so the whole session ends. The database contains no tokens,
and without the secret no token can be derived from it. Performs no I/O. See docs/http.md, "Signing in and
devices".
"""

import enum
import hashlib
import hmac
from dataclasses import dataclass

GRACE_MS = 30_000
SALT_BYTES = 16
MAX_TOKEN_CHARACTERS = 256
_MAX_GENERATION_DIGITS = 12


@dataclass(frozen=True, slots=True)
class StoredSession:
    id: str
    member_id: str
    device_id: str
    salt: bytes
    generation: int
    rotated_at_ms: int
    expires_at_ms: int


class Verdict(enum.Enum):
    ROTATE = enum.auto()  # Valid: advance to the next generation.
    REPEAT = enum.auto()  # The next token was issued moments ago: return it again.
    STOLEN = enum.auto()  # The next token was issued long ago: end the session.
    REFUSE = enum.auto()  # Not issued by this server, or expired.


@dataclass(frozen=True, slots=True)
class ParsedRefreshToken:
    """A parsed, unverified refresh token."""

    session_id: str
    generation: int
    proof: str


class RefreshTokens:
    def __init__(self, secret: str) -> None:
        # A key for this purpose only, so that nothing else signed with the secret passes as a refresh token.
        self._key = hmac.digest(secret.encode(), b"refresh tokens", hashlib.sha256)

    def token(self, session: StoredSession) -> str:
        """Return the currently valid token."""
        return f"{session.id}.{session.generation}.{self._proof(session, session.generation)}"

    def judge(self, shown: ParsedRefreshToken, session: StoredSession | None, now_ms: int) -> Verdict:
        if session is None or now_ms >= session.expires_at_ms:
            return Verdict.REFUSE
        if not hmac.compare_digest(shown.proof, self._proof(session, shown.generation)):
            return Verdict.REFUSE
        if shown.generation == session.generation:
            return Verdict.ROTATE
        if shown.generation > session.generation:
            # The database must have been restored from an older backup.
            return Verdict.REFUSE
        just_now = now_ms - session.rotated_at_ms <= GRACE_MS
        return Verdict.REPEAT if just_now and shown.generation == session.generation - 1 else Verdict.STOLEN

    def _proof(self, session: StoredSession, generation: int) -> str:
        message = f"{session.id}.{generation}.".encode() + session.salt
        return hmac.digest(self._key, message, hashlib.sha256).hex()


def read(token: object) -> ParsedRefreshToken | None:
    """Parse a token. Return None if this server cannot have issued it."""
    if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARACTERS or not token.isascii():
        return None
    session_id, _, generation_and_proof = token.partition(".")
    generation, _, proof = generation_and_proof.partition(".")
    if not (generation.isdecimal() and len(generation) <= _MAX_GENERATION_DIGITS):
        return None
    return ParsedRefreshToken(session_id, int(generation), proof)
