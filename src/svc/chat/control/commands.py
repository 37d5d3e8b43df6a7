"""The commands of the control socket: one table, filled from the features' rules.

Whoever asks has the data folder, and with it everything: no permission is checked, and the
audit log has no actor. The rules themselves hold as for anybody. `svc admin` asks over the
socket or, when no server runs, on a community that it has opened itself.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from svc.base.database import StorageFailed
from svc.chat.access.directory import Directory
from svc.chat.access.permissions import MEMBER
from svc.chat.errors import ChatError
from svc.chat.fields import Data, identifier, number, optional_identifier
from svc.chat.invites.rules import Invites
from svc.chat.settings.rules import Settings

_MOST_USES = 1_000_000
_LONGEST_S = 10 * 365 * 24 * 60 * 60

logger = logging.getLogger(__name__)

Command = Callable[[Data], Awaitable[object]]


class Commands:
    def __init__(self, settings: Settings, invites: Invites, directory: Directory) -> None:
        self._settings = settings
        self._invites = invites
        self._directory = directory
        self._table: Mapping[str, Command] = {
            "settings_get": self.settings_get,
            "settings_set": self.settings_set,
            "invite_create": self.invite_create,
            "invite_revoke": self.invite_revoke,
            "member_list": self.member_list,
        }

    async def run(self, command: str, arguments: Data) -> Mapping[str, object]:
        """The answer to a request: `{result}`, or `{error, message}`."""
        try:
            if (asked := self._table.get(command)) is None:
                raise ChatError("unknown_event", "There is no such command")
            return {"result": await asked(arguments)}
        except ChatError as refusal:
            return refusal.body()
        except StorageFailed:
            return ChatError("storage_unavailable").body()
        except Exception:
            logger.exception("control command failed", extra={"command": command})
            return ChatError("internal_error").body()

    async def settings_get(self, arguments: Data) -> object:
        return self._settings.current.described()

    async def settings_set(self, arguments: Data) -> object:
        return await self._settings.apply(arguments, None, time.time())

    async def invite_create(self, arguments: Data) -> object:
        role_id = optional_identifier(arguments, "role_id") or MEMBER
        uses = number(arguments, "max_uses", least=0, most=_MOST_USES, default=0)
        lifetime_s = number(arguments, "lifetime_s", least=0, most=_LONGEST_S, default=0)
        invite = await self._invites.create(None, role_id, uses or None, lifetime_s or None, time.time())
        return invite.described()

    async def invite_revoke(self, arguments: Data) -> object:
        await self._invites.revoke(None, identifier(arguments, "invite_id"), time.time())
        return {}

    async def member_list(self, arguments: Data) -> object:
        return {"members": [member.described() for member in self._directory.members.values()]}
