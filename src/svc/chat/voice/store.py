"""The table of what moderators did to members' sound. SQL only."""

from svc.base.database import Connection, Database
from svc.chat.voice.states import Mute


async def load(database: Database) -> dict[str, Mute]:
    rows = await database.rows("SELECT * FROM voice_mutes")
    return {row["member_id"]: Mute(bool(row["muted"]), bool(row["deafened"])) for row in rows}


def put(connection: Connection, member_id: str, mute: Mute) -> None:
    """Also kept when it is lifted: the media service may still have to hear that."""
    connection.execute(
        "INSERT OR REPLACE INTO voice_mutes VALUES (?, ?, ?)", (member_id, mute.muted, mute.deafened)
    )
