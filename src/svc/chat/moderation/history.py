"""What moderators have done to one member: the part of the audit log that is about it, and reports counted.

Those who view reports may see it; what is about a channel, only those who view the channel. Of that member
alone: that somebody else here is the same person, nobody is told.
"""

from collections.abc import Awaitable, Callable

from svc.base.database import Database
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.moderation import store

ACTIONS = (
    *("member_kick", "member_ban", "member_unban", "member_timeout", "member_timeout_end"),
    *("member_rename", "member_status_clear", "voice_mute", "voice_disconnect", "voice_move"),
    "voice_stop_screen",
)


class History:
    """`invitation` tells by which invite a member has come; None where that is not known."""

    def __init__(
        self,
        database: Database,
        audit: Audit,
        invitation: Callable[[str], Awaitable[dict[str, object] | None]],
    ) -> None:
        self._database = database
        self._audit = audit
        self._invitation = invitation

    async def of(self, asker_id: str, member_id: str, before: int | None, limit: int) -> dict[str, object]:
        """Newest first, also of somebody who has gone. Raises ChatError."""
        facts = await store.facts(self._database, member_id)
        if facts is None:
            raise ChatError("unknown_member")
        page = await self._audit.about(asker_id, member_id, ACTIONS, before, limit)
        return {
            **facts.described(),
            "invitation": await self._invitation(member_id),
            "entries": page.entries,
            "next": page.next,
        }
