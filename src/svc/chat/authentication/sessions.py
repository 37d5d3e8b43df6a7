"""Starts, refreshes and ends sessions. A session lasts as long as it is refreshed before it expires.

`refresh` validates refresh tokens, and `rules` signs members in. Contains neither HTTP nor SQL code. See
docs/configuration.md, "Chat server", REFRESH_TOKEN_TTL_DAYS.
"""

import dataclasses
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection
from svc.base.token_bucket import TokenBuckets
from svc.chat.access.directory import Member
from svc.chat.access.tokens import LIFETIME_S, AccessTokens
from svc.chat.authentication import store
from svc.chat.authentication.refresh import (
    SALT_BYTES,
    ParsedRefreshToken,
    RefreshTokens,
    StoredSession,
    Verdict,
    read,
)
from svc.chat.errors import ChatError
from svc.chat.members.rules import Members
from svc.chat.services import Services

# The maximum number of keys, which use up to 2 MB. Beyond that, the least recently used key is dropped.
MAX_KEYS = 10_000


class Throttle:
    """A rate limit per key, such as an IP address: a burst of `burst` requests, and `per_s` requests per
    second.

    Rejected requests do not count, so waiting always helps. Several people may share an address, so a limit
    per address must never affect requests with valid credentials.
    """

    def __init__(self, burst: int, per_s: float) -> None:
        self._buckets = TokenBuckets(burst, per_s, MAX_KEYS)

    def take(self, key: str, now: float) -> None:
        """Count a request for a key. Raises ChatError above its limit."""
        if self._buckets.of(key).take_if_left(now):
            raise ChatError("too_many_requests")


DAY_MS = 24 * 3_600_000
# The maximum number of sessions per device. A person may sign in again after a lost response, but only a
# script exceeds this.
MAX_PER_DEVICE = 5

# The rate limit for refreshes per session. Each refresh is a database write, and each of several tabs
# refreshes every few minutes.
BURST, PER_S = 30, 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tokens:
    access_token: str
    refresh_token: str
    # A duration rather than a time, because devices' clocks may be wrong.
    expires_in_ms: Annotated[int, Meta(ge=0, le=LIFETIME_S * 1000)] = LIFETIME_S * 1000


@dataclass(frozen=True, slots=True)
class BlankSession:
    """The random parts of a session."""

    id: str
    salt: bytes


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: Verdict
    session: StoredSession | None
    # For a stolen session: the member's new epoch and remaining sessions.
    epoch: int = 0
    left: frozenset[str] = frozenset()


