"""The table of drafts. SQL only."""

from collections.abc import Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.base.tables import JSON, Table


@dataclass(frozen=True, slots=True)
class KeptDraft:
    channel_id: str
    text: str
    upload_ids: Sequence[str]
    changed_at_ms: int


_DRAFTS = Table("drafts", KeptDraft, names={"upload_ids": "attachments"}, attachments=JSON)


def put(connection: Connection, member_id: str, draft: KeptDraft) -> None:
    _DRAFTS.put(connection, draft, member_id=member_id)


def delete(connection: Connection, member_id: str, channel_id: str) -> bool:
    """False where there was none."""
    gone = connection.execute(
        "DELETE FROM drafts WHERE member_id = ? AND channel_id = ?", (member_id, channel_id)
    )
    return gone.rowcount == 1


def in_channel(connection: Connection, channel_id: str) -> list[str]:
    """The ids of members who have a draft there."""
    found = connection.execute("SELECT member_id FROM drafts WHERE channel_id = ?", (channel_id,))
    return [member_id for (member_id,) in found]


def of_member(connection: Connection, member_id: str) -> list[str]:
    """The ids of channels in which a member has a draft."""
    found = connection.execute("SELECT channel_id FROM drafts WHERE member_id = ?", (member_id,))
    return [channel_id for (channel_id,) in found]


async def of(database: Database, member_id: str) -> list[KeptDraft]:
    return await _DRAFTS.all(database, "WHERE member_id = ? ORDER BY channel_id", member_id)
