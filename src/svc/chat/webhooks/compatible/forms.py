"""Payloads that come in a form instead of as JSON, as some tools send them: bytes in, values out.

What looks like JSON is JSON, whatever the Content-Type says: `curl -d` calls everything a form.
Does no I/O. RFC 7578; WHATWG URL standard, application/x-www-form-urlencoded.
"""

import codecs
from collections.abc import Sequence
from email import message_from_bytes
from urllib.parse import parse_qsl

from svc.chat.errors import ChatError
from svc.chat.webhooks.body import decode

# Discord's form has a dozen, and ten files.
MAX_PARTS = 64


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
    try:
        form = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
        parts = [part for part in form.walk() if not part.is_multipart()]
        if not form.is_multipart() or len(parts) > MAX_PARTS:
            raise ChatError("invalid_json")
        fields: dict[str, str] = {}
        files: list[str] = []
        for part in parts:
            name = part.get_param("name", header="Content-Disposition")
            file_name, data = part.get_filename(), part.get_payload(decode=True)
            if file_name is not None:
                files.append(file_name)
            elif isinstance(name, str) and isinstance(data, bytes):
                fields[name] = data.decode()
        return fields, files
    except (ValueError, LookupError, RecursionError):  # LookupError: a charset nobody knows.
        raise ChatError("invalid_json") from None
