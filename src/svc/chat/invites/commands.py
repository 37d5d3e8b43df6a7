"""The operator's commands about invites. What an invite is good for is `rules`'."""

import time
from collections.abc import Mapping

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import MEMBER
from svc.chat.channels.commands import channel_called
from svc.chat.control.commands import Command
from svc.chat.fields import (
    MAX_ID_CHARACTERS,
    Data,
    flag,
    identifier,
    number,
    optional_identifier,
    optional_text,
)
from svc.chat.invites.applications import Applications
from svc.chat.invites.applications_store import PENDING
from svc.chat.invites.requests import MAX_PAGE, MAX_REASON_CHARACTERS
from svc.chat.invites.rules import Invites

_MOST_USES = 1_000_000
_LONGEST_S = 10 * 365 * 24 * 60 * 60


class InviteCommands:
    def __init__(self, invites: Invites, applications: Applications, directory: Directory) -> None:
        self._invites = invites
        self._applications = applications
        self._directory = directory

    def table(self) -> Mapping[str, Command]:
        return {
            "invite_create": self.create,
            "invite_list": self.list,
            "invite_revoke": self.revoke,
            "application_list": self.applications,
            "application_approve": self.approve,
            "application_refuse": self.refuse,
        }

    async def create(self, arguments: Data) -> object:
        role_id = optional_identifier(arguments, "role_id") or MEMBER
        uses = number(arguments, "max_uses", least=0, most=_MOST_USES, default=0)
        lifetime_s = number(arguments, "lifetime_s", least=0, most=_LONGEST_S, default=0)
        channel = optional_text(arguments, "channel", most=MAX_ID_CHARACTERS, least=1)
        return await self._invites.create(
            None,
            role_id,
            uses or None,
            lifetime_s or None,
            time.time(),
            channel_id=channel and channel_called(self._directory, channel),
            approval=flag(arguments, "approval", default=False),
        )

    async def list(self, arguments: Data) -> object:
        return {"invites": await self._invites.visible(None, time.time())}

    async def revoke(self, arguments: Data) -> object:
        await self._invites.revoke(None, identifier(arguments, "invite_id"), time.time())
        return {}

    async def applications(self, arguments: Data) -> object:
        """The oldest that wait."""
        found, following = await self._applications.page(PENDING, "", MAX_PAGE)
        return {"applications": [one.described() for one in found], "next": following}

    async def approve(self, arguments: Data) -> object:
        await self._applications.approve(None, identifier(arguments, "application_id"), time.time())
        return {}

    async def refuse(self, arguments: Data) -> object:
        application_id = identifier(arguments, "application_id")
        reason = optional_text(arguments, "reason", most=MAX_REASON_CHARACTERS) or ""
        await self._applications.refuse(None, application_id, reason, time.time())
        return {}
