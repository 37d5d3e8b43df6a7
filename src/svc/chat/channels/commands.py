"""The operator's commands about channels. What holds for them is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.channels import shown, wanted
from svc.chat.channels.rules import Channels
from svc.chat.control.commands import Command
from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, flag, identifier, optional_text


class ChannelCommands:
    def __init__(self, channels: Channels, directory: Directory) -> None:
        self._channels = channels
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {
            "channel_list": self.list,
            "channel_create": self.create,
            "channel_edit": self.edit,
            "channel_delete": self.delete,
        }

    async def list(self, arguments: Data) -> object:
        """Those that are archived only with `archived`."""
        archived = flag(arguments, "archived", default=False)
        channels = [c for c in self._directory.ordered_channels() if archived or not c.archived]
        return {"channels": [shown.channel(channel) for channel in channels]}

    async def create(self, arguments: Data) -> object:
        channel = await self._channels.create(None, wanted.new(self._named(arguments)), [], time.time())
        return shown.channel(channel)

    async def edit(self, arguments: Data) -> object:
        channel_id = channel_called(self._directory, identifier(arguments, "channel"))
        differences = wanted.differences(self._named(arguments))
        return shown.channel(await self._channels.edit(None, channel_id, differences, time.time()))

    async def delete(self, arguments: Data) -> object:
        channel_id = channel_called(self._directory, identifier(arguments, "channel"))
        await self._channels.delete(None, channel_id, time.time())
        return {"channel_id": channel_id}

    def _named(self, arguments: Data) -> Data:
        """With the id of the category that is named; an empty name stands for none."""
        category = optional_text(arguments, "category", most=MAX_ID_CHARACTERS)
        if category is None:
            return arguments
        return {**arguments, "parent_id": channel_called(self._directory, category) if category else None}


def channel_called(directory: Directory, wanted: str) -> str:
    """The id of the channel that has that id or, alone, that name. Raises ChatError."""
    if wanted in directory.channels:
        return wanted
    name = wanted.removeprefix("#").casefold()
    named = [c.id for c in directory.channels.values() if c.name.casefold() == name]
    if not named:
        raise ChatError("unknown_channel")
    if len(named) > 1:
        raise ChatError("invalid_request", "Several channels have this name; give the id of one")
    return named[0]
