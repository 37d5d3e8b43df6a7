"""Manages a member's devices: listing, linking with a code, unlinking, and recovery by the owner.

`rules` signs in the device that presents a code. Contains neither HTTP nor SQL code.
"""

from collections.abc import Callable

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.tokens import Session
from svc.chat.authentication import store
from svc.chat.authentication.one_time_codes import Kind, hash_code
from svc.chat.authentication.responses import DeviceUnlinked, LinkCode, RecoveryCode, RecoveryCodeCreated
from svc.chat.authentication.sessions import Sessions
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.members.rules import Members
from svc.chat.services import Services


class Devices:
    def __init__(
        self, services: Services, members: Members, sessions: Sessions, new_code: Callable[[], str]
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit
        self._members = members
        self._sessions = sessions
        self._new_code = new_code

    async def of(self, session: Session) -> list[store.Device]:
        """Return a member's devices, most recently used first."""
        return await store.devices(self._database, session.member_id, await self.current(session))

    async def current(self, session: Session) -> str | None:
        """Return the id of the device that made the request."""
        return await store.device_of_session(self._database, session.session_id)

    def current_in(self, connection: Connection, session: Session) -> tuple[str, str] | None:
        """Return the id and key thumbprint of the device that made the request. Call this within a write
        transaction.
        """
        return store.of_session(connection, session.session_id)

    async def last_seen(self, now: float) -> dict[str, int]:
        """Return when each member was last seen on any device, in ms since 1970. Online members count as seen
        now.
        """
        times = await store.last_seen(self._database)
        return times | dict.fromkeys(self._hub.shown_members(), int(now * 1000))

    def forget(self, connection: Connection, member_id: str) -> None:
        """Delete a member's identities and devices. Call this within a write transaction.

        `returning_people` stores hashes of them while the person is punished, and for a while after the
        person has left.
        """
        store.drop_codes(connection, member_id)
        store.unbind_all(connection, member_id)

    async def link(self, session: Session, now: float) -> LinkCode:
        """Create a code that lets a new device sign in as this member. It replaces any earlier link code."""
        return await self._hand_out(Kind.LINK, session.member_id, now, lambda connection: None)

    @shared_write
    def keep_code(self, session: Session, now: float) -> Write[None, RecoveryCode]:
        """Create a recovery code to use after losing all devices. It replaces any earlier recovery code."""
        code, now_ms = self._new_code(), int(now * 1000)

        def kept(_: None) -> RecoveryCode:
            # Notify the member, because somebody who briefly had their device could have created the code.
            self._hub.push("recovery_code_made", RecoveryCodeCreated(now_ms), only(session.member_id))
            return RecoveryCode(code, now_ms)

        return Write(
            lambda connection: store.keep_code(connection, session.member_id, hash_code(code), now_ms),
            kept,
        )

    async def kept_code_made_at_ms(self, session: Session) -> int | None:
        return await store.kept_code_made_at_ms(self._database, session.member_id)

    async def recover(self, owner: Session, member_id: str, now: float) -> LinkCode:
        """Create a code for a member who can no longer sign in. Anyone who uses the code takes over the
        membership.
        """
        if self._directory.member(member_id).bot:
            raise ChatError("unknown_member", "A bot can only sign in with its token")

        def note(connection: Connection) -> None:
            self._audit.record(connection, owner.member_id, "recovery_create", member_id, {}, now)

        return await self._hand_out(Kind.RECOVERY, member_id, now, note)

    @shared_write
    def unlink(self, session: Session, device_id: str) -> Write[tuple[int, frozenset[str]], None]:
        """Unlink a device, and invalidate all codes that it may have created, including the recovery code.

        Raises ChatError if this is the member's last device.
        """
        member_id = session.member_id

        def write(connection: Connection) -> tuple[int, frozenset[str]]:
            thumbprint = store.thumbprint_of(connection, member_id, device_id)
            if thumbprint is None:
                raise ChatError("unknown_device")
            store.remove_device(connection, member_id, thumbprint)
            store.drop_own_codes(connection, member_id)
            if store.count_identities(connection, member_id) == 0:
                raise ChatError("last_device")
            return self._members.void_tokens(connection, member_id), store.sessions_of(connection, member_id)

        def unlinked(outcome: tuple[int, frozenset[str]]) -> None:
            epoch, remaining = outcome
            self._hub.push("device_unlinked", DeviceUnlinked(device_id), only(member_id))
            self._members.apply_token_epoch(member_id, epoch)
            self._sessions.sessions_changed(member_id, remaining)

        return Write(write, unlinked)

    @shared_write
    def _hand_out(
        self, kind: Kind, member_id: str, now: float, note: Callable[[Connection], None]
    ) -> Write[None, LinkCode]:
        self._directory.member(member_id)
        code = self._new_code()
        expires_at_ms = int(now * 1000) + kind.lifetime_ms

        def write(connection: Connection) -> None:
            store.put_code(connection, kind, member_id, hash_code(code), expires_at_ms)
            note(connection)

        return Write(write, lambda _: LinkCode(code, expires_at_ms))
