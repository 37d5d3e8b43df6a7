"""Refresh tokens: made of a session's row and the server's secret, and good once each.

Each refresh moves the session on to the next number, and the token of that number is the only
one that is good. The one before it answers with the same successor for half a minute, for
two tabs may refresh at once, and answers get lost. An older one has been stolen, or its
successor has: the whole session ends. The database holds no token and nothing that
becomes one without the secret. Pure. docs/http.md, "Signing in and devices".
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
class Session:
    id: str
    member_id: str
    device_id: str
    salt: bytes
    generation: int
    rotated_at_ms: int
    expires_at_ms: int


class Verdict(enum.Enum):
    ROTATE = enum.auto()  # The token is good: on to the next number.
    REPEAT = enum.auto()  # Its successor was made just now: the same again.
    STOLEN = enum.auto()  # It was used long ago: the session ends.
    REFUSE = enum.auto()  # It is none of ours, or has ended.


@dataclass(frozen=True, slots=True)
class Shown:
    """A refresh token, read and not yet believed."""

    session_id: str
    generation: int
    proof: str


class RefreshTokens:
    def __init__(self, secret: str) -> None:
        # A key of its own, so that nothing else that the secret signs can be one of these.
        self._key = hmac.digest(secret.encode(), b"refresh tokens", hashlib.sha256)

    def token(self, session: Session) -> str:
        """The one that is good now."""
        return f"{session.id}.{session.generation}.{self._proof(session, session.generation)}"

    def judge(self, shown: Shown, session: Session | None, now_ms: int) -> Verdict:
        if session is None or now_ms >= session.expires_at_ms:
            return Verdict.REFUSE
        if not hmac.compare_digest(shown.proof, self._proof(session, shown.generation)):
            return Verdict.REFUSE
        if shown.generation == session.generation:
            return Verdict.ROTATE
        if shown.generation > session.generation:
            # The database has been restored from a backup that is older.
            return Verdict.REFUSE
        just_now = now_ms - session.rotated_at_ms <= GRACE_MS
        return Verdict.REPEAT if just_now and shown.generation == session.generation - 1 else Verdict.STOLEN

    def _proof(self, session: Session, generation: int) -> str:
        message = f"{session.id}.{generation}.".encode() + session.salt
        return hmac.digest(self._key, message, hashlib.sha256).hex()


def read(token: object) -> Shown | None:
    """None for what cannot be a token of ours."""
    if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARACTERS or not token.isascii():
        return None
    session_id, _, rest = token.partition(".")
    generation, _, proof = rest.partition(".")
    if not (generation.isdecimal() and len(generation) <= _MAX_GENERATION_DIGITS):
        return None
    return Shown(session_id, int(generation), proof)
