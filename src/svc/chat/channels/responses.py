"""Request and response types for channels and overrides.

Used over HTTP and on the control socket.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, structs

from svc.chat.access import directory
from svc.chat.access.channel_properties import (
    MAX_BITRATE_KBPS,
    MAX_SLOW_MODE_S,
    MIN_BITRATE_KBPS,
    ChannelProperties,
    with_properties,
)
from svc.chat.access.directory import CATEGORY, TEXT, VOICE
from svc.chat.access.permissions import OF_A_CHANNEL, names
from svc.chat.channels.overrides import Change
from svc.chat.endpoints import Request
from svc.chat.errors import ChatError
from svc.chat.names import readable_name
from svc.chat.schemas import Id, Natural, Response, string

# The interval in seconds at which outdated entries are removed.
_TIDY_S = 600.0


class SlowMode:
    """The time that each person must wait before their next message in a slow-mode channel.

    Waits are kept only in memory, so everybody may post immediately after a restart.
    """

    def __init__(self) -> None:
        # Maps a person and a channel to the end of the wait.
        self._until: dict[tuple[str, str], float] = {}
        self._tidied_at = 0.0

    def wait_s(self, person_id: str, channel_id: str, slow_mode_s: int, now: float) -> float:
        """Return how many seconds to wait. If this is 0, record that a message is sent now."""
        if not slow_mode_s:
            return 0.0
        # The cleanup also runs if the clock has been set back. It then removes impossibly long waits.
        if not 0 <= now - self._tidied_at <= _TIDY_S:
            latest = now + MAX_SLOW_MODE_S
            self._until = {key: until for key, until in self._until.items() if now < until <= latest}
            self._tidied_at = now
        key = person_id, channel_id
        # A shorter slow mode applies immediately.
        until = min(self._until.get(key, 0.0), now + slow_mode_s)
        if until > now:
            return until - now
        self._until[key] = now + slow_mode_s
        return 0.0


MAX_NAME_CHARACTERS = 64
KINDS = (TEXT, VOICE, CATEGORY)

# The length is checked after normalisation.
_Name = Annotated[str, Meta(extra_json_schema=string(MAX_NAME_CHARACTERS, 1))]

Differences = Mapping[str, str | int | None]


def _optional(kind: Any, default: object) -> tuple[Any, None]:
    return kind | None, None


@with_properties(_optional)
class NewChannel(Request):
    name: _Name
    type: Literal["text", "voice", "category"]
    parent_id: Id | None = None

    def channel(self) -> directory.Channel:
        """Return the requested channel, which has no id or position yet. Raises ChatError."""
        changes = {name: value for name, value in structs.asdict(self).items() if value is not None}
        wanted = {
            field.name: changes[field.name] for field in fields(ChannelProperties) if field.name in changes
        }
        _check_bitrate(wanted)
        name = readable_name(self.name, MAX_NAME_CHARACTERS)
        return directory.Channel(id="", name=name, kind=self.type, parent_id=self.parent_id, **wanted)


@with_properties(_optional)
class ChannelChanges(Request):
    # Null means unchanged, except that a null `parent_id` removes the category.

    name: _Name | None = None
    archived: bool | None = None
    parent_id: Id | UnsetType | None = UNSET

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
        _check_bitrate(wanted)
        return wanted


def _check_bitrate(wanted: Mapping[str, Any]) -> None:
    if 0 < wanted.get("bitrate_kbps", 0) < MIN_BITRATE_KBPS:
        message = f"bitrate_kbps must be 0 or from {MIN_BITRATE_KBPS} to {MAX_BITRATE_KBPS}"
        raise ChatError("invalid_request", message)


PermissionName = Annotated[str, Meta(extra_json_schema={"enum": [*names(OF_A_CHANNEL)]})]


@with_properties(lambda kind, default: (kind,))
class Channel(Response):
    """A channel. Its overrides are a separate resource, which only members who manage channels can read."""

    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    type: Annotated[str, Meta(extra_json_schema={"enum": [*KINDS]})]
    position: Natural
    parent_id: Id | None
    archived: bool


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
