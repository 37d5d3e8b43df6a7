"""The operator's commands about settings. Which values there are is `values`'."""

import time
from collections.abc import Mapping

from svc.chat.control.commands import Command
from svc.chat.fields import Data
from svc.chat.settings.rules import Settings


class SettingsCommands:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def table(self) -> Mapping[str, Command]:
        return {"settings_get": self.get, "settings_set": self.set}

    async def get(self, arguments: Data) -> object:
        return self._settings.current

    async def set(self, arguments: Data) -> object:
        return await self._settings.apply(arguments, None, time.time())
