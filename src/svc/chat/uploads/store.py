"""The tables of uploads and of the worker's jobs. SQL only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Database, Row
from svc.base.strict_json import dumps
from svc.chat.uploads.upload import DONE, RECEIVING, REFUSED, USED, WAITING, Upload

# Uploads.


def insert(connection: Connection, upload: Upload, *, resumable: bool) -> None:
    connection.execute(
        "INSERT INTO uploads (id, member_id, purpose, name, target, alt, resumable, length, received,"
        " state, created_at_ms, changed_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            upload.id,
            upload.member_id,
            upload.purpose,
            upload.name,
            upload.target,
            upload.alt,
            resumable,
            upload.length,
            upload.received,
            upload.state,
            upload.created_at_ms,
            upload.created_at_ms,
        ),
    )


def forget_cut_off(connection: Connection) -> None:
    """Those that nobody receives any more and that cannot be gone on with."""
    connection.execute("DELETE FROM uploads WHERE state = ? AND NOT resumable", (RECEIVING,))


def get(connection: Connection, upload_id: str) -> Upload | None:
    row = connection.execute("SELECT * FROM uploads WHERE id = ?", (upload_id,)).fetchone()
    return _upload(row) if row else None


async def one(database: Database, upload_id: str) -> Upload | None:
    row = await database.row("SELECT * FROM uploads WHERE id = ?", (upload_id,))
    return _upload(row) if row else None


async def of_member(database: Database, member_id: str, after: str, most: int) -> list[Upload]:
    """A member's uploads after an id, the oldest first."""
    found = await database.rows(
        "SELECT * FROM uploads WHERE member_id = ? AND id > ? ORDER BY id LIMIT ?", (member_id, after, most)
    )
    return [_upload(row) for row in found]


async def unused_of_member(database: Database, member_id: str, most: int) -> list[Upload]:
    """Those that hang on nothing yet, the newest first."""
    found = await database.rows(
        "SELECT * FROM uploads WHERE member_id = ? AND state != ? ORDER BY id DESC LIMIT ?",
        (member_id, USED, most),
    )
    return [_upload(row) for row in found]


def set_received(connection: Connection, upload_id: str, received: int, now_ms: int) -> bool:
    changed = connection.execute(
        "UPDATE uploads SET received = ?, changed_at_ms = ? WHERE id = ? AND state = ?",
        (received, now_ms, upload_id, RECEIVING),
    )
    return changed.rowcount == 1


def set_waiting(connection: Connection, upload_id: str, length: int, now_ms: int) -> bool:
    """All of it is here."""
    changed = connection.execute(
        "UPDATE uploads SET state = ?1, length = ?2, received = ?2, changed_at_ms = ?3"
        " WHERE id = ?4 AND state = ?5",
        (WAITING, length, now_ms, upload_id, RECEIVING),
    )
    return changed.rowcount == 1


def set_done(
    connection: Connection, upload_id: str, result: Mapping[str, object], stored_bytes: int, now_ms: int
) -> None:
    connection.execute(
        "UPDATE uploads SET state = ?, result = ?, key = ?, stored_bytes = ?, changed_at_ms = ? WHERE id = ?",
        (DONE, dumps(result).decode(), result["key"], stored_bytes, now_ms, upload_id),
    )


def set_refused(connection: Connection, upload_id: str, refusal: Mapping[str, object], now_ms: int) -> None:
    connection.execute(
        "UPDATE uploads SET state = ?, refusal = ?, changed_at_ms = ? WHERE id = ?",
        (REFUSED, dumps(refusal).decode(), now_ms, upload_id),
    )


def set_waiting_again(connection: Connection, upload_id: str, now_ms: int) -> None:
    connection.execute(
        "UPDATE uploads SET state = ?, refusal = NULL, changed_at_ms = ? WHERE id = ?",
        (WAITING, now_ms, upload_id),
    )


def set_used(connection: Connection, upload_id: str) -> None:
    connection.execute("UPDATE uploads SET state = ? WHERE id = ?", (USED, upload_id))


def set_alt(connection: Connection, upload_id: str, alt: str) -> None:
    connection.execute("UPDATE uploads SET alt = ? WHERE id = ?", (alt, upload_id))


def delete(connection: Connection, upload_id: str) -> None:
    """With its job."""
    connection.execute("DELETE FROM uploads WHERE id = ?", (upload_id,))


def make_nameless(connection: Connection, member_id: str) -> None:
    """What a member has called their files is forgotten; what others still see of them stays."""
    connection.execute("UPDATE uploads SET name = '', alt = '' WHERE member_id = ?", (member_id,))


