"""The JSON frames of the live socket: `{event, data, id?}`.

A request carries an id and gets exactly one reply with it; a push has none. Pure text
in, text out.
"""

import json
from dataclasses import dataclass

from svc.base.strict_json import loads_object
from svc.chat.errors import ChatError

# The largest request names a channel; the rest is room to grow.
MAX_FRAME_BYTES = 64 * 1024
MAX_ID_CHARACTERS = 64

RequestId = int | str


@dataclass(frozen=True, slots=True)
class Request:
    event: str
    id: RequestId
    data: dict[str, object]


def parse(text: str) -> Request:
    """Read one request. Raises ChatError."""
    try:
        frame = loads_object(text)
    except ValueError:
        raise ChatError("invalid_json") from None
    match frame:
        case {"event": str(event), "id": bool()}:
            raise ChatError("invalid_request", "The id of a request is a number or a short text")
        case {"event": str(event), "id": int() | str() as request_id, **rest}:
            data = rest.get("data", {})
            if isinstance(data, dict) and len(str(request_id)) <= MAX_ID_CHARACTERS:
                return Request(event, request_id, data)
    raise ChatError("invalid_request", "A request is {event, id, data}, data being an object")


def reply(event: str, request_id: RequestId, data: object) -> str:
    return json.dumps({"event": event, "id": request_id, "data": data}, separators=(",", ":"))


def push(event: str, data: object) -> str:
    return json.dumps({"event": event, "data": data}, separators=(",", ":"))


def error(problem: ChatError, request_id: RequestId | None) -> str:
    """The reply to a request that was refused; without an id where none could be read."""
    frame: dict[str, object] = {"event": "error", "data": problem.body()}
    if request_id is not None:
        frame["id"] = request_id
    return json.dumps(frame, separators=(",", ":"))
