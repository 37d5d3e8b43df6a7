"""Which bytes of a stored file a request wants, and whether it has them already: RFC 9110, 13 and 14.

One range at a time: whoever asks for several is given everything, as section 14.2 allows. Reads
headers only, and answers nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class RangeNotSatisfiable(Exception):
    """None of the bytes that are wanted exists."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a client may hold against its copy. What is stored never changes: the tag is strong."""

    etag: str
    modified_s: int

    @property
    def last_modified(self) -> str:
        return format_datetime(datetime.fromtimestamp(self.modified_s, UTC), usegmt=True)


def has_it_already(headers: Mapping[str, str], validators: Validators) -> bool:
    """Is 304 the answer? If-None-Match counts; the date only where that is absent (13.2.2)."""
    tags = headers.get("If-None-Match")
    if tags is not None:
        # Weak comparison (13.1.2).
        return any(tag.strip() in ("*", validators.etag, f"W/{validators.etag}") for tag in tags.split(","))
    since = _seconds(headers.get("If-Modified-Since"))
    return since is not None and validators.modified_s <= since


def wanted(headers: Mapping[str, str], size: int, validators: Validators) -> tuple[int, int] | None:
    """The bytes from and up to, or None for all of them. Raises RangeNotSatisfiable."""
    found = _RANGE.fullmatch(headers.get("Range", "").strip().lower())
    if found is None or found[0] == "bytes=-" or not _still_the_same(headers.get("If-Range"), validators):
        return None
    first, last = found[1], found[2]
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:  # No range at all: as if it had not been said (14.1.1).
            return None
    if start >= size or start >= end:
        raise RangeNotSatisfiable
    return start, end


def _still_the_same(if_range: str | None, validators: Validators) -> bool:
    """Strong comparison (13.1.5): a range of something else would spoil what the client has."""
    if if_range is None:
        return True
    return if_range.strip() in (validators.etag, validators.last_modified)


def _seconds(date: str | None) -> int | None:
    try:
        return int(parsedate_to_datetime(date).timestamp()) if date else None
    except (ValueError, OverflowError):
        return None
