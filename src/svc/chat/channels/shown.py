"""Channels and their overrides as clients see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.access import directory
from svc.chat.access.permissions import OF_A_CHANNEL, names
from svc.chat.channels.overrides import Change
from svc.chat.channels.wanted import KINDS, MAX_NAME_CHARACTERS, BitrateKbps, SlowModeS, Topic, UserLimit
from svc.chat.fields import Id, Natural

PermissionName = Annotated[str, Meta(extra_json_schema={"enum": [*names(OF_A_CHANNEL)]})]


@dataclass(frozen=True, slots=True)
class Channel:
    """Overrides are for those who manage channels."""

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


@dataclass(frozen=True, slots=True)
class Override:
    type: Annotated[str, Meta(extra_json_schema={"enum": ["role", "member"]})]
    target_id: Id
    allow: Sequence[PermissionName]
    deny: Sequence[PermissionName]


def channel(of: directory.Channel) -> Channel:
    return Channel(
        id=of.id,
        name=of.name,
        type=of.kind,
        position=of.position,
        topic=of.topic,
        slow_mode_s=of.slow_mode_s,
        parent_id=of.parent_id,
        archived=of.archived,
        user_limit=of.user_limit,
        bitrate_kbps=of.bitrate_kbps,
        encrypted=of.encrypted,
    )


def override(of: Change) -> Override:
    return Override(of.kind, of.target_id, names(of.override.allow), names(of.override.deny))
