"""The table of drafts. SQL only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import JSON, Table
from svc.chat.described import Id, TimeMs
from svc.chat.messages.message import MAX_TEXT_CHARACTERS
from svc.chat.uploads.limits import MAX_ATTACHMENTS

Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
Files = Annotated[Sequence[Id], Meta(max_length=MAX_ATTACHMENTS)]


@dataclass(frozen=True, slots=True)
class Draft:
    channel_id: Id
    text: Text
    attachments: Files
    changed_at_ms: TimeMs


_DRAFTS = Table("drafts", Draft, attachments=JSON)


def put(connection: Connection, member_id: str, draft: Draft) -> None:
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


async def of(database: Database, member_id: str) -> list[Draft]:
    return await _DRAFTS.all(database, "WHERE member_id = ? ORDER BY channel_id", member_id)
