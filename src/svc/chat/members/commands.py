"""The operator's commands about members. What may happen to one is `rules`'."""

from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.control.commands import Command
from svc.chat.fields import Data


class MemberCommands:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {"member_list": self.list}

    async def list(self, arguments: Data) -> object:
        return {"members": [member.described() for member in self._directory.members.values()]}
