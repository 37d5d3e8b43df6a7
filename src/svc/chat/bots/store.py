"""The table of bots' tokens. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection, Database


@dataclass(frozen=True, slots=True)
class BotToken:
    member_id: str
    # SHA-256 of the token, which is kept nowhere.
    digest: bytes
    created_by: str | None
    created_at_ms: int


async def load(database: Database) -> list[BotToken]:
    return [BotToken(**dict(row)) for row in await database.rows("SELECT * FROM bot_tokens")]


def put(connection: Connection, token: BotToken) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO bot_tokens VALUES (?, ?, ?, ?)",
        (token.member_id, token.digest, token.created_by, token.created_at_ms),
    )


def delete(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM bot_tokens WHERE member_id = ?", (member_id,))
