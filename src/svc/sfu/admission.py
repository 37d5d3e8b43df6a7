"""Decides whether a client may join a room, based on the client's `client_join` event.

A client presents one of two secrets. The first is the registration's raw secret. Anyone who has it has full
authority, so no `user_token` is checked. The second is the client credential, which the chat server gives to
its members. It is accepted only with an unexpired, unused `user_token` signed for this user and this room.
Every other request is rejected with the same message, so that outsiders cannot learn which rooms exist.

Does not assign seats (`rooms` does). See docs/signalling.md, "From participants".
"""

from dataclasses import dataclass

from svc.base.grants import CAPS, GrantError, client_credential, same_secret, verify_user_token
from svc.sfu.client_events import ClientJoin
from svc.sfu.rooms import Registration, Room, Rooms

REFUSAL = "Room does not exist or credentials do not match"


class JoinRefused(Exception):
    """The join is rejected. The reason may be sent to the client."""


@dataclass(frozen=True, slots=True)
class Admission:
    room: Room
    caps: frozenset[str]
    simulcast: bool = False
    redundancy: bool = False


def admit(rooms: Rooms, request: ClientJoin, wall_now: float) -> Admission:
    """Return the requested room and the sender's capabilities in it. Raises JoinRefused."""
    registration = rooms.registration(request.server_id)
    if registration is None:
        raise JoinRefused(REFUSAL)
    caps = _caps(registration, request, wall_now)
    room = registration.rooms.get(request.room_id)
    if room is None:
        raise JoinRefused(REFUSAL)
    return Admission(room, caps, request.simulcast is True, request.redundancy is True)


def _caps(registration: Registration, request: ClientJoin, wall_now: float) -> frozenset[str]:
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