def unfinished_ids(connection: Connection, member_id: str) -> list[str]:
    """What a member has begun and is not done."""
    found = connection.execute(
        "SELECT id FROM uploads WHERE member_id = ? AND state IN (?, ?, ?)",
        (member_id, RECEIVING, WAITING, REFUSED),
    )
    return [row["id"] for row in found]


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is already: of all, and of one member."""

    unfinished: int
    unfinished_bytes: int
    kept_bytes: int


def load(connection: Connection, member_id: str | None = None) -> Load:
    which, values = ("1", ()) if member_id is None else ("member_id = ?", (member_id,))
    unfinished = connection.execute(
        f"SELECT count(*), coalesce(sum(length), 0) FROM uploads WHERE {which} AND state IN (?, ?)",
        (*values, RECEIVING, WAITING),
    ).fetchone()
    kept = connection.execute(
        f"SELECT coalesce(sum(stored_bytes), 0) FROM uploads WHERE {which} AND state IN (?, ?)",
        (*values, DONE, USED),
    ).fetchone()
    return Load(unfinished[0], unfinished[1], kept[0])


def expired(connection: Connection, state: str, before_ms: int, most: int) -> list[str]:
    """Uploads that have not changed for long and of which the worker keeps no dead letter."""
    found = connection.execute(
        "SELECT id FROM uploads WHERE state = ? AND changed_at_ms < ?"
        " AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = uploads.id) LIMIT ?",
        (state, before_ms, most),
    )
    return [row["id"] for row in found]


def with_files(connection: Connection) -> set[str]:
    """Those whose file is still wanted."""
    found = connection.execute(
        "SELECT id FROM uploads WHERE state IN (?, ?) UNION SELECT id FROM jobs", (RECEIVING, WAITING)
    )
    return {row["id"] for row in found}


def _upload(row: Row) -> Upload:
    return Upload(
        id=row["id"],
        member_id=row["member_id"],
        purpose=row["purpose"],
        name=row["name"],
        target=row["target"],
        alt=row["alt"],
        length=row["length"],
        received=row["received"],
        state=row["state"],
        result=json.loads(row["result"]) if row["result"] else None,
        refusal=json.loads(row["refusal"]) if row["refusal"] else None,
        created_at_ms=row["created_at_ms"],
    )


# Jobs.


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    kind: str
    attempt: int
    due_at_ms: int
    lease: str | None
    lease_until_ms: int
    worker: str
    dead: bool
    fault: str
    created_at_ms: int


def insert_job(connection: Connection, job_id: str, kind: str, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO jobs (id, kind, due_at_ms, created_at_ms) VALUES (?, ?, ?, ?)",
        (job_id, kind, now_ms, now_ms),
    )


def get_job(connection: Connection, job_id: str) -> Job | None:
    row = connection.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return _job(row) if row else None


def due(connection: Connection, kinds: Sequence[str], now_ms: int) -> Job | None:
    """The job that has waited longest and that nobody has."""
    row = connection.execute(
        "SELECT * FROM jobs WHERE dead = 0 AND due_at_ms <= ?1 AND lease_until_ms <= ?1"
        " AND kind IN (SELECT value FROM json_each(?2)) ORDER BY due_at_ms, id LIMIT 1",
        (now_ms, dumps(list(kinds)).decode()),
    ).fetchone()
    return _job(row) if row else None


def leased(connection: Connection, kind: str, now_ms: int) -> int:
    """How many jobs of a kind somebody has."""
    found = connection.execute(
        "SELECT count(*) FROM jobs WHERE dead = 0 AND kind = ? AND lease_until_ms > ?", (kind, now_ms)
    )
    return int(found.fetchone()[0])


def lease(connection: Connection, job_id: str, lease_id: str, worker: str, until_ms: int) -> None:
    connection.execute(
        "UPDATE jobs SET lease = ?, worker = ?, lease_until_ms = ?, attempt = attempt + 1 WHERE id = ?",
        (lease_id, worker, until_ms, job_id),
    )


def renew(connection: Connection, job_id: str, until_ms: int) -> None:
    connection.execute("UPDATE jobs SET lease_until_ms = ? WHERE id = ?", (until_ms, job_id))


def put_back(connection: Connection, job_id: str, fault: str, due_at_ms: int) -> None:
    connection.execute(
        "UPDATE jobs SET lease = NULL, lease_until_ms = 0, fault = ?, due_at_ms = ? WHERE id = ?",
        (fault, due_at_ms, job_id),
    )


def bury(connection: Connection, job_id: str, fault: str) -> None:
    connection.execute(
        "UPDATE jobs SET lease = NULL, lease_until_ms = 0, dead = 1, fault = ? WHERE id = ?", (fault, job_id)
    )


def revive(connection: Connection, job_id: str, now_ms: int) -> None:
    connection.execute("UPDATE jobs SET dead = 0, attempt = 0, due_at_ms = ? WHERE id = ?", (now_ms, job_id))


def delete_job(connection: Connection, job_id: str) -> None:
    connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))


def long_dead(connection: Connection, before_ms: int, most: int) -> list[str]:
    found = connection.execute(
        "SELECT j.id FROM jobs AS j JOIN uploads AS u USING (id) WHERE j.dead = 1 AND u.changed_at_ms < ?"
        " LIMIT ?",
        (before_ms, most),
    )
    return [row["id"] for row in found]


def count_jobs(connection: Connection) -> tuple[int, int]:
    """How many wait or are in somebody's hands, and how many are dead letters."""
    row = connection.execute("SELECT count(*) - total(dead), total(dead) FROM jobs").fetchone()
    return int(row[0]), int(row[1])


async def jobs(database: Database, most: int) -> list[Job]:
    """Dead letters first, then what has waited longest."""
    found = await database.rows("SELECT * FROM jobs ORDER BY dead DESC, due_at_ms, id LIMIT ?", (most,))
    return [_job(row) for row in found]


def _job(row: Row) -> Job:
    return Job(
        row["id"],
        row["kind"],
        row["attempt"],
        row["due_at_ms"],
        row["lease"],
        row["lease_until_ms"],
        row["worker"],
        bool(row["dead"]),
        row["fault"],
        row["created_at_ms"],
    )
