"""What a copy of the database says of itself and of the objects that belong to it. SQL only."""

from sqlite3 import Connection, DatabaseError


def schema(copy: Connection) -> int:
    return int(copy.execute("PRAGMA user_version").fetchone()[0])


def keys(copy: Connection) -> dict[str, int]:
    """Everything that is in the object store, or should be, with its size."""
    found = copy.execute("SELECT key, bytes FROM objects WHERE state = 'stored' ORDER BY key")
    return {row["key"]: row["bytes"] for row in found}


def needed(copy: Connection) -> dict[str, int]:
    """The objects that something refers to, and their sizes."""
    found = copy.execute(
        "SELECT DISTINCT o.key, o.bytes FROM objects AS o JOIN object_references AS r ON r.key = o.key"
        " WHERE o.state = 'stored' ORDER BY o.key"
    )
    return {row["key"]: row["bytes"] for row in found}


def faults(copy: Connection) -> list[str]:
    """What is wrong with the file itself, in SQLite's words."""
    try:
        found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(10)")]
    except DatabaseError as fault:
        return [str(fault)]
    if found != ["ok"]:
        return [" ".join(line.split()) for line in found]
    return [f"a row of {row[0]} refers to nothing" for row in copy.execute("PRAGMA foreign_key_check")][:10]
