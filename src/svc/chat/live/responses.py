"""Response types and events of the live socket itself."""

from typing import Annotated, Literal

from msgspec import Meta

from svc.chat.schemas import Response, TimeMs

_Positive = Annotated[int, Meta(ge=1)]


class SocketLimits(Response):
    max_message_bytes: _Positive
    request_burst: _Positive
    requests_per_s: float


class Hello(Response):
    server_id: str
    heartbeat_ms: _Positive
    authenticate_within_ms: _Positive
    limits: SocketLimits


class SignedInUntil(Response):
    token_expires_at_ms: TimeMs


class Managed(Response):
    area: Literal["backups", "bans", "bots", "invites", "overrides"]
