"""The operator's commands about members and their roles. What may happen to one is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.control.commands import Command
from svc.chat.errors import ChatError
from svc.chat.fields import Data, flag, identifier
from svc.chat.members import shown
from svc.chat.members.roles import Roles


class MemberCommands:
    def __init__(self, directory: Directory, roles: Roles) -> None:
        self._directory = directory
        self._roles = roles

    def table(self) -> Mapping[str, Command]:
        return {"member_list": self.list, "member_role": self.role, "member_owner": self.owner}

    async def list(self, arguments: Data) -> object:
        return {"members": [shown.member(member) for member in self._directory.members.values()]}

    async def role(self, arguments: Data) -> object:
        """Give a role, or with `take` take it."""
        member_id = member_called(self._directory, identifier(arguments, "member"))
        role_id = _role_called(self._directory, identifier(arguments, "role"))
        act = self._roles.take if flag(arguments, "take", default=False) else self._roles.give
        return shown.member(await act(None, member_id, role_id, time.time()))

    async def owner(self, arguments: Data) -> object:
        """Hand the server over, where its owner is lost."""
        member_id = member_called(self._directory, identifier(arguments, "member"))
        return shown.member(await self._roles.hand_over(None, member_id, time.time()))


def member_called(directory: Directory, name: str, *, or_gone: bool = False) -> str:
    """The id of who has that id or, alone, that nickname. Raises ChatError.

    With `or_gone` what names nobody here is taken for the id of somebody who has left.
    """
    if name in directory.members:
        return name
    namesakes = [member.id for member in directory.members.values() if member.nickname == name]
    if len(namesakes) > 1:
        raise ChatError("invalid_request", f"{len(namesakes)} members are called {name}: say which by id")
    if not namesakes and not or_gone:
        raise ChatError("unknown_member")
    return namesakes[0] if namesakes else name


def _role_called(directory: Directory, name: str) -> str:
    """The same for a role."""
    if name in directory.roles:
        return name
    found = [role.id for role in directory.roles.values() if role.name == name]
    if len(found) > 1:
        raise ChatError("invalid_request", f"{len(found)} roles are called {name}: say which by id")
    if not found:
        raise ChatError("unknown_role")
    return found[0]
