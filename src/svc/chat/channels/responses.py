"""Request and response types for channels and overrides.

Used by HTTP and by the control socket.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, structs

from svc.chat.access import directory
from svc.chat.access.directory import CATEGORY, TEXT, VOICE
from svc.chat.access.permissions import OF_A_CHANNEL, names
from svc.chat.channels.overrides import Change
from svc.chat.endpoints import Request
from svc.chat.errors import ChatError
from svc.chat.names import readable_name
from svc.chat.schemas import Id, Natural, Response, string

# The longest slow mode. No member would wait longer.
MAX_SLOW_MODE_S = 6 * 60 * 60
# The interval in seconds at which outdated entries are removed.
_TIDY_S = 600.0


class SlowMode:
    """Tracks how long each person must wait before their next message in a channel in slow mode.

    Waits are kept only in memory, so everybody may write immediately after a restart. Outdated entries are
    removed.
    """

    def __init__(self) -> None:
        # Maps a person and a channel to the end of the wait.
        self._until: dict[tuple[str, str], float] = {}
        self._tidied_at = 0.0

    def wait_s(self, person_id: str, channel_id: str, slow_mode_s: int, now: float) -> float:
        """Return the number of seconds to wait. 0 permits one message, which counts as sent now."""
        if not slow_mode_s:
            return 0.0
        # The cleanup also runs if the clock has been set back, and then removes impossibly long waits.
        if not 0 <= now - self._tidied_at <= _TIDY_S:
            latest = now + MAX_SLOW_MODE_S
            self._until = {key: until for key, until in self._until.items() if now < until <= latest}
            self._tidied_at = now
        key = person_id, channel_id
        # A shortened slow mode applies immediately.
        until = min(self._until.get(key, 0.0), now + slow_mode_s)
        if until > now:
            return until - now
        self._until[key] = now + slow_mode_s
        return 0.0


MAX_NAME_CHARACTERS = 64
# The highest limit for participants, more than any media service accepts in one room.
MAX_USER_LIMIT = 1000
# Opus's range (RFC 6716 section 2.1.1).
MIN_BITRATE_KBPS, MAX_BITRATE_KBPS = 6, 510
KINDS = (TEXT, VOICE, CATEGORY)

Topic = Annotated[str, Meta(max_length=1024)]
SlowModeS = Annotated[int, Meta(ge=0, le=MAX_SLOW_MODE_S)]
UserLimit = Annotated[int, Meta(ge=0, le=MAX_USER_LIMIT)]
BitrateKbps = Annotated[int, Meta(ge=0, le=MAX_BITRATE_KBPS)]
# The length is checked after normalisation.
_Name = Annotated[str, Meta(extra_json_schema=string(MAX_NAME_CHARACTERS, 1))]

Differences = Mapping[str, str | int | None]


class NewChannel(Request):
    name: _Name
    type: Literal["text", "voice", "category"]
    topic: Topic | None = None
    slow_mode_s: SlowModeS | None = None
    parent_id: Id | None = None
    user_limit: UserLimit | None = None
    bitrate_kbps: BitrateKbps | None = None
    encrypted: bool | None = None

    def channel(self) -> directory.Channel:
        """Return the requested channel, which has no id or position yet. Raises ChatError."""
        return directory.Channel(
            id="",
            name=readable_name(self.name, MAX_NAME_CHARACTERS),
            kind=self.type,
            topic=self.topic or "",
            slow_mode_s=self.slow_mode_s or 0,
            parent_id=self.parent_id,
            user_limit=self.user_limit or 0,
            bitrate_kbps=_bitrate(self.bitrate_kbps or 0),
            encrypted=self.encrypted or False,
        )


class ChannelChanges(Request):
    # Null means unchanged, except for the category: null removes it.

    name: _Name | None = None
    archived: bool | None = None
    topic: Topic | None = None
    slow_mode_s: SlowModeS | None = None
    parent_id: Id | UnsetType | None = UNSET
    user_limit: UserLimit | None = None
    bitrate_kbps: BitrateKbps | None = None
    encrypted: bool | None = None

    def differences(self) -> Differences:
        """Return the changed attributes, keyed by name. Raises ChatError if there are none."""
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


PermissionName = Annotated[str, Meta(extra_json_schema={"enum": [*names(OF_A_CHANNEL)]})]


class Channel(Response):
    """A channel. Its overrides are a separate resource, which only members who manage channels can read."""

    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    type: Annotated[str, Meta(extra_json_schema={"enum": [*KINDS]})]
    position: Natural
    topic: Topic
    slow_mode_s: SlowModeS
    parent_id: Id | None
    archived: bool
    user_limit: UserLimit
    bitrate_kbps: BitrateKbps
    encrypted: bool


class Override(Response):
    type: Annotated[str, Meta(extra_json_schema={"enum": ["role", "member"]})]
    target_id: Id
    allow: Sequence[PermissionName]
    deny: Sequence[PermissionName]


class ChannelDeleted(Response):
    channel_id: Id


def channel(of: directory.Channel) -> Channel:
    """Convert a channel to its response. The API calls its kind `type`."""
    attributes = {name: getattr(of, name) for name in Channel.__struct_fields__ if name != "type"}
    return Channel(type=of.kind, **attributes)


def override(of: Change) -> Override:
    return Override(of.kind, of.target_id, names(of.override.allow), names(of.override.deny))
