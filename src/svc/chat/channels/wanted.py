"""What a request says of a channel: how a new one is to be, and what is to change of one that there is.

Reads and bounds the values, the same for HTTP and the control socket; knows neither.
"""

from collections.abc import Mapping

from svc.chat.access.directory import CATEGORY, TEXT, VOICE, Channel
from svc.chat.channels.slow_mode import MAX_SLOW_MODE_S
from svc.chat.errors import ChatError
from svc.chat.fields import Data, flag, number, optional_identifier, optional_text, text
from svc.chat.names import readable_name

MAX_NAME_CHARACTERS = 64
MAX_TOPIC_CHARACTERS = 1024
# More than any media service takes into one room.
MAX_USER_LIMIT = 1000
# What Opus is good for (RFC 6716 section 2.1.1).
MIN_BITRATE_KBPS, MAX_BITRATE_KBPS = 6, 510
KINDS = (TEXT, VOICE, CATEGORY)

Differences = Mapping[str, str | int | None]


def new(data: Data) -> Channel:
    """A channel without id and place. Raises ChatError."""
    kind = text(data, "type", most=16)
    if kind not in KINDS:
        raise ChatError("invalid_request", f"type must be {TEXT}, {VOICE} or {CATEGORY}")
    return Channel(
        id="",
        name=_name(data),
        kind=kind,
        topic=optional_text(data, "topic", most=MAX_TOPIC_CHARACTERS) or "",
        slow_mode_s=number(data, "slow_mode_s", least=0, most=MAX_SLOW_MODE_S, default=0),
        parent_id=optional_identifier(data, "parent_id"),
        user_limit=_user_limit(data) if data.get("user_limit") is not None else 0,
        bitrate_kbps=_bitrate(data) if data.get("bitrate_kbps") is not None else 0,
    )


def differences(data: Data) -> Differences:
    """Attributes of `Channel` by name, and what they are to become. Raises ChatError where there are none."""
    wanted: dict[str, str | int | None] = {}
    if data.get("name") is not None:
        wanted["name"] = _name(data)
    if data.get("topic") is not None:
        wanted["topic"] = text(data, "topic", most=MAX_TOPIC_CHARACTERS)
    if data.get("slow_mode_s") is not None:
        wanted["slow_mode_s"] = number(data, "slow_mode_s", least=0, most=MAX_SLOW_MODE_S)
    if "parent_id" in data:
        wanted["parent_id"] = optional_identifier(data, "parent_id")
    if data.get("archived") is not None:
        wanted["archived"] = flag(data, "archived")
    if data.get("user_limit") is not None:
        wanted["user_limit"] = _user_limit(data)
    if data.get("bitrate_kbps") is not None:
        wanted["bitrate_kbps"] = _bitrate(data)
    if not wanted:
        raise ChatError("invalid_request", "Give at least one field to change, such as name or topic")
    return wanted


def _user_limit(data: Data) -> int:
    return number(data, "user_limit", least=0, most=MAX_USER_LIMIT)


def _bitrate(data: Data) -> int:
    kbps = number(data, "bitrate_kbps", least=0, most=MAX_BITRATE_KBPS)
    if 0 < kbps < MIN_BITRATE_KBPS:
        message = f"bitrate_kbps must be 0 or from {MIN_BITRATE_KBPS} to {MAX_BITRATE_KBPS}"
        raise ChatError("invalid_request", message)
    return kbps


def _name(data: Data) -> str:
    return readable_name(text(data, "name", most=4 * MAX_NAME_CHARACTERS), MAX_NAME_CHARACTERS)
