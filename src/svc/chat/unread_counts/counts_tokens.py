"""Creates and verifies counts tokens, each of which grants access only to one member's unread counts.

A web client from another origin lists the person's servers, stores the token and shows the counts. The token
is therefore not an access token: `AccessTokens` does not accept it, and it has a different prefix and key. A
member has at most one counts token. It becomes invalid when the member revokes or replaces it, and whenever
the member's access tokens are invalidated, for example when a device is removed. This module contains no HTTP
code. See docs/servers.md.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.authentication.sessions import Throttle
from svc.chat.errors import ChatError
from svc.chat.services import Services

SALT_BYTES = 16
# The prefix of counts tokens, which makes leaked tokens recognisable.
PREFIX = "svcrail."
MAX_TOKEN_CHARACTERS = 256
# The rate limit for invalid tokens per IP address. Clients may still be using revoked tokens.
INVALID_BURST, INVALID_PER_S = 60, 0.5


@dataclass(frozen=True, slots=True)
class CountsToken:
    """The stored part of a token, from which the token can be derived only with the server's secret."""

    member_id: str
    salt: bytes
    # The member's epoch when the token was created.
    epoch: int


TOKENS = Table("counts_tokens", CountsToken)


class CountsTokens:
    def __init__(self, services: Services, secret: str, random_bytes: Callable[[int], bytes]) -> None:
        self._database, self._directory = services.database, services.directory
        # A key for this purpose only, so that nothing else signed with the secret passes as a counts token.
        self._key = hmac.digest(secret.encode(), b"counts tokens", hashlib.sha256)
        self._random_bytes = random_bytes
        self._kept: dict[str, CountsToken] = {}
        self._invalid = Throttle(INVALID_BURST, INVALID_PER_S)
        services.changes.member_removal.append(self._forget)
        services.changes.member_gone.append(self._on_removed)

    async def load(self) -> None:
        """Load the tokens at startup. Call this after the members are loaded."""
        self._kept = {token.member_id: token for token in await TOKENS.all(self._database)}

    def of(self, member_id: str) -> str | None:
        """Return a member's token, or None if there is no valid one."""
        token = self._kept.get(member_id)
        return self._text(token) if token is not None and self._is_current(token) else None

    @shared_write
    def renew(self, member_id: str) -> Write[None, str]:
        """Create a token for a member. An earlier token stops working immediately."""
        kept = CountsToken(member_id, self._random_bytes(SALT_BYTES), self._directory.member(member_id).epoch)

        def renewed(_: None) -> str:
            self._kept[member_id] = kept
            return self._text(kept)

        return Write(lambda connection: TOKENS.put(connection, kept), renewed)

    @shared_write
    def revoke(self, member_id: str) -> Write[None, None]:
        self._directory.member(member_id)
        return Write(
            lambda connection: self._forget(connection, member_id), lambda _: self._on_removed(member_id)
        )

    def verify(self, token: str, address: str, now: float) -> str:
        """Return the id of the member whose counts can be read with this token. Raises ChatError.

        `address` is the client's IP address. All endpoints share the limit for invalid tokens from an
        address, so nobody can guess tokens faster by using several endpoints.
        """
        member_id, _, _ = token.removeprefix(PREFIX).partition(".")
        stored = self._kept.get(member_id)
        if stored is not None and self._is_current(stored):
            expected = self._text(stored).encode()
            if hmac.compare_digest(token.encode("utf-8", "replace"), expected):
                return member_id
        self._invalid.take(address, now)
        raise ChatError("token_invalid")

    def _is_current(self, kept: CountsToken) -> bool:
        member = self._directory.members.get(kept.member_id)
        return member is not None and member.epoch == kept.epoch

    def _text(self, kept: CountsToken) -> str:
        message = f"{kept.member_id}.{kept.epoch}.".encode() + kept.salt
        return f"{PREFIX}{kept.member_id}.{hmac.digest(self._key, message, hashlib.sha256).hex()}"

    def _forget(self, connection: Connection, member_id: str) -> None:
        TOKENS.delete(connection, member_id=member_id)

    def _on_removed(self, member_id: str) -> None:
        self._kept.pop(member_id, None)
