"""`/api/channels`: channels listed, made, changed, ordered and deleted, and their overrides."""

import time

from aiohttp import web

from svc.chat.access.directory import TEXT, VOICE, Channel, Directory
from svc.chat.access.permissions import Override, from_names
from svc.chat.channels.overrides import MEMBER, ROLE, Change
from svc.chat.channels.rules import MAX_CHANNELS, Channels
from svc.chat.channels.slow_mode import MAX_SLOW_MODE_S
from svc.chat.errors import ChatError
from svc.chat.fields import Data, identifier, number, optional_text, strings, text
from svc.chat.http import answer, asker, body, nothing
from svc.chat.names import readable_name

MAX_NAME_CHARACTERS = 64
MAX_TOPIC_CHARACTERS = 1024
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
        channels = self._directory.visible_channels(asker(request).member_id)
        return answer({"channels": [channel.described() for channel in channels]})

    async def show(self, request: web.Request) -> web.Response:
        channel = self._directory.channel(asker(request).member_id, _channel_id(request))
        return answer(channel.described())

    async def create(self, request: web.Request) -> web.Response:
        data = await body(request)
        kind = text(data, "type", most=16)
        if kind not in (TEXT, VOICE):
            raise ChatError("invalid_request", f"type must be {TEXT} or {VOICE}")
        wanted = Channel(
            id="",
            name=readable_name(text(data, "name", most=4 * MAX_NAME_CHARACTERS), MAX_NAME_CHARACTERS),
            kind=kind,
            topic=optional_text(data, "topic", most=MAX_TOPIC_CHARACTERS) or "",
            slow_mode_s=number(data, "slow_mode_s", least=0, most=MAX_SLOW_MODE_S, default=0),
        )
        access = _changes(data)
        channel = await self._channels.create(asker(request).member_id, wanted, access, time.time())
        return answer(channel.described(), 201)

    async def edit(self, request: web.Request) -> web.Response:
        data = await body(request)
        differences: dict[str, str | int] = {}
        if data.get("name") is not None:
            name = text(data, "name", most=4 * MAX_NAME_CHARACTERS)
            differences["name"] = readable_name(name, MAX_NAME_CHARACTERS)
        if data.get("topic") is not None:
            differences["topic"] = text(data, "topic", most=MAX_TOPIC_CHARACTERS)
        if data.get("slow_mode_s") is not None:
            differences["slow_mode_s"] = number(data, "slow_mode_s", least=0, most=MAX_SLOW_MODE_S)
        if not differences:
            raise ChatError("invalid_request", "Give name, topic or slow_mode_s")
        asking, channel_id = asker(request).member_id, _channel_id(request)
        channel = await self._channels.edit(asking, channel_id, differences, time.time())
        return answer(channel.described())

    async def order(self, request: web.Request) -> web.Response:
        wanted = strings(await body(request), "channel_ids", most=MAX_CHANNELS)
        channels = await self._channels.order(asker(request).member_id, wanted, time.time())
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


def _changes(data: Data) -> list[Change]:
    given = data.get("overrides")
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > MAX_OVERRIDES:
        raise ChatError("invalid_request", f"overrides must be a list of at most {MAX_OVERRIDES}")
    if not all(isinstance(item, dict) for item in given):
        raise ChatError("invalid_request", "overrides must be a list of objects")
    return [_change(item) for item in given]
