"""The table of marks, and which members are the same person. SQL only."""

from svc.base.database import Connection


def name_nameless(connection: Connection) -> None:
    connection.execute("UPDATE members SET person_id = id WHERE person_id = ''")


def identities(connection: Connection) -> list[tuple[str, str, str]]:
    """Issuer, subject and person of all that are known in clear: identities first, then devices' keys."""
    rows = connection.execute(
        "SELECT 1, issuer, subject, m.person_id FROM identities i JOIN members m ON m.id = i.member_id"
        " UNION ALL SELECT 2, '', thumbprint, m.person_id FROM devices d JOIN members m ON m.id = d.member_id"
        " ORDER BY 1"
    )
    return [(row[1], row[2], row[3]) for row in rows]


def person_of(connection: Connection, mark: bytes) -> str | None:
    row = connection.execute("SELECT person_id FROM marks WHERE mark = ?", (mark,)).fetchone()
    return row["person_id"] if row else None


def put_new(connection: Connection, mark: bytes, person_id: str) -> None:
    """Unless it is somebody's already."""
    connection.execute("INSERT OR IGNORE INTO marks VALUES (?, ?)", (mark, person_id))


def put(connection: Connection, mark: bytes, person_id: str) -> None:
    connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (mark, person_id))


def count(connection: Connection, person_id: str, most: int) -> int:
    """How many marks a person has; not counted beyond `most`."""
    found: int = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM marks WHERE person_id = ? LIMIT ?)", (person_id, most)
    ).fetchone()[0]
    return found


def gone(connection: Connection, before_ms: int, after: str, limit: int) -> list[str]:
    """Persons with marks who are no member, left before then, and have no identity in clear."""
    rows = connection.execute(
        "SELECT DISTINCT person_id FROM marks k WHERE person_id > ? AND NOT EXISTS (SELECT 1 FROM members m"
        " WHERE m.person_id = k.person_id AND (m.left_at_ms IS NULL OR m.left_at_ms > ?"
        " OR EXISTS (SELECT 1 FROM identities i WHERE i.member_id = m.id)))"
        " ORDER BY person_id LIMIT ?",
        (after, before_ms, limit),
    )
    return [row["person_id"] for row in rows]


def forget(connection: Connection, person_id: str) -> None:
    """Nobody can tell any more which members they were, or that they were one."""
    connection.execute("DELETE FROM marks WHERE person_id = ?", (person_id,))
    connection.execute("UPDATE members SET person_id = id WHERE person_id = ?", (person_id,))
