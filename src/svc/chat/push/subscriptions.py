"""Stores push subscriptions, one for each signed-in device. Contains no HTTP code.

A subscription ends with its session, when the member unsubscribes, or when the push service reports that it
no longer exists.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from svc.base.database import Connection, Database, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.fetcher import Poster
from svc.chat.push.encryption import SECRET_BYTES, is_public_key


@dataclass(frozen=True, slots=True)
class Subscription:
    """A device's push endpoint and keys. Anyone who knows them could send notifications to the device."""

    session_id: str
    member_id: str
    endpoint: str = field(repr=False)
    public_key: bytes = field(repr=False)
    secret: bytes = field(repr=False)


_SUBSCRIPTIONS = Table("push_subscriptions", Subscription)


class Subscriptions:
    """The push subscriptions. `poster` checks the endpoints that devices send."""

    def __init__(self, database: Database, poster: Poster) -> None:
        self._database = database
        self._poster = poster
        # The ids of each member's sessions with a subscription. Some sessions may have expired.
        self._sessions: dict[str, set[str]] = {}

    async def load(self) -> None:
        rows = await self._database.rows("SELECT member_id, session_id FROM push_subscriptions")
        for member_id, session_id in rows:
            self._sessions.setdefault(member_id, set()).add(session_id)

    def members(self) -> set[str]:
        """Return the ids of members with a subscription."""
        return set(self._sessions)

    def of(self, member_id: str) -> list[str]:
        """Return the ids of a member's subscribed sessions."""
        return list(self._sessions.get(member_id, ()))

    def rings(self, session: Session) -> bool:
        return session.session_id in self._sessions.get(session.member_id, ())

    @shared_write
    def subscribe(
        self, session: Session, endpoint: str, public_key: bytes, secret: bytes
    ) -> Write[None, None]:
        """Replace the device's subscription. Raises ChatError."""
        try:
            self._poster.judge(endpoint)
        except FetchError as refusal:
            raise ChatError("invalid_request", f"endpoint cannot be used. {refusal.message}") from None
        if not is_public_key(public_key) or len(secret) != SECRET_BYTES:
            raise ChatError("invalid_request", "keys must be those of a push subscription")
        subscription = Subscription(session.session_id, session.member_id, endpoint, public_key, secret)

        def write(connection: Connection) -> None:
            # A browser has only one endpoint, regardless of who is signed in.
            sql = "DELETE FROM push_subscriptions WHERE session_id = ? OR endpoint = ?"
            connection.execute(sql, (subscription.session_id, subscription.endpoint))
            _SUBSCRIPTIONS.insert(connection, subscription)

        return Write(
            write, lambda _: self._sessions.setdefault(session.member_id, set()).add(session.session_id)
        )

    @shared_write
    def unsubscribe(self, session: Session) -> Write[None, None]:
        """Remove the device's subscription. Idempotent."""

        def remove(connection: Connection) -> None:
            _SUBSCRIPTIONS.delete(connection, session_id=session.session_id)

        return Write(remove, lambda _: self.forget(session.member_id, session.session_id))

    async def current(self, member_id: str, session_id: str, now_ms: int) -> Subscription | None:
        """Return a device's subscription if the device is still signed in, otherwise None."""
        row = await self._database.row(
            f"SELECT {_SUBSCRIPTIONS.select('p')} FROM push_subscriptions AS p"
            " JOIN sessions AS s ON s.id = p.session_id"
            " WHERE p.session_id = ? AND p.member_id = ? AND s.expires_at_ms > ?",
            (session_id, member_id, now_ms),
        )
        if row is None:
            self.forget(member_id, session_id)
            return None
        return _SUBSCRIPTIONS.read(row)

    async def delete_unknown(self, subscription: Subscription) -> None:
        """Delete a subscription that its push service no longer recognises."""
        self.forget(subscription.member_id, subscription.session_id)
        which = {"session_id": subscription.session_id, "endpoint": subscription.endpoint}
        await self._database.write(lambda c: _SUBSCRIPTIONS.delete(c, **which))

    def sessions_ended(self, member_id: str, session_ids: Collection[str]) -> None:
        for session_id in session_ids:
            self.forget(member_id, session_id)

    def forget(self, member_id: str, session_id: str) -> None:
        """Stop notifying a session's device."""
        sessions = self._sessions.get(member_id, set())
        sessions.discard(session_id)
        if not sessions:
            self._sessions.pop(member_id, None)
