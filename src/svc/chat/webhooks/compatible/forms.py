"""Payloads that come in a form instead of as JSON, as some tools send them: bytes in, values out.

What looks like JSON is JSON, whatever the Content-Type says: `curl -d` calls everything a form.
Does no I/O. RFC 7578 and 8187; WHATWG URL standard, application/x-www-form-urlencoded.
"""

import codecs
from collections.abc import Sequence
from urllib.parse import parse_qsl

from svc.chat.errors import ChatError
from svc.chat.http import disposition, parameters
from svc.chat.webhooks.body import decode

# Discord's form has a dozen, and ten files.
MAX_PARTS = 64
# Of a part: its name, a file's name and its type.
MAX_HEAD_BYTES = 4 * 1024


def value_in(body: bytes, name: str) -> object:
    """The JSON value that a body is, or that the field `name` of a form holds. Raises ChatError."""
    if _is_json(body):
        return decode(body)
    fields = _urlencoded(body)
    if name not in fields:
        raise ChatError("invalid_json")
    return decode(fields[name].encode())


def discord_value(content_type: str, body: bytes) -> tuple[object, Sequence[str]]:
    """What was posted to Discord, in JSON or in a form of either kind, and the names of files beside it."""
    if content_type.lower().startswith("multipart/form-data"):
        fields, files = _multipart(content_type, body)
    elif _is_json(body):
        return decode(body), ()
    else:
        fields, files = _urlencoded(body), []
    if "payload_json" in fields:
        return decode(fields["payload_json"].encode()), files
    if not fields and not files:
        raise ChatError("invalid_json")
    return fields, files


def _is_json(body: bytes) -> bool:
    """Form fields begin with a letter; so do three words that are no payload either way."""
    return body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b'"', b"")


def _urlencoded(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), errors="strict", max_num_fields=MAX_PARTS))
    except ValueError:
        raise ChatError("invalid_json") from None


def _multipart(content_type: str, body: bytes) -> tuple[dict[str, str], list[str]]:
    """Cut at the boundary and no further: for the worst of bodies the library takes half a second."""
    boundary = parameters(content_type).get("boundary", "").encode("utf-8", "replace")
    if not boundary:
        raise ChatError("invalid_json")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_PARTS + 2)
    # What stands before the first part, the parts, and the end of the last.
    if not 3 <= len(pieces) <= MAX_PARTS + 2 or not pieces[-1].startswith(b"--"):
        raise ChatError("invalid_json")
    fields: dict[str, str] = {}
    files: list[str] = []
    for part in pieces[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        if len(head) > MAX_HEAD_BYTES:
            raise ChatError("invalid_json")
        said = disposition(head)
        if "filename" in said:
            files.append(said["filename"])
        elif "name" in said:
            fields[said["name"]] = _decoded(data)
    return fields, files


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ChatError("invalid_json") from None
