"""The table of bots' tokens. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.base.tables import Table


@dataclass(frozen=True, slots=True)
class BotToken:
    member_id: str
    # SHA-256 of the token, which is kept nowhere.
    digest: bytes
    created_by: str | None
    created_at_ms: int


TOKENS = Table("bot_tokens", BotToken)


async def load(database: Database) -> list[BotToken]:
    return await TOKENS.all(database)


def delete(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM bot_tokens WHERE member_id = ?", (member_id,))
