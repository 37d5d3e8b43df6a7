"""Signs in existing and new members: issues challenges, checks proofs of identity, and starts sessions.

`join_policy` decides who may join, and `jwt_verification` verifies identities. Contains neither HTTP nor SQL
code. See docs/http.md, "Signing in and devices".
"""

import dataclasses
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.client_address import ClientAddress
from svc.chat.access.directory import Member
from svc.chat.access.permissions import Permission
from svc.chat.authentication import jwt_verification, store
from svc.chat.authentication.founding_code import FoundingCode
from svc.chat.authentication.invite_file import BETWEEN
from svc.chat.authentication.issuers import IssuerKeys
from svc.chat.authentication.join_policy import Admission, Applicant, JoinPolicy
from svc.chat.authentication.one_time_codes import Challenges, Kind, hash_code
from svc.chat.authentication.refresh import StoredSession
from svc.chat.authentication.responses import Challenge, DeviceLinked
from svc.chat.authentication.returning_people import ReturningPeople
from svc.chat.authentication.sessions import BlankSession, Sessions, Throttle, Tokens
from svc.chat.authentication.trusted_issuers import RequestedAddresses, TrustedIssuers
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.members.rules import Members
from svc.chat.names import readable_nickname
from svc.chat.services import Services

# The maximum number of devices per member, because each gives full access to the account. Beyond that, the
# least recently used device is removed.
MAX_DEVICES = 20

# How long an applicant should wait before trying to join again.
RETRY_AFTER_MS = 5_000

# The rate limit for sign-ins per device. Each sign-in is a database write.
BURST, PER_S = 30, 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Application:
    """A sign-in request. Fields that the client did not send are empty."""

    certificate: str
    id_token: str
    assertion: str
    nickname: str
    invite_code: str
    link_code: str
    recovery_code: str
    device_name: str
    # Shown to the members who approve applications.
    message: str
    # The version of the server's rules that the person has read.
    rules_accepted: str
    address: ClientAddress
    requested: RequestedAddresses
    # Whether only existing members can sign in, because there were too many requests from this IP address.
    members_only: bool = False


@dataclass(frozen=True, slots=True)
class _SignInPlan:
    """A sign-in request, with the ids and random values for its write transaction, because the writer thread
    generates none.
    """

    application: Application
    identity: jwt_verification.Identity
    # The origin that the client connected to, signed by the client.
    origin: str
    # The name in its display form; empty if the client sent no name.
    name: str
    now: float
    new_member_id: str
    new_device_id: str
    blank: BlankSession

    @property
    def now_ms(self) -> int:
        return int(self.now * 1000)


