"""Handles requests and commands for channels and their overrides."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from svc.chat.access.directory import Channel, Directory
from svc.chat.access.endpoint_permissions import MEMBER as ANY_MEMBER
from svc.chat.access.endpoint_permissions import in_channel, on_server
from svc.chat.access.permissions import Override, from_names
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.channels import responses
from svc.chat.channels.overrides import Change
from svc.chat.channels.responses import ChannelChanges, NewChannel
from svc.chat.channels.rules import MAX_CHANNELS, Channels
from svc.chat.control.commands import Commands, command, find_channel
from svc.chat.endpoints import Endpoints, Request, convert, describe_feature, endpoint
from svc.chat.schemas import Data, Event, Id

_CHANNEL_PATH = "/api/channels/{channel_id}"
_OVERRIDE_OF = _CHANNEL_PATH + "/overrides/{type}/{target_id}"
_MANAGER, _VIEWER = on_server(P.MANAGE_CHANNELS), in_channel(P.VIEW_CHANNEL)
# The maximum number of overrides per channel, far more than a real channel needs.
MAX_OVERRIDES = 100
_OF_OVERRIDES = ("forbidden", "rank_too_low", "unknown_channel", "unknown_member", "unknown_role")

# Higher than the number of permissions, because clients may repeat some.
_Permissions = Annotated[list[responses.PermissionName], Meta(max_length=64)]
_Kind = Literal["role", "member"]


class OverridePermissions(Request):
    allow: _Permissions | None = None
    deny: _Permissions | None = None


class NewOverride(OverridePermissions, kw_only=True):
    type: _Kind
    target_id: Id


class NewOpenChannel(NewChannel):
    # The channel's initial overrides.

    overrides: Annotated[list[NewOverride], Meta(max_length=MAX_OVERRIDES)] | None = None


class SetArchived(Request):
    archived: bool = False


class ChannelOrder(Request):
    """The new order of the channels. `parents` maps channels to their new categories, or to null for no
    category."""

    channel_ids: Annotated[list[Id], Meta(max_length=MAX_CHANNELS)]
    parents: Annotated[dict[str, Id | None], Meta(max_length=MAX_CHANNELS)] | None = None


_Channels = Annotated[Sequence[responses.Channel], Meta(max_length=MAX_CHANNELS)]


@dataclass(frozen=True, slots=True)
class AllChannels:
    channels: _Channels


@dataclass(frozen=True, slots=True)
class AllOverrides:
    overrides: Sequence[responses.Override]


class ChannelEndpoints(Endpoints):
    def __init__(self, channels: Channels, directory: Directory) -> None:
        self._channels = channels
        self._directory = directory

    @endpoint(
        ANY_MEMBER,
        "List the channels that you can view, in order. `archived` includes archived channels",
        http="GET /api/channels",
    )
    async def all(self, session: Session, query: SetArchived) -> AllChannels:
        visible = self._directory.visible_channels if query.archived else self._directory.listed_channels
        return _to_response(visible(session.member_id))

    @endpoint(
        _MANAGER,
        "Create a channel at the end of the list, with initial overrides",
        http="POST /api/channels",
        refusals=(
            *("forbidden", "rank_too_low", "too_many"),
            *("unknown_channel", "unknown_member", "unknown_role"),
        ),
        status=201,
    )
    async def create(self, session: Session, body: NewOpenChannel) -> responses.Channel:
        access = [_change(override.type, override.target_id, override) for override in body.overrides or ()]
        channel = await self._channels.create(session.member_id, body.channel(), access, time.time())
        return responses.channel(channel)

    @endpoint(
        _MANAGER,
        "Reorder the channels that you can view. List each once; archived ones may "
        "be omitted. `parents` moves channels to other categories in the same write",
        http="PUT /api/channels/order",
        refusals=("unknown_channel",),
    )
    async def order(self, session: Session, body: ChannelOrder) -> AllChannels:
        parents = body.parents or {}
        return _to_response(
            await self._channels.order(session.member_id, body.channel_ids, parents, time.time())
        )

    @endpoint(_VIEWER, "Get a channel", http=f"GET {_CHANNEL_PATH}", refusals=("unknown_channel",))
    async def show(self, session: Session, channel_id: Id) -> responses.Channel:
        return responses.channel(self._directory.channel(session.member_id, channel_id))

    @endpoint(
        _MANAGER,
        "Change a channel",
        http=f"PATCH {_CHANNEL_PATH}",
        refusals=("channel_in_use", "unknown_channel"),
    )
    async def edit(self, session: Session, channel_id: Id, body: ChannelChanges) -> responses.Channel:
        channel = await self._channels.edit(session.member_id, channel_id, body.differences(), time.time())
        return responses.channel(channel)

    @endpoint(
        _MANAGER,
        "Delete a channel and everything in it",
        http=f"DELETE {_CHANNEL_PATH}",
        refusals=("unknown_channel",),
    )
    async def delete(self, session: Session, channel_id: Id) -> None:
        await self._channels.delete(session.member_id, channel_id, time.time())

    @endpoint(
        _MANAGER,
        "List the permission overrides of a channel",
        http=f"GET {_CHANNEL_PATH}/overrides",
        refusals=("unknown_channel",),
    )
    async def overrides(self, session: Session, channel_id: Id) -> AllOverrides:
        overrides = self._channels.overrides(session.member_id, channel_id)
        return AllOverrides([responses.override(change) for change in overrides])

    @endpoint(
        _MANAGER,
        "Override a role's or a member's permissions in a channel",
        http=f"PUT {_OVERRIDE_OF}",
        refusals=_OF_OVERRIDES,
    )
    async def override(
        self, session: Session, channel_id: Id, type: _Kind, target_id: Id, body: OverridePermissions
    ) -> responses.Override:
        change = _change(type, target_id, body)
        await self._channels.override(session.member_id, channel_id, change, time.time())
        return responses.override(change)

    @endpoint(
        _MANAGER,
        "Remove an override",
        http=f"DELETE {_OVERRIDE_OF}",
        refusals=("forbidden", "rank_too_low", "unknown_channel"),
    )
    async def clear_override(self, session: Session, channel_id: Id, type: _Kind, target_id: Id) -> None:
        change = _change(type, target_id, OverridePermissions())
        await self._channels.override(session.member_id, channel_id, change, time.time())


def _to_response(channels: Sequence[Channel]) -> AllChannels:
    return AllChannels([responses.channel(channel) for channel in channels])


def _change(kind: str, target_id: str, sets: OverridePermissions) -> Change:
    return Change(kind, target_id, Override(from_names(sets.allow or ()), from_names(sets.deny or ())))


class ChannelCommands(Commands):
    """Commands for channels. A category may be given by name. An empty name means no category."""

    def __init__(self, channels: Channels, directory: Directory) -> None:
        self._channels = channels
        self._directory = directory

    @command("channel_list")
    async def list(self, archived: bool = False) -> AllChannels:
        return _to_response([c for c in self._directory.ordered_channels() if archived or not c.archived])

    @command("channel_create")
    async def create(self, arguments: Data) -> responses.Channel:
        new = convert(self._with_category_id(arguments), NewChannel).channel()
        return responses.channel(await self._channels.create(None, new, [], time.time()))

    @command("channel_edit")
    async def edit(self, arguments: Data) -> responses.Channel:
        channel_id = find_channel(self._directory, str(arguments.get("channel")))
        differences = convert(self._with_category_id(arguments), ChannelChanges).differences()
        return responses.channel(await self._channels.edit(None, channel_id, differences, time.time()))

    @command("channel_delete")
    async def delete(self, channel: Id) -> responses.ChannelDeleted:
        channel_id = find_channel(self._directory, channel)
        await self._channels.delete(None, channel_id, time.time())
        return responses.ChannelDeleted(channel_id)

    def _with_category_id(self, arguments: Data) -> Data:
        if (category := arguments.get("category")) is None:
            return arguments
        return {
            **arguments,
            "parent_id": find_channel(self._directory, str(category)) if category else None,
        }


DESCRIPTION = describe_feature(
    ChannelEndpoints,
    pushes=[
        Event(
            "channel_created",
            "A channel was created or became visible",
            responses.Channel,
            "members who may view the channel",
        ),
        Event(
            "channel_updated",
            "A channel has changed. An `archived` channel leaves the list, and returns "
            "when it is no longer archived",
            responses.Channel,
            "members who may view the channel",
        ),
        Event(
            "channel_deleted",
            "A channel was deleted or became invisible",
            responses.ChannelDeleted,
            "members who could view the channel",
        ),
    ],
    welcome={"channels": _Channels},
)
