"""The operator's commands about bots. What holds for them is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.bots.rules import Bots
from svc.chat.control.commands import Command
from svc.chat.fields import Data, identifier, text
from svc.chat.members import shown
from svc.chat.members.commands import member_called


class BotCommands:
    def __init__(self, bots: Bots, directory: Directory) -> None:
        self._bots = bots
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {
            "bot_list": self.list,
            "bot_create": self.create,
            "bot_token": self.renew,
            "bot_delete": self.delete,
        }

    async def list(self, arguments: Data) -> object:
        return {"bots": self._bots.all()}

    async def create(self, arguments: Data) -> object:
        nickname = text(arguments, "nickname", most=1024)
        member, token = await self._bots.create(None, nickname, time.time())
        return {"member": shown.member(member), "token": token}

    async def renew(self, arguments: Data) -> object:
        member_id = self._called(arguments)
        return {"member_id": member_id, "token": await self._bots.renew(None, member_id, time.time())}

    async def delete(self, arguments: Data) -> object:
        member_id = self._called(arguments)
        await self._bots.delete(None, member_id, time.time())
        return {"member_id": member_id}

    def _called(self, arguments: Data) -> str:
        return member_called(self._directory, identifier(arguments, "bot"))
