"""What a URL, a colour and a moment may look like in a payload. Pure.

The patterns are those of the published description: Python, ECMA 262 and RE2 read them alike.
Resolves and fetches nothing; an address that nobody should fetch is a valid URL here.
docs/webhooks.md.
"""

import re
from datetime import datetime, timedelta

from svc.chat.webhooks.limits import MAX_COLOR

# White space of all kinds, and the controls that some count as such.
_SPACES = r"\x09-\x0d\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
# Somewhere in a string, what makes it more than spaces.
SAID = rf"[^{_SPACES}]"
NO_NUL = r"^[^\x00]*$"
COLOR = r"^#[0-9A-Fa-f]{6}$"

_UNFIT = rf"\x00-\x1f\x7f{_SPACES}"
_USER = rf"(?:[^{_UNFIT}/?#@\\]*@)?"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|[^{_UNFIT}/?#@:\[\]\\]+)"
_PORT = "[0-9]{0,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
URL = rf"^[Hh][Tt][Tt][Pp][Ss]?://{_USER}{_HOST}(?::(?:{_PORT}))?(?:[/?#][^{_UNFIT}]*)?$"

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
# Two digits that 4 divides, but for 00: they end a leap year, or begin one that ends with 00.
_FOURS = "(?:0[48]|[2468][048]|[13579][26])"
# The days that there are, as year, month and day.
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
# A leap second is the last before midnight UTC, which some zones meet at another quarter of an hour (RFC 3339
# section 5.8).
_LEAP = "(?:14|29|44|59)", f"60{_FRACTION}"
_TIME = (
    f"{_HOUR}(?::(?:{_MINUTE}(?::{_SECOND})?|{_LEAP[0]}:{_LEAP[1]})|{_MINUTE}(?:{_SECOND})?|{''.join(_LEAP)})"
)
_ZONE = f"(?:[Zz]|[+-]{_HOUR}(?::?{_MINUTE})?)"
# Extended or basic format, a calendar date, to the minute at least (ISO 8601-1:2019 section 5.4.2).
TIMESTAMP = f"^(?:{_DATE})[Tt ]{_TIME}{_ZONE}$"

_said = re.compile(SAID)
_url = re.compile(URL)
_color = re.compile(COLOR)
_timestamp = re.compile(TIMESTAMP)
# The same again, loosely, to take it apart.
_parts = re.compile(
    r"(?P<year>\d{4})-?(?P<month>\d\d)-?(?P<day>\d\d).(?P<hour>\d\d):?(?P<minute>\d\d)"
    r"(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?:[Zz]|(?P<zone_hour>[+-]\d\d)(?::?(?P<zone_minute>\d\d))?)"
)
# Nobody's clock says more.
_FRACTION_DIGITS = 9


def is_blank(text: str) -> bool:
    # Most texts begin with a letter that nobody takes for a space.
    return not "!" <= text[:1] <= "~" and _said.search(text) is None


def is_clean(text: str) -> bool:
    """Can the string be stored and sent? No NUL, and no half of a surrogate pair."""
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
    """As a number; None for what is no colour."""
    if isinstance(value, str):
        return int(value[1:], 16) if _color.fullmatch(value) else None
    # JSON knows one kind of number, so that 255.0 is a whole one. `true` is none.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MAX_COLOR and value == int(value) else None


def moment_of(text: str) -> str | None:
    """As RFC 3339 writes it, in the zone in which it was given; None for what is no such moment."""
    parts = _parts.fullmatch(text) if _timestamp.fullmatch(text) else None
    if parts is None:
        return None
    date, leap = f"{parts['year']}-{parts['month']}-{parts['day']}", parts["second"] == "60"
    clock = f"{parts['hour']}:{parts['minute']}:{'59' if leap else parts['second'] or '00'}"
    if leap:
        # Hardly any reader's clock has such a second: for them it is the first of the next minute.
        date, clock = _second_after(date, clock)
    fraction = f".{parts['fraction'][:_FRACTION_DIGITS]}" if parts["fraction"] else ""
    zone = f"{parts['zone_hour']}:{parts['zone_minute'] or '00'}" if parts["zone_hour"] else "Z"
    return f"{date}T{clock}{fraction}{zone}"


def _second_after(date: str, clock: str) -> tuple[str, str]:
    """The last second that can be written stays as it is."""
    moment = datetime.fromisoformat(f"{date}T{clock}")
    later = moment + min(timedelta(seconds=1), datetime.max.replace(microsecond=0) - moment)
    return later.date().isoformat(), later.time().isoformat()
