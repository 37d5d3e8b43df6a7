"""The operator's command that makes an export. What is in one is `rules`'."""

import time
from collections.abc import Mapping
from dataclasses import asdict

from svc.chat.control.commands import Command
from svc.chat.fields import Data
from svc.chat.transfer.rules import Exports


class TransferCommands:
    def __init__(self, exports: Exports) -> None:
        self._exports = exports

    def table(self) -> Mapping[str, Command]:
        return {"export": self.export}

    async def export(self, arguments: Data) -> object:
        return asdict(await self._exports.make(time.time()))
