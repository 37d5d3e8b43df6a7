"""Parses and encodes the live socket's JSON frames, `{event, data, id?, seq?}`, and defines its close codes.

A request has an id, and its only reply has the same id. An event has no id. An event stored for reconnecting
clients has a `seq`, which is higher than the `seq` of any earlier event. The functions are pure: they take
text and return bytes, including the WebSocket header. See RFC 6455 sections 5.2 and 7.4.
"""

import enum
from dataclasses import dataclass

import msgspec

from svc.base.strict_json import loads_object
from svc.chat.errors import ChatError


class CloseCode(enum.IntEnum):
    """The close codes in docs/live.md. After `SIGNED_OUT` or `TOO_MANY_PAGES`, a client must not reconnect
    automatically.
    """

    GOING_AWAY = 1001  # The server is stopping. Reconnect soon.
    PROTOCOL_ERROR = 1002
    INVALID_TEXT = 1007
    REFUSED = 1008  # Sign-in failed; the previous frame gives the reason.
    TOO_BIG = 1009
    SIGNED_OUT = 4001  # The member was removed or signed out.
    TOKEN_EXPIRED = 4003  # Sign in with a fresh access token.
    TOO_SLOW = 4008  # The client did not read fast enough. Reconnect and resume.
    TOO_MANY_PAGES = 4009


# The maximum size of a request. The largest request is a message of 4000 characters; the rest is headroom.
MAX_FRAME_BYTES = 64 * 1024
# The maximum size of a client's first frame, which contains a token and little else.
MAX_FIRST_CHARACTERS = 8 * 1024
MAX_ID_CHARACTERS = 64
# The largest integer that JavaScript and every JSON library represent exactly.
MAX_ID = 2**53
# The FIN bit and the opcode of a text frame.
_TEXT = 0x81

RequestId = int | str


@dataclass(frozen=True, slots=True)
class Request:
    event: str
    id: RequestId
    data: dict[str, object]


def parse(text: str) -> Request:
    """Parse a request. Raises ChatError."""
    try:
        frame = loads_object(text)
    except ValueError:
        raise ChatError("invalid_json") from None
    match frame:
        case {"event": str(event), "id": int() | str() as request_id, **rest} if _usable(request_id):
            data = rest.get("data", {})
            if isinstance(data, dict):
                return Request(event, request_id, data)
    raise ChatError("invalid_request", "A request is {event, id, data}, where id is a number or a short text")


def reply(event: str, request_id: RequestId, data: object) -> bytes:
    return frame_text({"event": event, "id": request_id, "data": data})


def push(event: str, data: object, seq: int | None = None) -> bytes:
    frame = {"event": event, "data": data}
    return frame_text(frame if seq is None else {**frame, "seq": seq})


def error(problem: ChatError, request_id: RequestId | None) -> bytes:
    """Return the reply to a rejected request. It has no id if the request's id could not be read."""
    id_field = {} if request_id is None else {"id": request_id}
    return frame_text({"event": "error", **id_field, "data": problem.body()})


def frame_text(frame: object) -> bytes:
    """Return one unmasked, unfragmented text frame."""
    payload = msgspec.json.encode(frame)
    size = len(payload)
    if size < 126:
        return bytes((_TEXT, size)) + payload
    if size < 1 << 16:
        return bytes((_TEXT, 126)) + size.to_bytes(2, "big") + payload
    return bytes((_TEXT, 127)) + size.to_bytes(8, "big") + payload


def _usable(request_id: RequestId) -> bool:
    if isinstance(request_id, str):
        return len(request_id) <= MAX_ID_CHARACTERS
    return not isinstance(request_id, bool) and abs(request_id) <= MAX_ID
