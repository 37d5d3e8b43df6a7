"""The operator's commands about invites. What an invite is good for is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.permissions import MEMBER
from svc.chat.control.commands import Command
from svc.chat.fields import Data, identifier, number, optional_identifier
from svc.chat.invites.rules import Invites

_MOST_USES = 1_000_000
_LONGEST_S = 10 * 365 * 24 * 60 * 60


class InviteCommands:
    def __init__(self, invites: Invites) -> None:
        self._invites = invites

    def table(self) -> Mapping[str, Command]:
        return {
            "invite_create": self.create,
            "invite_list": self.list,
            "invite_revoke": self.revoke,
        }

    async def create(self, arguments: Data) -> object:
        role_id = optional_identifier(arguments, "role_id") or MEMBER
        uses = number(arguments, "max_uses", least=0, most=_MOST_USES, default=0)
        lifetime_s = number(arguments, "lifetime_s", least=0, most=_LONGEST_S, default=0)
        invite = await self._invites.create(None, role_id, uses or None, lifetime_s or None, time.time())
        return invite.described()

    async def list(self, arguments: Data) -> object:
        return {"invites": [invite.described() for invite in await self._invites.visible(None, time.time())]}

    async def revoke(self, arguments: Data) -> object:
        await self._invites.revoke(None, identifier(arguments, "invite_id"), time.time())
        return {}
