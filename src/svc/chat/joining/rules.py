"""Who may join, and under what name. No HTTP, no storage."""

from collections.abc import Callable

from svc.base.database import Database
from svc.base.grants import same_secret
from svc.chat.access.directory import Member
from svc.chat.access.tokens import AccessTokens
from svc.chat.errors import ChatError
from svc.chat.members.rules import Members
from svc.chat.names import readable_nickname


class Joining:
    """`new_id` makes the id of a new member, and of a session."""

    def __init__(
        self,
        invite_code: str,
        tokens: AccessTokens,
        database: Database,
        members: Members,
        new_id: Callable[[], str],
    ) -> None:
        self._invite_code = invite_code
        self._tokens = tokens
        self._database = database
        self._members = members
        self._new_id = new_id

    async def join(self, nickname: str, invite_code: str, now: float) -> tuple[str, Member]:
        """Admit somebody: their access token, and who they are from now on."""
        name = readable_nickname(nickname)
        if not invite_code.strip():
            raise ChatError("invite_required")
        if not same_secret(invite_code.strip(), self._invite_code):
            raise ChatError("invite_invalid")
        newcomer = Member(self._new_id(), name, joined_at_ms=int(now * 1000))
        member = await self._database.write(lambda connection: self._members.insert(connection, newcomer))
        self._members.joined(member)
        return self._tokens.issue(member, self._new_id(), now), member
