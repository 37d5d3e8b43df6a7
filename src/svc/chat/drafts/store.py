"""The table of drafts. SQL only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Database, Row
from svc.base.strict_json import dumps


@dataclass(frozen=True, slots=True)
class KeptDraft:
    channel_id: str
    text: str
    upload_ids: Sequence[str]
    changed_at_ms: int


def put(connection: Connection, member_id: str, draft: KeptDraft) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?)",
        (
            member_id,
            draft.channel_id,
            draft.text,
            dumps(list(draft.upload_ids)).decode(),
            draft.changed_at_ms,
        ),
    )


def delete(connection: Connection, member_id: str, channel_id: str) -> bool:
    """False where there was none."""
    gone = connection.execute(
        "DELETE FROM drafts WHERE member_id = ? AND channel_id = ?", (member_id, channel_id)
    )
    return gone.rowcount == 1


def in_channel(connection: Connection, channel_id: str) -> list[str]:
    """The ids of members who have a draft there."""
    found = connection.execute("SELECT member_id FROM drafts WHERE channel_id = ?", (channel_id,))
    return [row["member_id"] for row in found]


def of_member(connection: Connection, member_id: str) -> list[str]:
    """The ids of channels in which a member has a draft."""
    found = connection.execute("SELECT channel_id FROM drafts WHERE member_id = ?", (member_id,))
    return [row["channel_id"] for row in found]


async def of(database: Database, member_id: str) -> list[KeptDraft]:
    found = await database.rows("SELECT * FROM drafts WHERE member_id = ? ORDER BY channel_id", (member_id,))
    return [_draft(row) for row in found]


def _draft(row: Row) -> KeptDraft:
    return KeptDraft(row["channel_id"], row["text"], json.loads(row["attachments"]), row["changed_at_ms"])
