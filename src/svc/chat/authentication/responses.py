"""Response and event types for sign-in, devices, and link and recovery codes. `Device` is in `store`."""

from collections.abc import Sequence

from svc.chat.authentication.jwt_verification import Tier
from svc.chat.authentication.store import Device
from svc.chat.schemas import Id, Response, TimeMs


class LinkCode(Response):
    code: str
    expires_at_ms: TimeMs


class RecoveryCode(Response):
    code: str
    made_at_ms: TimeMs


class DeviceLinked(Response):
    device: Device


class DeviceUnlinked(Response):
    device_id: Id


class RecoveryCodeCreated(Response):
    made_at_ms: TimeMs


class Accounts(Response):
    issuer: str
    clientId: str


class SignIn(Response):
    """The ways to sign in that the web client may offer."""

    open: bool
    local: bool
    account: Accounts | None
    certificateIssuers: Sequence[str]


class ProviderEndpoints(Response):
    """The details of the provider that the web client needs to start a sign-in."""

    issuer: str
    authorization_endpoint: str
    client_id: str


class Challenge(Response):
    nonce: str
    audience: str
    identityTiers: Sequence[Tier]
    expiresAt: TimeMs
