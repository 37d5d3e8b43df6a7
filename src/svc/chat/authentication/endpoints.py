"""Handles requests for signing in, devices and recovery."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from aiohttp import web
from msgspec import Meta, structs

from svc.chat.access.endpoint_permissions import ANYONE, OWNER, PERSON
from svc.chat.access.tokens import Session
from svc.chat.authentication.devices import Devices
from svc.chat.authentication.issuers import Provider
from svc.chat.authentication.jwt_verification import MAX_TOKEN_CHARACTERS
from svc.chat.authentication.refresh import MAX_TOKEN_CHARACTERS as MAX_REFRESH_TOKEN_CHARACTERS
from svc.chat.authentication.responses import (
    Challenge,
    DeviceLinked,
    DeviceUnlinked,
    LinkCode,
    ProviderEndpoints,
    RecoveryCode,
    RecoveryCodeCreated,
)
from svc.chat.authentication.rules import Application, Authentication
from svc.chat.authentication.sessions import Sessions, Throttle, Tokens
from svc.chat.authentication.store import MAX_DEVICE_NAME_CHARACTERS, Device
from svc.chat.authentication.trusted_issuers import RequestedAddresses
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import client_address, local_ip
from svc.chat.members import responses
from svc.chat.schemas import Event, Id, Response, TimeMs, string

MAX_CODE_CHARACTERS = 128
# The maximum length of the message to the members who approve applications.
MAX_MESSAGE_CHARACTERS = 500
# The limit per IP address. It allows a large group, such as a school, to arrive at the same time. Once it is
# exceeded, only existing members can sign in.
BURST, PER_S = 1000, 50.0
# Authorization codes rarely exceed a few hundred characters, but some providers use JWTs.
MAX_AUTHORIZATION_CODE_CHARACTERS = 4096
# A PKCE code verifier (RFC 7636 section 4.1).
MIN_VERIFIER_CHARACTERS, MAX_VERIFIER_CHARACTERS = 43, 128
MAX_ADDRESS_CHARACTERS = 2048
# The limit per IP address for exchanges, each of which is a request to the provider. A whole class behind one
# address can sign in at the same time, and then one person per second.
EXCHANGE_BURST, EXCHANGES_PER_S = 60, 1.0

_Token = Annotated[str, Meta(max_length=MAX_TOKEN_CHARACTERS)]
_Code = Annotated[str, Meta(max_length=MAX_CODE_CHARACTERS)]


class Exchange(Request):
    code: Annotated[str, Meta(min_length=1, max_length=MAX_AUTHORIZATION_CODE_CHARACTERS)]
    code_verifier: Annotated[
        str, Meta(min_length=MIN_VERIFIER_CHARACTERS, max_length=MAX_VERIFIER_CHARACTERS)
    ]
    redirect_uri: Annotated[str, Meta(min_length=1, max_length=MAX_ADDRESS_CHARACTERS)]


class SignInProof(Request):
    """A proof of identity.

    `assertion` may be missing, because a closed server rejects the request before the client obtains one.
    """

    assertion: _Token | None = None
    certificate: _Token | None = None
    id_token: _Token | None = None
    # `rules` validates the nickname.
    nickname: Annotated[object, Meta(extra_json_schema={"anyOf": [string(), {"type": "null"}]})] = None
    invite_code: _Code | None = None
    link_code: _Code | None = None
    recovery_code: _Code | None = None
    device_name: Annotated[str, Meta(max_length=MAX_DEVICE_NAME_CHARACTERS)] | None = None
    message: Annotated[str, Meta(max_length=MAX_MESSAGE_CHARACTERS)] | None = None
    rules_accepted: _Code | None = None

    def application(self, request: web.Request) -> Application:
        if not isinstance(self.nickname, str | None):
            raise ChatError("invalid_nickname")
        fields: dict[str, Any] = {name: (value or "").strip() for name, value in structs.asdict(self).items()}
        fields["nickname"] = self.nickname or ""
        return Application(
            **fields,
            address=client_address(request),
            requested=RequestedAddresses(request.host, local_ip(request), request.headers.get("Origin")),
        )


class CompleteProof(SignInProof, kw_only=True):
    """A proof of identity as the API description declares it."""

    assertion: _Token


class Refresh(Request):
    refresh_token: Annotated[str, Meta(max_length=MAX_REFRESH_TOKEN_CHARACTERS)] | None = None


class IdToken(Response):
    id_token: _Token


class OwnDevices(Response):
    devices: Sequence[Device]
    # When the member's recovery code was created; null if there is none.
    kept_code_made_at_ms: TimeMs | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn(Tokens):
    member: responses.Member
    # The channel that opens for a new member.
    channel_id: Id | None


class AuthenticationEndpoints(Endpoints):
    def __init__(
        self, authentication: Authentication, sessions: Sessions, provider: Provider, devices: Devices
    ) -> None:
        self._authentication = authentication
        self._sessions = sessions
        self._provider = provider
        self._devices = devices
        self._exchanges = Throttle(EXCHANGE_BURST, EXCHANGES_PER_S)
        self._joins = Throttle(BURST, PER_S)

    @endpoint(ANYONE, "Create a nonce for one sign-in within five minutes", http="POST /api/auth/challenge")
    async def challenge(self, http_request: web.Request) -> Challenge:
        return self._authentication.challenge(client_address(http_request).limited_as, time.time())

    @endpoint(
        ANYONE,
        "Return the provider's address for signing in with an account",
        http="GET /api/auth/provider",
        refusals=("identity_tier_refused", "issuer_unavailable"),
    )
    async def provider(self) -> ProviderEndpoints:
        return await self._provider.endpoints()

    @endpoint(
        ANYONE,
        "Exchange the provider's authorization code for an id_token",
        http="POST /api/auth/exchange",
        refusals=("identity_tier_refused", "issuer_unavailable", "proof_invalid", "too_many_requests"),
    )
    async def exchange(self, http_request: web.Request, body: Exchange) -> IdToken:
        self._exchanges.take(client_address(http_request).limited_as, time.monotonic())
        return IdToken(await self._provider.id_token(body.code, body.code_verifier, body.redirect_uri))

    @endpoint(
        ANYONE,
        "Sign in or join with a certificate or an id_token, and an assertion",
        http="POST /api/auth/join",
        refusals=(
            *("approval_pending", "approval_refused", "rules_not_accepted", "too_many_waiting"),
            *("banned", "challenge_invalid", "code_invalid", "identity_taken", "identity_tier_refused"),
            *("invite_busy", "too_many_invite_attempts"),
            *("invalid_nickname", "invite_invalid", "invite_required", "issuer_unavailable"),
            *("joins_disabled", "profanity_refused", "proof_invalid", "server_full", "too_many_devices"),
            "too_many_requests",
        ),
        accepts=CompleteProof,
    )
    async def join(self, http_request: web.Request, body: SignInProof) -> SignedIn:
        application = body.application(http_request)
        try:
            self._joins.take(application.address.limited_as, time.monotonic())
        except ChatError:
            application = replace(application, members_only=True)
        joined = await self._authentication.join(application, time.time())
        member = responses.member(joined.member)
        return SignedIn(**asdict(joined.tokens), member=member, channel_id=joined.channel_id)

    @endpoint(
        ANYONE,
        "Get fresh tokens. Uses up the refresh token",
        http="POST /api/auth/refresh",
        refusals=("refresh_invalid", "too_many_requests"),
    )
    async def refresh(self, body: Refresh) -> Tokens:
        return await self._sessions.refresh(body.refresh_token or "", time.time())

    @endpoint(
        ANYONE,
        "Sign out: end the session's access tokens, live sockets and call. Ignores an invalid token",
        http="POST /api/auth/logout",
    )
    async def logout(self, body: Refresh) -> None:
        await self._sessions.end(body.refresh_token or "", time.time())

    @endpoint(PERSON, "List your devices", http="GET /api/me/devices")
    async def devices(self, session: Session) -> OwnDevices:
        made_at_ms = await self._devices.kept_code_made_at_ms(session)
        return OwnDevices(await self._devices.of(session), made_at_ms)

    @endpoint(
        PERSON,
        "Create a code that signs in another device once, within ten minutes. It "
        "expires early when you sign out or unlink a device",
        http="POST /api/me/devices/link",
        status=201,
    )
    async def link(self, session: Session) -> LinkCode:
        return await self._devices.link(session, time.time())

    @endpoint(
        PERSON,
        "Create a recovery code. It signs you in once after the loss of all devices, and unlinks "
        "them. It expires when you create another, leave, are removed, or unlink a device, and "
        "when a session is stolen",
        http="POST /api/me/devices/recovery",
        status=201,
    )
    async def keep_code(self, session: Session) -> RecoveryCode:
        return await self._devices.keep_code(session, time.time())

    @endpoint(
        PERSON,
        "Unlink a device. All others sign in again with their refresh tokens",
        http="DELETE /api/me/devices/{device_id}",
        refusals=("last_device", "unknown_device"),
    )
    async def unlink(self, session: Session, device_id: Id) -> None:
        await self._devices.unlink(session, device_id)

    # The person who uses the code takes over the membership.
    @endpoint(
        OWNER,
        "Create a code for a member who lost all devices. It works once, within a day and under "
        "the same owner, and unlinks the member's devices",
        http="POST /api/members/{member_id}/recovery",
        refusals=("unknown_member",),
        status=201,
    )
    async def recover(self, session: Session, member_id: Id) -> LinkCode:
        return await self._devices.recover(session, member_id, time.time())


DESCRIPTION = describe_feature(
    AuthenticationEndpoints,
    pushes=[
        Event(
            "device_linked",
            "Another device was linked to your account",
            DeviceLinked,
            "the member",
        ),
        Event(
            "device_unlinked",
            "One of your devices was unlinked. All your sockets close with 4003 and reconnect with"
            " fresh tokens",
            DeviceUnlinked,
            "the member",
        ),
        Event(
            "recovery_code_made",
            "One of your devices created a recovery code. The previous one is invalid",
            RecoveryCodeCreated,
            "the member",
        ),
    ],
)
