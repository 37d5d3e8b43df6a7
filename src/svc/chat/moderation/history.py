"""Returns a member's moderation history: audit log entries about them, and counts of reports.

Reading a history requires the permission to view reports. Entries about a channel also require the permission
to view it. The history covers only this member: it does not reveal other memberships of the same person.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Database
from svc.chat.audit.log import Audit, Entries, WantedEntries
from svc.chat.errors import ChatError
from svc.chat.schemas import Id, Natural, TimeMs

ACTIONS = (
    *("member_kick", "member_ban", "member_unban", "member_timeout", "member_timeout_end"),
    *("member_rename", "member_status_clear", "voice_mute", "voice_disconnect", "voice_move"),
    *("voice_stop_screen", "member_link_remove"),
)


# Selects the facts about a present or former member.
_FACTS = """
SELECT nickname, joined_at_ms, left_at_ms, EXISTS (SELECT 1 FROM bans WHERE member_id = m.id),
    (SELECT count(*) FROM reports WHERE member_id = m.id AND resolved_at_ms IS NULL),
    (SELECT count(*) FROM reports WHERE member_id = m.id AND resolved_at_ms IS NOT NULL)
FROM members m WHERE id = ?
"""


@dataclass(frozen=True, slots=True)
class ReportCounts:
    open: Natural
    resolved: Natural


@dataclass(frozen=True, slots=True)
class Invitation:
    invite_id: Id
    invited_by: Id | None


@dataclass(frozen=True, slots=True)
class MemberHistory:
    nickname: str
    joined_at_ms: TimeMs
    left_at_ms: TimeMs | None
    banned: bool
    # The invite that the member used, or None if unknown.
    invitation: Invitation | None
    reports: ReportCounts
    entries: Entries
    next: Annotated[int, Meta(ge=1)] | None


class History:
    """The moderation histories of members. `invitation` returns a member's invite and its creator, or None if
    unknown.
    """

    def __init__(
        self,
        database: Database,
        audit: Audit,
        invitation: Callable[[str], Awaitable[tuple[str, str | None] | None]],
    ) -> None:
        self._database = database
        self._audit = audit
        self._invitation = invitation

    async def of(self, asker_id: str, member_id: str, before: int | None, limit: int) -> MemberHistory:
        """Return a page of a present or former member's history, newest entries first. Raises ChatError."""
        if (facts := await self._database.row(_FACTS, (member_id,))) is None:
            raise ChatError("unknown_member")
        nickname, joined_at_ms, left_at_ms, banned, waiting, resolved = facts
        wanted = WantedEntries(before=before, target_id=member_id, actions=ACTIONS)
        page = await self._audit.page(asker_id, wanted, limit)
        invite = await self._invitation(member_id)
        return MemberHistory(
            nickname,
            joined_at_ms,
            left_at_ms,
            bool(banned),
            invitation=None if invite is None else Invitation(*invite),
            reports=ReportCounts(waiting, resolved),
            entries=page.entries,
            next=page.next,
        )