@dataclass(frozen=True, slots=True)
class _SignedIn:
    """The result of the write transaction, and the effects to apply once it is durable."""

    member_id: str
    session: StoredSession
    # All current sessions of the member.
    sessions: frozenset[str]
    newcomer: Member | None = None
    # The member's new epoch after a recovery.
    epoch: int | None = None
    # The device, if it is new to the member.
    device: store.Device | None = None
    admitted: Callable[[], None] = field(default=lambda: None)
    # The channel that opens for a new member.
    channel_id: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A successful sign-in. `channel_id` is the channel that opens for a new member, or None for an existing
    member.
    """

    tokens: Tokens
    member: Member
    channel_id: str | None


@dataclass(frozen=True, slots=True)
class _PendingApplication:
    """The result of the write transaction for an applicant who must wait for approval. `announce` is the
    effect to apply.
    """

    announce: Callable[[], None]


@dataclass(frozen=True, slots=True)
class NewcomerChecks:
    """The checks for new members. `founding` admits the first member, and `policy` all others.

    `refuse_banned` is called within the write transaction, and raises ChatError for a banned person.
    `require_rules` raises ChatError if the person has not read the current rules. `landing` returns the
    channel that opens for new members.
    """

    founding: FoundingCode
    policy: JoinPolicy
    persons: ReturningPeople
    refuse_banned: Callable[[Connection, str], None]
    require_rules: Callable[[str], None]
    landing: Callable[[], str | None]


class Authentication:
    """The sign-in process. Call `load` first."""

    def __init__(
        self,
        services: Services,
        issuers: TrustedIssuers,
        keys: IssuerKeys,
        checks: NewcomerChecks,
        members: Members,
        sessions: Sessions,
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._issuers = issuers
        self._keys = keys
        self._checks = checks
        self.persons = checks.persons
        self._members = members
        self._sessions = sessions
        self._challenges = Challenges(secrets.token_urlsafe)
        self._sign_ins = Throttle(BURST, PER_S)

    async def load(self, invite: str) -> None:
        """Load the state at startup. `invite` is the code of the standing invite."""
        await self.persons.load()
        self._checks.founding.load(invite, await self._database.write(store.has_members))

    def challenge(self, address: str, now: float) -> Challenge:
        """Return a nonce for a client at the given IP address, and the audience for the client's proof."""
        nonce, ends = self._challenges.issue(address, now)
        return Challenge(nonce, self._issuers.audience, self._issuers.tiers, int(ends * 1000))

    async def join(self, application: Application, now: float) -> Joined:
        """Sign in a member, or admit a new one. Raises ChatError."""
        if self._issuers.closed:
            logger.info("a join was refused", extra={"because": self._issuers.closed})
            raise ChatError("joins_disabled")
        identity, origin = await self._identity(application, now)
        self._sign_ins.take(identity.thumbprint, time.monotonic())
        wanted = _SignInPlan(
            application,
            identity,
            origin,
            readable_nickname(application.nickname) if application.nickname else "",
            now,
            self._new_id(),
            self._new_id(),
            self._sessions.blank(),
        )
        joined = await self._sign_in_or_admit(wanted)
        if joined is None:
            raise ChatError("approval_pending", more={"retry_after_ms": RETRY_AFTER_MS})
        return joined

    # Authentication.

    async def _identity(self, application: Application, now: float) -> tuple[jwt_verification.Identity, str]:
        if bool(application.certificate) == bool(application.id_token) or not application.assertion:
            raise ChatError("invalid_request", "Send either certificate or id_token, and assertion")
        try:
            assertion = jwt_verification.read(application.assertion)
            credential = self._credential(application, assertion)
            if credential.tier not in self._issuers.tiers:
                raise ChatError("identity_tier_refused")
            # This consumes the nonce, even if the sign-in fails.
            if not self._challenges.take(jwt_verification.nonce_of(assertion), now):
                raise ChatError("challenge_invalid")
            key = None
            if credential.issuer:
                key = await self._keys.key(credential.issuer, credential.key_id, credential.algorithm)
            identity = jwt_verification.verify(credential, key, now)
            origin = jwt_verification.check_assertion(
                assertion, credential, identity, self._issuers.audience, now
            )
        except jwt_verification.InvalidProof as refusal:
            raise ChatError("proof_invalid", f"The proof of identity is not valid: {refusal}") from None
        if not self._issuers.addresses.include(origin, application.requested.host):
            raise ChatError("proof_invalid", "The assertion was made for a server at another address")
        return identity, origin

    def _credential(
        self, application: Application, assertion: jwt_verification.Token
    ) -> jwt_verification.Credential:
        if application.certificate:
            return jwt_verification.certificate(
                jwt_verification.read(application.certificate), self._issuers.cert_issuers
            )
        token = jwt_verification.read(application.id_token)
        issuers = self._issuers
        return jwt_verification.id_token(token, assertion, issuers.oidc_issuer, issuers.oidc_audience)

    # Find or create the member, in one write transaction.

    @exclusive_write
    def _sign_in_or_admit(self, wanted: _SignInPlan) -> Write[_SignedIn | _PendingApplication, Joined | None]:
        def admitted(outcome: _SignedIn | _PendingApplication) -> Joined | None:
            if isinstance(outcome, _PendingApplication):
                outcome.announce()
                return None
            self._admitted(outcome)
            member = self._directory.member(outcome.member_id)
            tokens = self._sessions.issue_tokens(outcome.session, member, wanted.now)
            lands = outcome.channel_id
            if lands is None and outcome.newcomer is not None:
                lands = self._checks.landing()
            sees = lands is not None and self._directory.has_permission(
                member.id, Permission.VIEW_CHANNEL, lands
            )
            return Joined(tokens, member, lands if sees else None)

        return Write(lambda connection: self._admit(connection, wanted), admitted)

    def _admit(self, connection: Connection, wanted: _SignInPlan) -> _SignedIn | _PendingApplication:
        application = wanted.application
        holder_id = store.member_of(connection, wanted.identity)
        if holder_id is not None and self._members.exists(connection, holder_id):
            if application.link_code or application.recovery_code:
                return self._add_to_itself(connection, wanted, holder_id)
            return self._sign_in(connection, wanted, holder_id)
        if application.recovery_code:
            return self._recover(connection, wanted)
        if application.link_code:
            return self._link(connection, wanted)
        return self._join(connection, wanted, holder_id)

    def _join(
        self, connection: Connection, wanted: _SignInPlan, former_id: str | None
    ) -> _SignedIn | _PendingApplication:
        if wanted.application.members_only:
            raise ChatError("too_many_requests")
        # Check bans first, so that a banned former member who sends no name learns of the ban.
        for person_id in self.persons.persons_of(connection, wanted.identity):
            self._checks.refuse_banned(connection, person_id)
        if not wanted.name:
            raise ChatError("invalid_nickname")
        self._checks.require_rules(wanted.application.rules_accepted)
        admission = self._admission(connection, wanted)
        if admission.waits:
            return _PendingApplication(admission.admitted)
        newcomer = Member(
            wanted.new_member_id,
            wanted.name,
            admission.role_ids,
            joined_at_ms=wanted.now_ms,
            person_id=self.persons.recognise(connection, wanted.identity, wanted.now_ms) or "",
        )
        member = self._members.insert(connection, newcomer)
        self.persons.record_member(connection, wanted.identity, member.person_id)
        if former_id is not None:
            store.move(connection, former_id, member.id)
        store.bind(connection, wanted.identity, member.id, wanted.now_ms)
        signed_in = self._sign_in(connection, wanted, member.id)
        return dataclasses.replace(
            signed_in, newcomer=member, admitted=admission.admitted, channel_id=admission.channel_id
        )

    def _admission(self, connection: Connection, wanted: _SignInPlan) -> Admission:
        application = wanted.application
        addresses = self._issuers.addresses
        founded = store.has_members(connection)
        _, _, invite_code = application.invite_code.rpartition(BETWEEN)
        applicant = Applicant(
            invite_code=invite_code if founded else application.invite_code,
            client=wanted.identity.thumbprint,
            address=application.address,
            nearby=application.address.is_local
            and addresses.is_own_address(wanted.origin, application.requested),
            now=wanted.now,
            issuer=wanted.identity.issuer,
            subject=wanted.identity.subject,
            name=wanted.name,
            message=application.message,
            member_id=wanted.new_member_id,
        )
        # The first member becomes the owner, so even an open server must require the founding code.
        return (self._checks.policy if founded else self._checks.founding).admit(connection, applicant)

    def _link(self, connection: Connection, wanted: _SignInPlan) -> _SignedIn:
        member_id = self._spend(connection, Kind.LINK, wanted.application.link_code, wanted)
        if store.count_devices(connection, member_id) >= MAX_DEVICES:
            raise ChatError("too_many_devices")
        self._link_person(connection, wanted, member_id)
        store.bind(connection, wanted.identity, member_id, wanted.now_ms)
        return self._sign_in(connection, wanted, member_id)

    def _recover(self, connection: Connection, wanted: _SignInPlan) -> _SignedIn:
        """Make the new device the member's only device, because others might be in the wrong hands."""
        member_id = self._spend(connection, Kind.RECOVERY, wanted.application.recovery_code, wanted)
        self._link_person(connection, wanted, member_id)
        self._sessions.revoke_all(connection, member_id)
        store.unbind_all(connection, member_id)
        store.bind(connection, wanted.identity, member_id, wanted.now_ms)
        self._audit.record(connection, member_id, "recovery_use", member_id, {}, wanted.now)
        epoch = self._members.void_tokens(connection, member_id)
        return dataclasses.replace(self._sign_in(connection, wanted, member_id), epoch=epoch)

    def _link_person(self, connection: Connection, wanted: _SignInPlan, member_id: str) -> None:
        person_id = self._members.person(connection, member_id)
        self.persons.record_link(connection, wanted.identity, person_id, wanted.now_ms)

    def _add_to_itself(self, connection: Connection, wanted: _SignInPlan, holder_id: str) -> _SignedIn:
        """Sign in a member with a known identity who also sent a code. Raises ChatError if the code is
        another member's.
        """
        application = wanted.application
        kind = Kind.RECOVERY if application.recovery_code else Kind.LINK
        code = application.recovery_code or application.link_code
        if self._spend(connection, kind, code, wanted) != holder_id:
            raise ChatError("identity_taken")
        return self._sign_in(connection, wanted, holder_id)

    def _spend(self, connection: Connection, kind: Kind, code: str, wanted: _SignInPlan) -> str:
        """Consume a code. Return the id of its member. Raises ChatError."""
        member_id = store.take_code(connection, kind, hash_code(code), wanted.now_ms)
        if member_id is None and kind is Kind.RECOVERY:
            member_id = store.take_kept_code(connection, hash_code(code))
        if member_id is None:
            raise ChatError("code_invalid")
        return member_id

    def _sign_in(self, connection: Connection, wanted: _SignInPlan, member_id: str) -> _SignedIn:
        device = store.record_device(
            connection,
            member_id,
            wanted.identity,
            wanted.application.device_name,
            wanted.new_device_id,
            wanted.now_ms,
        )
        self.persons.record_device(connection, wanted.identity, self._members.person(connection, member_id))
        store.forget_oldest_devices(connection, member_id, MAX_DEVICES)
        session = self._sessions.begin(connection, wanted.blank, member_id, device.id, wanted.now_ms)
        return _SignedIn(
            member_id,
            session,
            store.sessions_of(connection, member_id),
            device=device if device.id == wanted.new_device_id else None,
        )

    def _admitted(self, signed_in: _SignedIn) -> None:
        if signed_in.newcomer is not None:
            self._members.joined(signed_in.newcomer)
            signed_in.admitted()
        if signed_in.epoch is not None:
            self._members.apply_token_epoch(signed_in.member_id, signed_in.epoch)
        self._sessions.sessions_changed(signed_in.member_id, signed_in.sessions)
        if signed_in.device is not None and signed_in.newcomer is None:
            self._hub.push("device_linked", DeviceLinked(signed_in.device), only(signed_in.member_id))
