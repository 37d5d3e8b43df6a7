"""Decide who may join a room, from a `client_join`.

There are two keys. The raw secret of the registration has full authority anyway, so its `user_token` is not
examined. The client credential, which the chat server gives to its members, also needs a `user_token`. It
must be signed for this user and this room, unexpired and unused. Every other request is refused with the same
text: a stranger cannot learn which rooms exist.

Assigns no seat (`rooms` does). docs/signalling.md, "From participants".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.base.grants import CAPS, GrantError, client_credential, same_secret, verify_user_token
from svc.sfu import fields
from svc.sfu.rooms import Registration, Room, Rooms

REFUSAL = "Room does not exist or credentials do not match"


class JoinRefused(Exception):
    """The join is refused. The reason may be shown to the client."""


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """The payload of `client_join`."""

    room_id: str
    server_id: str
    user_id: str
    server_password: str = field(repr=False)
    user_token: str = field(repr=False)
    resumable: bool = False  # The client can resume its session over another connection.
    simulcast: bool = False  # The client may send a video in several encodings.
    bandwidth: bool = False  # The client wants bandwidth estimates of its line.
    redundancy: bool = False  # The client takes audio as RED. Its channel must not be encrypted end to end.

    @classmethod
    def read(cls, payload: Mapping[str, object]) -> "JoinRequest":
        """Read the payload.

        A missing `user_token` reads as empty: the raw secret needs none. Raises EnvelopeError.
        """
        return cls(
            room_id=fields.identifier(payload, "room_id"),
            server_id=fields.identifier(payload, "server_id"),
            user_id=fields.identifier(payload, "user_id"),
            server_password=fields.text(payload, "server_password"),
            user_token=fields.text({"user_token": "", **payload}, "user_token"),
            resumable=payload.get("resumable") is True,
            simulcast=payload.get("simulcast") is True,
            bandwidth=payload.get("bandwidth") is True,
            redundancy=payload.get("redundancy") is True,
        )


@dataclass(frozen=True, slots=True)
class Admission:
    room: Room
    caps: frozenset[str]
    simulcast: bool = False
    redundancy: bool = False


def admit(rooms: Rooms, request: JoinRequest, wall_now: float) -> Admission:
    """Return the room of the request and the caps of its sender. Raises JoinRefused."""
    registration = rooms.registration(request.server_id)
    if registration is None:
        raise JoinRefused(REFUSAL)
    caps = _caps(registration, request, wall_now)
    room = registration.rooms.get(request.room_id)
    if room is None:
        raise JoinRefused(REFUSAL)
    return Admission(room, caps, request.simulcast, request.redundancy)


def _caps(registration: Registration, request: JoinRequest, wall_now: float) -> frozenset[str]:
    password, server_id = registration.server_password, registration.server_id
    if same_secret(request.server_password, password):
        return CAPS
    if not same_secret(request.server_password, client_credential(password, server_id)):
        raise JoinRefused(REFUSAL)
    try:
        token = verify_user_token(
            request.user_token,
            password,
            server_id,
            user_id=request.user_id,
            room_id=request.room_id,
            now=wall_now,
        )
    except GrantError:
        raise JoinRefused(REFUSAL) from None
    if not registration.spend_token(token.jti, token.expires_at, wall_now):
        raise JoinRefused(REFUSAL)
    return token.caps
