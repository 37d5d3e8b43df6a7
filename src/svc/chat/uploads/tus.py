"""Resumable uploads as tus clients speak them: protocol 1.0.0, its core with creation, termination and
expiration (tus.io/protocols/resumable-upload).

Reads and writes headers only.
"""

from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime

from svc.chat.errors import ChatError
from svc.chat.uploads.limits import EMPTY_KEPT_S, UNFINISHED_KEPT_S
from svc.chat.uploads.upload import RECEIVING, Upload

VERSION = "1.0.0"
PATCH_TYPE = "application/offset+octet-stream"
# What pages of other permitted sites must be let see and say.
EXPOSED = ("Location", "Tus-Resumable", "Upload-Expires", "Upload-Length", "Upload-Offset")
SAID = ("Tus-Resumable", "Upload-Length", "Upload-Metadata", "Upload-Offset")
_MAX_METADATA_CHARACTERS = 8 * 1024


def spoken(headers: Mapping[str, str]) -> bool:
    """Is this a tus client? Raises ChatError for one of another version."""
    version = headers.get("Tus-Resumable")
    if version is None:
        return False
    if version != VERSION:
        raise ChatError("tus_version", more={"versions": [VERSION]})
    return True


def length(headers: Mapping[str, str]) -> int:
    """How long the upload will be. Raises ChatError."""
    return _number(headers, "Upload-Length")


def offset(headers: Mapping[str, str]) -> int:
    """Where what comes belongs. Raises ChatError."""
    if headers.get("Content-Type") != PATCH_TYPE:
        raise ChatError("wrong_content_type", f"The Content-Type must be {PATCH_TYPE}")
    return _number(headers, "Upload-Offset")


def metadata(headers: Mapping[str, str]) -> dict[str, str]:
    """`key base64,key base64,…`; a key may stand alone. Raises ChatError."""
    said = headers.get("Upload-Metadata", "")
    if len(said) > _MAX_METADATA_CHARACTERS:
        raise ChatError("invalid_request", "Upload-Metadata is too long")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in said.split(","))):
        name, _, value = pair.partition(" ")
        try:
            found[name] = b64decode(value, validate=True).decode()
        except ValueError:  # No base64, or what it stands for is no UTF-8.
            raise ChatError("invalid_request", "Upload-Metadata must be names and base64") from None
    return found


def state(upload: Upload) -> dict[str, str]:
    """How far an upload has come, and until when it can be gone on with."""
    told = {
        "Tus-Resumable": VERSION,
        "Upload-Offset": str(upload.received),
        "Upload-Length": str(upload.length),
    }
    if upload.state == RECEIVING:
        kept_s = UNFINISHED_KEPT_S if upload.received else EMPTY_KEPT_S
        ends = datetime.fromtimestamp(upload.created_at_ms / 1000 + kept_s, UTC)
        told["Upload-Expires"] = format_datetime(ends, usegmt=True)
    return told


def _number(headers: Mapping[str, str], name: str) -> int:
    value = headers.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) <= 15):
        raise ChatError("invalid_request", f"{name} must be a whole number")
    return int(value)
