"""Reads and writes the frames of the media service's WebSockets: `{event, data}`, where `data` is JSON in a
string.

Neither defines the events nor opens connections. See docs/signalling.md.
"""

import json
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins

from svc.base.strict_json import loads
from svc.base.validation import problem_of

# The maximum size of a frame in either direction. The largest legitimate frame contains the SDP for a full
# room, well under 100 KB.
MAX_FRAME_BYTES = 256 * 1024


class EnvelopeError(ValueError):
    """An invalid frame. The message may be shown to its sender."""


@dataclass(frozen=True, slots=True)
class Envelope:
    event: str
    data: str


class Payload(Struct):
    """The base class of payloads. Unknown fields are ignored, and fields that are UNSET are not sent."""

    event: ClassVar[str]
    # Whether an unusable payload is treated as empty.
    lenient: ClassVar[bool] = False


P = TypeVar("P", bound=Payload)


def parse(text: str) -> Envelope:
    """Parse one frame. A missing `data` counts as an empty string."""
    frame = _load(text, "The message")
    if not isinstance(frame, dict):
        raise EnvelopeError("The message is not a JSON object")
    event, data = frame.get("event"), frame.get("data", "")
    if not isinstance(event, str) or not event:
        raise EnvelopeError("The message has no event name")
    if not isinstance(data, str):
        raise EnvelopeError("The data of the message is not a string containing JSON")
    return Envelope(event, data)


def payload(envelope: Envelope) -> dict[str, object]:
    """Return the JSON object inside `data`."""
    value = _load(envelope.data, f"The data of {envelope.event[:64]!r}")
    if not isinstance(value, dict):
        raise EnvelopeError(f"The data of {envelope.event[:64]!r} is not a JSON object")
    return value


def read(envelope: Envelope, kind: type[P]) -> P:
    """Return the payload, or an empty payload if the data is empty. Raises EnvelopeError."""
    try:
        return convert({} if envelope.data.strip() in ("", "null") else payload(envelope), kind)
    except (EnvelopeError, ValidationError) as error:
        if kind.lenient:
            return kind()
        if isinstance(error, ValidationError):
            raise EnvelopeError(problem_of(error, kind)) from None
        raise


def serialise_payload(payload: Payload) -> str:
    return serialise(payload.event, to_builtins(payload))


def serialise(event: str, data: object) -> str:
    """Return a frame whose data is `data`, encoded as a JSON string."""
    return serialise_text(event, json.dumps(data, separators=(",", ":")))


def serialise_text(event: str, text: str) -> str:
    """Return a frame whose data is a bare string, such as the reason in a `room_error`."""
    return json.dumps({"event": event, "data": text}, separators=(",", ":"))


def _load(text: str, subject: str) -> object:
    try:
        return loads(text)
    except ValueError:
        raise EnvelopeError(f"{subject} is not valid JSON") from None
