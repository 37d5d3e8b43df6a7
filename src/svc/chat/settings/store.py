"""The table of settings. SQL only."""

from collections.abc import Iterable, Mapping

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps, loads


async def load(database: Database) -> dict[str, object]:
    return {row["name"]: loads(row["value"]) for row in await database.rows("SELECT * FROM settings")}


def seed(connection: Connection, values: Mapping[str, object]) -> None:
    """Store values for settings that have none."""
    connection.executemany("INSERT OR IGNORE INTO settings VALUES (?, ?)", _rows(values))


def put(connection: Connection, values: Mapping[str, object]) -> None:
    connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", _rows(values))


def drop(connection: Connection, names: Iterable[str]) -> None:
    """From now on they have the values that hold where nothing is set."""
    connection.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in names])


def _rows(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, dumps(value).decode()) for name, value in values.items()]
