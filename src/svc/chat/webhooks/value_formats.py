"""Checks URLs, colours and timestamps in a payload. Performs no I/O.

The published description contains the same patterns, which mean the same in Python, ECMA 262 and RE2. Nothing
is resolved or fetched, so a URL that may not be fetched is still valid. See docs/webhooks.md.
"""

import re
from datetime import datetime, timedelta

from svc.chat.webhooks.limits import MAX_COLOR

# All kinds of whitespace, and the control characters that some programs treat as whitespace.
_SPACES = r"\x09-\x0d\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
# Matches a character that is not blank, anywhere in a string.
NOT_BLANK = rf"[^{_SPACES}]"
NO_NUL = r"^[^\x00]*$"
COLOR = r"^#[0-9A-Fa-f]{6}$"

_UNFIT = rf"\x00-\x1f\x7f{_SPACES}"
_USER = rf"(?:[^{_UNFIT}/?#@\\]*@)?"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|[^{_UNFIT}/?#@:\[\]\\]+)"
_PORT = "[0-9]{0,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
URL = rf"^[Hh][Tt][Tt][Pp][Ss]?://{_USER}{_HOST}(?::(?:{_PORT}))?(?:[/?#][^{_UNFIT}]*)?$"

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
# Matches two-digit numbers divisible by 4, except 00. A leap year ends with such a number, or is such a
# number followed by 00.
_FOURS = "(?:0[48]|[2468][048]|[13579][26])"
# The patterns for the year, month and day of all valid dates.
_DAYS = (
    (_YEAR, "(?:0[13578]|1[02])", "(?:0[1-9]|[12][0-9]|3[01])"),
    (_YEAR, "(?:0[469]|11)", "(?:0[1-9]|[12][0-9]|30)"),
    (_YEAR, "02", "(?:0[1-9]|1[0-9]|2[0-8])"),
    (f"(?:[0-9]{{2}}{_FOURS}|{_FOURS}00)", "02", "29"),
)
_DATE = "|".join(f"{year}{dash}{month}{dash}{day}" for dash in ("-", "") for year, month, day in _DAYS)
_HOUR, _MINUTE = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_FRACTION = "(?:[.,][0-9]+)?"
_SECOND = f"[0-5][0-9]{_FRACTION}"
# The minutes and seconds of a leap second, which is the last second before midnight UTC. In some time zones,
# it ends a different quarter of an hour (RFC 3339 section 5.8).
_LEAP = "(?:14|29|44|59)", f"60{_FRACTION}"
_TIME = (
    f"{_HOUR}(?::(?:{_MINUTE}(?::{_SECOND})?|{_LEAP[0]}:{_LEAP[1]})|{_MINUTE}(?:{_SECOND})?|{''.join(_LEAP)})"
)
_ZONE = f"(?:[Zz]|[+-]{_HOUR}(?::?{_MINUTE})?)"
# Matches the extended or basic format with a calendar date and at least hours and minutes (ISO 8601-1:2019
# section 5.4.2).
TIMESTAMP = f"^(?:{_DATE})[Tt ]{_TIME}{_ZONE}$"

_has_text = re.compile(NOT_BLANK)
_url = re.compile(URL)
_color = re.compile(COLOR)
_timestamp = re.compile(TIMESTAMP)
# A looser pattern for splitting a valid timestamp into its parts.
_parts = re.compile(
    r"(?P<year>\d{4})-?(?P<month>\d\d)-?(?P<day>\d\d).(?P<hour>\d\d):?(?P<minute>\d\d)"
    r"(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?:[Zz]|(?P<zone_hour>[+-]\d\d)(?::?(?P<zone_minute>\d\d))?)"
)
# The number of digits to keep in a fraction of a second. No clock is more precise.
_FRACTION_DIGITS = 9


def is_blank(text: str) -> bool:
    # Most strings begin with a visible ASCII character, so check that first.
    return not "!" <= text[:1] <= "~" and _has_text.search(text) is None


def is_clean(text: str) -> bool:
    """Return whether a string can be stored and sent, that is, contains no NULs or lone surrogates."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_url(text: str) -> bool:
    return _url.fullmatch(text) is not None


def color_of(value: object) -> int | None:
    """Return a colour as a number, or None if it is invalid."""
    if isinstance(value, str):
        return int(value[1:], 16) if _color.fullmatch(value) else None
    # JSON has only one kind of number, so 255.0 is a whole number. `true` is not a number.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MAX_COLOR and value == int(value) else None


def moment_of(text: str) -> str | None:
    """Convert a timestamp to RFC 3339 in its own time zone. Return None if it is invalid."""
    parts = _parts.fullmatch(text) if _timestamp.fullmatch(text) else None
    if parts is None:
        return None
    date, leap = f"{parts['year']}-{parts['month']}-{parts['day']}", parts["second"] == "60"
    clock = f"{parts['hour']}:{parts['minute']}:{'59' if leap else parts['second'] or '00'}"
    if leap:
        # Hardly any program can show a leap second, so it becomes the first second of the next minute.
        date, clock = _second_after(date, clock)
    fraction = f".{parts['fraction'][:_FRACTION_DIGITS]}" if parts["fraction"] else ""
    zone = f"{parts['zone_hour']}:{parts['zone_minute'] or '00'}" if parts["zone_hour"] else "Z"
    return f"{date}T{clock}{fraction}{zone}"


def _second_after(date: str, clock: str) -> tuple[str, str]:
    """Return the date and time one second later. The last representable second stays unchanged."""
    moment = datetime.fromisoformat(f"{date}T{clock}")
    later = moment + min(timedelta(seconds=1), datetime.max.replace(microsecond=0) - moment)
    return later.date().isoformat(), later.time().isoformat()
