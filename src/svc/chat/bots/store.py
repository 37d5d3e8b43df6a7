"""The table of bots' tokens. SQL only."""

from dataclasses import dataclass

from svc.base.database import Connection
from svc.base.tables import Table


@dataclass(frozen=True, slots=True)
class BotToken:
    member_id: str
    # SHA-256 of the token, which is kept nowhere.
    digest: bytes
    created_by: str | None
    created_at_ms: int


TOKENS = Table("bot_tokens", BotToken)


def delete(connection: Connection, member_id: str) -> None:
    TOKENS.delete(connection, member_id=member_id)
