"""The table of what moderators did to people's sound. SQL only."""

from svc.base.database import Connection, Database
from svc.chat.voice.states import Mute


async def load(database: Database) -> dict[str, Mute]:
    rows = await database.rows("SELECT * FROM voice_mutes")
    return {row["person_id"]: Mute(bool(row["muted"]), bool(row["deafened"])) for row in rows}


def is_silenced(connection: Connection, person_id: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM voice_mutes WHERE person_id = ? AND (muted OR deafened)", (person_id,)
    )
    return found.fetchone() is not None


def put(connection: Connection, person_id: str, mute: Mute) -> None:
    """Also kept when it is lifted: the media service may still have to hear that."""
    connection.execute(
        "INSERT OR REPLACE INTO voice_mutes VALUES (?, ?, ?)", (person_id, mute.muted, mute.deafened)
    )
