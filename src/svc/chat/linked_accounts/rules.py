"""Stores members' links to their accounts on other servers, and members' confirmations of such links.

A link is shown on the member's profile. A confirmation is the digest of a statement that a member's device
signed for another server. While it is stored, members of both servers can verify the link shown on the other
server. The digest does not reveal the other server to this one. Links and confirmations belong to the device
that signed them, and are deleted when the device is unlinked or the member leaves. This module contains no
HTTP code. See docs/servers.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.authentication import jwt_verification as proofs
from svc.chat.authentication.devices import Devices
from svc.chat.errors import ChatError
from svc.chat.linked_accounts.statements import Digest, LinkProof, Origin, Statement, verify_pair
from svc.chat.schemas import Id, TimeMs
from svc.chat.services import Services

# The maximum number of links per member. It is low because a profile shows all links.
MAX_LINKS = 10
# The maximum number of confirmations per member: one for each server in a full server list.
MAX_CONFIRMATIONS = 100


@dataclass(frozen=True, slots=True)
class LinkedAccount:
    """A member's account on the server at `origin`. `own` is the statement signed by the member's device
    here, and `other` is the statement signed on that server.
    """

    id: Id
    origin: Origin
    own: Statement
    other: Statement
    made_at_ms: TimeMs


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The SHA-256 digest of a statement that a member's device signed for another server."""

    digest: Digest
    made_at_ms: TimeMs


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The member who confirmed a statement, and the thumbprint of the key of the device that signed it."""

    member_id: str
    thumbprint: str


LINKS = Table("linked_accounts", LinkedAccount)
CONFIRMATIONS = Table("account_confirmations", Confirmation)


class LinkedAccounts:
    def __init__(self, services: Services, devices: Devices) -> None:
        self._database, self._directory = services.database, services.directory
        self._audit, self._new_id = services.audit, services.new_id
        self._devices = devices
        services.changes.member_removal.append(self._forget)

    async def links(self, member_id: str) -> list[LinkedAccount]:
        """Return a member's links, oldest first. Raises ChatError."""
        self._directory.member(member_id)
        return await LINKS.all(self._database, "WHERE member_id = ? ORDER BY id", member_id)

    async def confirmations(self, member_id: str) -> list[Confirmation]:
        """Return a member's confirmations, newest first."""
        suffix = "WHERE member_id = ? ORDER BY made_at_ms DESC, digest"
        return await CONFIRMATIONS.all(self._database, suffix, member_id)

    async def confirmed(self, digest: str) -> Confirmed | None:
        """Return the member who confirmed a statement, or None if no current member did."""
        row = await self._database.row(
            "SELECT c.member_id, d.thumbprint FROM account_confirmations c"
            " JOIN devices d ON d.id = c.device_id WHERE c.digest = ?",
            (digest,),
        )
        if row is None or row["member_id"] not in self._directory.members:
            return None
        return Confirmed(row["member_id"], row["thumbprint"])

    @shared_write
    def link(
        self, session: Session, own: str, other: str, is_ours: Callable[[str], bool], now: float
    ) -> Write[LinkedAccount, LinkedAccount]:
        """Show a link on the member's profile, replacing any link to the same server. Raises ChatError.

        `is_ours` returns whether an origin belongs to this server.
        """
        member_id = session.member_id
        # This also rejects members in timeout, who lack this permission.
        self._directory.require(member_id, Permission.CHANGE_NICKNAME)
        proof = _proof(own, other, now)
        if proof.member_id != member_id or not is_ours(proof.own_origin):
            raise ChatError("link_invalid", "Your statement must be about yourself and this server")
        link = LinkedAccount(self._new_id(), proof.origin, own, other, int(now * 1000))

        def write(connection: Connection) -> LinkedAccount:
            device_id, thumbprint = self._device(connection, session)
            if thumbprint != proof.thumbprint:
                raise ChatError("link_invalid", "Your statement must be signed with the key of this device")
            LINKS.delete(connection, member_id=member_id, origin=proof.origin)
            if LINKS.count(connection, member_id=member_id) >= MAX_LINKS:
                raise ChatError("too_many")
            LINKS.insert(connection, link, member_id=member_id, device_id=device_id)
            return link

        return Write(write, lambda made: made)

    @shared_write
    def unlink(self, actor_id: str, member_id: str, link_id: str, now: float) -> Write[None, None]:
        """Remove a link of the acting member, or of a member of lower rank. Raises ChatError."""
        if actor_id != member_id:
            self._directory.require(actor_id, Permission.MANAGE_NICKNAMES)
            self._directory.require_above(actor_id, member_id)

        def write(connection: Connection) -> None:
            origins = LINKS.column(connection, "origin", id=link_id, member_id=member_id)
            if not origins:
                raise ChatError("unknown_linked_account")
            LINKS.delete(connection, id=link_id)
            if actor_id != member_id:
                details = {"origin": origins[0]}
                self._audit.record(connection, actor_id, "member_link_remove", member_id, details, now)

        return Write(write, lambda _: None)

    @shared_write
    def confirm(self, session: Session, digest: str, now: float) -> Write[None, None]:
        """Confirm a statement that this device signed. Idempotent. Raises ChatError."""
        member_id = session.member_id
        self._directory.member(member_id)

        def write(connection: Connection) -> None:
            device_id, _ = self._device(connection, session)
            owners = CONFIRMATIONS.column(connection, "member_id", digest=digest)
            if owners:
                if owners != [member_id]:
                    raise ChatError("link_invalid", "Another member signed this statement")
                return
            if CONFIRMATIONS.count(connection, member_id=member_id) >= MAX_CONFIRMATIONS:
                raise ChatError("too_many")
            confirmation = Confirmation(digest, int(now * 1000))
            CONFIRMATIONS.insert(connection, confirmation, member_id=member_id, device_id=device_id)

        return Write(write, lambda _: None)

    @shared_write
    def withdraw(self, member_id: str, digest: str) -> Write[None, None]:
        """Withdraw a confirmation. Idempotent. Afterwards, the link can no longer be verified."""
        self._directory.member(member_id)

        def write(connection: Connection) -> None:
            CONFIRMATIONS.delete(connection, digest=digest, member_id=member_id)

        return Write(write, lambda _: None)

    def _device(self, connection: Connection, session: Session) -> tuple[str, str]:
        """Return the id and key thumbprint of the requesting device. Call this within a write transaction."""
        current = self._devices.current_in(connection, session)
        if current is None:
            raise ChatError("link_invalid", "Sign in with a device first")
        return current

    def _forget(self, connection: Connection, member_id: str) -> None:
        LINKS.delete(connection, member_id=member_id)
        CONFIRMATIONS.delete(connection, member_id=member_id)


def _proof(own: str, other: str, now: float) -> LinkProof:
    try:
        return verify_pair(own, other, now)
    except proofs.InvalidProof as refusal:
        raise ChatError("link_invalid", f"The statements do not link two accounts: {refusal}") from None
