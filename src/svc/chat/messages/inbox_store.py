"""The table of mentions, read for one member across channels. SQL only."""

from collections.abc import Sequence

from svc.base.database import Database
from svc.base.strict_json import dumps

# Two indexes begin with a member. This one is in the order of the answer and is read for a page only; with
# the other, everything that ever mentioned the member would be read and sorted.
NEWEST = (
    "SELECT n FROM mentions INDEXED BY mentions_by_member WHERE member_id = ? AND n < ?"
    " AND channel_id IN (SELECT value FROM json_each(?)) ORDER BY n DESC LIMIT ?"
)


async def mentions(
    database: Database, member_id: str, channel_ids: Sequence[str], before: int, limit: int
) -> list[int]:
    """The cursors of what mentions a member in these channels and their threads, the newest first."""
    channels = dumps(list(channel_ids)).decode()
    return [row["n"] for row in await database.rows(NEWEST, (member_id, before, channels, limit))]
