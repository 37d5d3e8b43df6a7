"""The inbox of a member: the messages that mention them, in whatever channel or thread.

Shows nobody what they may not view. What counts as a mention was decided when the message was posted
(`rules`); nothing is counted here. No HTTP, no SQL.
"""

from svc.base.database import Database
from svc.chat.access.directory import Directory
from svc.chat.messages import inbox_store, store
from svc.chat.messages.message import Message

MAX_PAGE = 50
# Greater than any cursor: SQLite's largest integer.
_END = 2**63 - 1


class Inbox:
    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory

    async def page(self, member_id: str, before: int | None, limit: int) -> tuple[list[Message], bool]:
        """What mentions the member, the newest first, older than a cursor; and whether there is more."""
        numbers = await inbox_store.mentions(
            self._database,
            member_id,
            self._channels(member_id),
            _END if before is None else before,
            limit + 1,
        )
        found = await store.these(self._database, numbers[:limit])
        # Rights may have changed while the messages were read.
        listed = set(self._channels(member_id))
        return [message for message in found if message.channel_id in listed], len(numbers) > limit

    def _channels(self, member_id: str) -> list[str]:
        """As in the counts of what is unread, archived channels are left out."""
        return [channel.id for channel in self._directory.listed_channels(member_id)]