class Sessions:
    def __init__(
        self,
        services: Services,
        members: Members,
        tokens: AccessTokens,
        refresh_tokens: RefreshTokens,
        lifetime_days: int,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._changes, self._new_id = services.changes, services.new_id
        self._members = members
        self._tokens = tokens
        self._refresh_tokens = refresh_tokens
        self._lifetime_ms = lifetime_days * DAY_MS
        self._random_bytes = random_bytes
        self._refreshes = Throttle(BURST, PER_S)
        # A recovery code gives full access to an account, so a transfer of ownership invalidates the codes
        # that the former owner created.
        services.changes.owner_change.append(store.drop_recovery_codes)

    async def load(self) -> None:
        """Fill the directory with all sessions at startup."""
        by_member: dict[str, set[str]] = {}
        for session in await store.SESSIONS.all(self._database):
            by_member.setdefault(session.member_id, set()).add(session.id)
        self._directory.sessions.update((member_id, frozenset(ids)) for member_id, ids in by_member.items())

    def blank(self) -> BlankSession:
        """Generate the random parts of a session for `begin`, because the writer thread generates none."""
        return BlankSession(self._new_id(), self._random_bytes(SALT_BYTES))

    def begin(
        self, connection: Connection, blank: BlankSession, member_id: str, device_id: str, now_ms: int
    ) -> StoredSession:
        """Start a session. Call this within the sign-in's write transaction."""
        session = StoredSession(
            blank.id, member_id, device_id, blank.salt, 0, now_ms, now_ms + self._lifetime_ms
        )
        store.remove_ended(connection, now_ms)
        store.SESSIONS.put(connection, session)
        store.keep_newest_sessions(connection, device_id, MAX_PER_DEVICE)
        return session

    def issue_tokens(self, session: StoredSession, member: Member, now: float) -> Tokens:
        return Tokens(self._tokens.issue(member, session.id, now), self._refresh_tokens.token(session))

    async def refresh(self, token: object, now: float) -> Tokens:
        """Exchange a refresh token for fresh tokens. Raises ChatError."""
        shown = await self._verify(token, now)
        if shown is None:
            raise ChatError("refresh_invalid")
        self._refreshes.take(shown.session_id, time.monotonic())
        outcome = await self._database.write(
            lambda c: self._rotate(c, shown, int(now * 1000)), self._announce
        )
        session = outcome.session
        member = self._directory.members.get(session.member_id) if session else None
        if session is None or member is None or outcome.verdict is Verdict.STOLEN:
            raise ChatError("refresh_invalid")
        return self.issue_tokens(session, member, now)

    async def end(self, token: object, now: float) -> None:
        """Sign a device out.

        Ends the session's access tokens and live sockets, and invalidates the member's link code. Ignores an
        invalid token.
        """
        shown = await self._verify(token, now)
        if shown is None:
            return

        def write(connection: Connection) -> _Outcome:
            session = store.SESSIONS.get(connection, id=shown.session_id)
            verdict = self._refresh_tokens.judge(shown, session, int(now * 1000))
            if session is None or verdict is Verdict.REFUSE:
                return _Outcome(Verdict.REFUSE, None)
            store.SESSIONS.delete(connection, id=session.id)
            store.drop_link_code(connection, session.member_id)
            return _Outcome(verdict, session, left=store.sessions_of(connection, session.member_id))

        def ended(outcome: _Outcome) -> None:
            if outcome.session is not None:
                self.sessions_changed(outcome.session.member_id, outcome.left)

        await self._database.write(write, ended)

    async def _verify(self, token: object, now: float) -> ParsedRefreshToken | None:
        """Parse and verify a token without a database write, because anybody can send invalid tokens."""
        shown = read(token)
        session = await store.SESSIONS.one(self._database, id=shown.session_id) if shown else None
        if shown is None or self._refresh_tokens.judge(shown, session, int(now * 1000)) is Verdict.REFUSE:
            return None
        return shown

    def revoke_all(self, connection: Connection, member_id: str) -> None:
        """Delete all of a member's sessions and codes. Call this within a write transaction.

        The caller also increments the member's epoch in the same transaction, and disconnects the member's
        clients after it.
        """
        store.SESSIONS.delete(connection, member_id=member_id)
        store.drop_codes(connection, member_id)

    def sessions_changed(self, member_id: str, left: frozenset[str]) -> None:
        """Apply the effects of a write transaction that started or ended sessions.

        Ends the access tokens, live sockets and calls of all sessions except those in `left`.
        """
        ended = self._directory.sessions.get(member_id, frozenset()) - left
        self._directory.sessions[member_id] = left
        for session_id in ended:
            self._hub.cut_off(member_id, session_id=session_id)
        if ended:
            for notify in self._changes.sessions_ended:
                notify(member_id, ended)

    def _rotate(self, connection: Connection, shown: ParsedRefreshToken, now_ms: int) -> _Outcome:
        session = store.SESSIONS.get(connection, id=shown.session_id)
        verdict = self._refresh_tokens.judge(shown, session, now_ms)
        if session is None or verdict is Verdict.REFUSE:
            return _Outcome(verdict, None)
        if verdict is Verdict.STOLEN:
            store.SESSIONS.delete(connection, id=session.id)
            store.drop_own_codes(connection, session.member_id)
            epoch = self._members.void_tokens(connection, session.member_id)
            return _Outcome(verdict, session, epoch, store.sessions_of(connection, session.member_id))
        if verdict is Verdict.ROTATE:
            session = dataclasses.replace(
                session,
                generation=session.generation + 1,
                rotated_at_ms=now_ms,
                expires_at_ms=now_ms + self._lifetime_ms,
            )
            store.SESSIONS.put(connection, session)
            store.record_use(connection, session.device_id, now_ms)
        return _Outcome(verdict, session)

    def _announce(self, outcome: _Outcome) -> None:
        if outcome.verdict is Verdict.STOLEN and outcome.session is not None:
            logger.warning("a refresh token was used twice", extra={"member": outcome.session.member_id})
            self._members.apply_token_epoch(outcome.session.member_id, outcome.epoch)
            self.sessions_changed(outcome.session.member_id, outcome.left)
