"""The operator's commands that make a backup and check the database. What is in one is `rules`'."""

import time
from collections.abc import Mapping
from dataclasses import asdict

from svc.chat.backup.rules import Backups
from svc.chat.control.commands import Command
from svc.chat.fields import Data


class BackupCommands:
    def __init__(self, backups: Backups) -> None:
        self._backups = backups

    def table(self) -> Mapping[str, Command]:
        return {"backup": self.backup, "database_check": self.check}

    async def backup(self, arguments: Data) -> object:
        return asdict(await self._backups.make(time.time(), damaged=arguments.get("damaged") is True))

    async def check(self, arguments: Data) -> object:
        return {"faults": await self._backups.faults()}
