"""The operator's commands about kicks and bans. Who may be sent away is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.control.commands import Command
from svc.chat.fields import Data, identifier, number, optional_identifier, optional_text
from svc.chat.members.commands import member_called
from svc.chat.moderation.rules import MAX_DELETED_S, Moderation

_MAX_REASON_CHARACTERS = 512
_BANS_AT_ONCE = 200


class ModerationCommands:
    def __init__(self, moderation: Moderation, directory: Directory) -> None:
        self._moderation = moderation
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {
            "member_kick": self.kick,
            "member_ban": self.ban,
            "member_unban": self.unban,
            "member_bans": self.bans,
        }

    async def kick(self, arguments: Data) -> object:
        member_id = member_called(self._directory, identifier(arguments, "member"))
        await self._moderation.kick(None, member_id, _reason(arguments), time.time())
        return {"member_id": member_id}

    async def ban(self, arguments: Data) -> object:
        """Also of somebody who has gone, by their id."""
        member_id = member_called(self._directory, identifier(arguments, "member"), or_gone=True)
        seconds = number(arguments, "delete_messages_s", least=0, most=MAX_DELETED_S, default=0)
        await self._moderation.ban(None, member_id, _reason(arguments), time.time(), seconds)
        return {"member_id": member_id}

    async def unban(self, arguments: Data) -> object:
        reason = _reason(arguments)
        await self._moderation.unban(None, identifier(arguments, "member"), reason, time.time())
        return {}

    async def bans(self, arguments: Data) -> object:
        after = optional_identifier(arguments, "after") or ""
        bans, following = await self._moderation.bans(after, _BANS_AT_ONCE)
        return {"bans": bans, "next": following}


def _reason(arguments: Data) -> str:
    return optional_text(arguments, "reason", most=_MAX_REASON_CHARACTERS) or ""
