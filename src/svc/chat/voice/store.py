"""The table of what moderators did to people's sound. SQL only."""

from svc.base.database import Connection, Database
from svc.base.tables import Table
from svc.chat.voice.occupancy import Mute

_MUTES = Table("voice_mutes", Mute)


async def load(database: Database) -> dict[str, Mute]:
    rows = await database.rows(f"SELECT person_id, {_MUTES.select()} FROM voice_mutes")
    return {person_id: _MUTES.read(mute) for person_id, *mute in rows}


def is_silenced(connection: Connection, person_id: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM voice_mutes WHERE person_id = ? AND (muted OR deafened)", (person_id,)
    )
    return found.fetchone() is not None


def put(connection: Connection, person_id: str, mute: Mute) -> None:
    """Also kept when it is lifted: the media service may still have to hear that."""
    _MUTES.put(connection, mute, person_id=person_id)
