"""`/api/channels`: channels listed, made, changed, ordered and deleted, and their overrides."""

import time

from aiohttp import web

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Override, from_names
from svc.chat.channels import wanted
from svc.chat.channels.overrides import MEMBER, ROLE, Change
from svc.chat.channels.rules import MAX_CHANNELS, Channels
from svc.chat.errors import ChatError
from svc.chat.fields import Data, identifier, optional_identifier, strings, text
from svc.chat.http import answer, asker, body, nothing, query_flag

# A request with more does not describe a channel that anybody has in mind.
MAX_OVERRIDES = 100
# More permissions than there are, with room to repeat some.
_MAX_PERMISSIONS = 64


class ChannelRoutes:
    def __init__(self, channels: Channels, directory: Directory) -> None:
        self._channels = channels
        self._directory = directory

    def table(self) -> list[web.RouteDef]:
        one = "/api/channels/{channel_id}"
        override = one + "/overrides/{type}/{target_id}"
        return [
            web.get("/api/channels", self.list),
            web.post("/api/channels", self.create),
            web.put("/api/channels/order", self.order),
            web.get(one, self.show),
            web.patch(one, self.edit),
            web.delete(one, self.delete),
            web.get(one + "/overrides", self.overrides),
            web.put(override, self.override),
            web.delete(override, self.clear_override),
        ]

    async def list(self, request: web.Request) -> web.Response:
        member_id = asker(request).member_id
        archived = query_flag(request, "archived")
        seen = self._directory.visible_channels if archived else self._directory.listed_channels
        channels = seen(member_id)
        return answer({"channels": [channel.described() for channel in channels]})

    async def show(self, request: web.Request) -> web.Response:
        channel = self._directory.channel(asker(request).member_id, _channel_id(request))
        return answer(channel.described())

    async def create(self, request: web.Request) -> web.Response:
        data = await body(request)
        access = _changes(data)
        channel = await self._channels.create(asker(request).member_id, wanted.new(data), access, time.time())
        return answer(channel.described(), 201)

    async def edit(self, request: web.Request) -> web.Response:
        differences = wanted.differences(await body(request))
        asking, channel_id = asker(request).member_id, _channel_id(request)
        channel = await self._channels.edit(asking, channel_id, differences, time.time())
        return answer(channel.described())

    async def order(self, request: web.Request) -> web.Response:
        data = await body(request)
        channel_ids, parents = strings(data, "channel_ids", most=MAX_CHANNELS), _parents(data)
        channels = await self._channels.order(asker(request).member_id, channel_ids, parents, time.time())
        return answer({"channels": [channel.described() for channel in channels]})

    async def delete(self, request: web.Request) -> web.Response:
        await self._channels.delete(asker(request).member_id, _channel_id(request), time.time())
        return nothing()

    async def overrides(self, request: web.Request) -> web.Response:
        found = self._channels.overrides(asker(request).member_id, _channel_id(request))
        return answer({"overrides": [change.described() for change in found]})

    async def override(self, request: web.Request) -> web.Response:
        change = _change({**await body(request), **request.match_info})
        await self._override(request, change)
        return answer(change.described())

    async def clear_override(self, request: web.Request) -> web.Response:
        await self._override(request, _change(dict(request.match_info)))
        return nothing()

    async def _override(self, request: web.Request, change: Change) -> None:
        await self._channels.override(asker(request).member_id, _channel_id(request), change, time.time())


def _channel_id(request: web.Request) -> str:
    return identifier(request.match_info, "channel_id")


def _change(data: Data) -> Change:
    kind = text(data, "type", most=16)
    if kind not in (ROLE, MEMBER):
        raise ChatError("invalid_request", f"type must be {ROLE} or {MEMBER}")
    allow = from_names(strings(data, "allow", most=_MAX_PERMISSIONS))
    deny = from_names(strings(data, "deny", most=_MAX_PERMISSIONS))
    return Change(kind, identifier(data, "target_id"), Override(allow, deny))


def _parents(data: Data) -> dict[str, str | None]:
    """Which channels are to be in which category; null for none."""
    given = data.get("parents")
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_CHANNELS:
        raise ChatError("invalid_request", f"parents must be an object with at most {MAX_CHANNELS} keys")
    return {channel_id: optional_identifier(given, channel_id) for channel_id in given}


def _changes(data: Data) -> list[Change]:
    given = data.get("overrides")
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > MAX_OVERRIDES:
        raise ChatError("invalid_request", f"overrides must be a list of at most {MAX_OVERRIDES}")
    if not all(isinstance(item, dict) for item in given):
        raise ChatError("invalid_request", "overrides must be a list of objects")
    return [_change(item) for item in given]
