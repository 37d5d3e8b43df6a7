"""What a request says of a channel: how a new one is to be, and what is to change of one that there is.

The same for HTTP and the control socket; knows neither.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, structs

from svc.chat.access.directory import CATEGORY, TEXT, VOICE, Channel
from svc.chat.channels.slow_mode import MAX_SLOW_MODE_S
from svc.chat.described import string
from svc.chat.errors import ChatError
from svc.chat.fields import Id
from svc.chat.names import readable_name
from svc.chat.requests import Asked

MAX_NAME_CHARACTERS = 64
# More than any media service takes into one room.
MAX_USER_LIMIT = 1000
# What Opus is good for (RFC 6716 section 2.1.1).
MIN_BITRATE_KBPS, MAX_BITRATE_KBPS = 6, 510
KINDS = (TEXT, VOICE, CATEGORY)

Topic = Annotated[str, Meta(max_length=1024)]
SlowModeS = Annotated[int, Meta(ge=0, le=MAX_SLOW_MODE_S)]
UserLimit = Annotated[int, Meta(ge=0, le=MAX_USER_LIMIT)]
BitrateKbps = Annotated[int, Meta(ge=0, le=MAX_BITRATE_KBPS)]
# It is made readable before its length is judged.
_Name = Annotated[str, Meta(extra_json_schema=string(MAX_NAME_CHARACTERS, 1))]

Differences = Mapping[str, str | int | None]


class NewChannel(Asked):
    name: _Name
    type: Literal["text", "voice", "category"]
    topic: Topic | None = None
    slow_mode_s: SlowModeS | None = None
    parent_id: Id | None = None
    user_limit: UserLimit | None = None
    bitrate_kbps: BitrateKbps | None = None

    def channel(self) -> Channel:
        """Without id and place. Raises ChatError."""
        return Channel(
            id="",
            name=readable_name(self.name, MAX_NAME_CHARACTERS),
            kind=self.type,
            topic=self.topic or "",
            slow_mode_s=self.slow_mode_s or 0,
            parent_id=self.parent_id,
            user_limit=self.user_limit or 0,
            bitrate_kbps=_bitrate(self.bitrate_kbps or 0),
        )


class ChannelChanges(Asked):
    # What is null stays as it is, but for the category: that becomes none.

    name: _Name | None = None
    archived: bool | None = None
    topic: Topic | None = None
    slow_mode_s: SlowModeS | None = None
    parent_id: Id | UnsetType | None = UNSET
    user_limit: UserLimit | None = None
    bitrate_kbps: BitrateKbps | None = None

    def differences(self) -> Differences:
        """Attributes of `Channel` by name. Raises ChatError where there are none."""
        wanted = {name: value for name, value in structs.asdict(self).items() if value is not None}
        wanted["parent_id"] = self.parent_id
        if self.parent_id is UNSET:
            del wanted["parent_id"]
        if not wanted:
            raise ChatError("invalid_request", "Give at least one field to change, such as name or topic")
        if self.name is not None:
            wanted["name"] = readable_name(self.name, MAX_NAME_CHARACTERS)
        _bitrate(self.bitrate_kbps or 0)
        return wanted


def _bitrate(kbps: int) -> int:
    if 0 < kbps < MIN_BITRATE_KBPS:
        message = f"bitrate_kbps must be 0 or from {MIN_BITRATE_KBPS} to {MAX_BITRATE_KBPS}"
        raise ChatError("invalid_request", message)
    return kbps
