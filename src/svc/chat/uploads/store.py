"""Stores uploads and the worker's jobs. Contains only SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.base.tables import JSON, Table, number, optional
from svc.chat.uploads.limits import Load
from svc.chat.uploads.upload import DONE, RECEIVING, REFUSED, USED, WAITING, Upload

# Functions for the table of uploads.


UPLOADS = Table("uploads", Upload, result=optional(JSON), refusal=optional(JSON))


def forget_cut_off(connection: Connection) -> None:
    """Delete uploads that were interrupted and cannot be resumed."""
    connection.execute("DELETE FROM uploads WHERE state = ? AND NOT resumable", (RECEIVING,))


async def of_member(database: Database, member_id: str, after: str, maximum: int) -> list[Upload]:
    """Return a member's uploads that follow the given id, oldest first."""
    return await UPLOADS.all(
        database, "WHERE member_id = ? AND id > ? ORDER BY id LIMIT ?", member_id, after, maximum
    )


async def unused_of_member(database: Database, member_id: str, maximum: int) -> list[Upload]:
    """Return a member's unattached uploads, newest first."""
    which = "WHERE member_id = ? AND state != ? ORDER BY id DESC LIMIT ?"
    return await UPLOADS.all(database, which, member_id, USED, maximum)


def set_received(connection: Connection, upload_id: str, received: int, now_ms: int) -> None:
    """Store the number of received bytes. Release the rest of the reservation, because nothing is
    arriving.
    """
    changed = {"received": received, "reserved": received, "changed_at_ms": now_ms}
    UPLOADS.edit(connection, changed, id=upload_id, state=RECEIVING)


def set_waiting(connection: Connection, upload_id: str, length: int, now_ms: int) -> bool:
    """Mark an upload as complete. Return False if it is not being received."""
    sizes = dict.fromkeys(("length", "received", "reserved"), length)
    changed = {"state": WAITING, **sizes, "changed_at_ms": now_ms}
    return UPLOADS.edit(connection, changed, id=upload_id, state=RECEIVING)


def set_done(connection: Connection, upload_id: str, result: Mapping[str, object], now_ms: int) -> None:
    changed = {"state": DONE, "result": JSON.store(result), "key": result["key"], "changed_at_ms": now_ms}
    UPLOADS.edit(connection, changed, id=upload_id)


def set_refused(connection: Connection, upload_id: str, refusal: Mapping[str, object], now_ms: int) -> None:
    changed = {"state": REFUSED, "refusal": JSON.store(refusal), "changed_at_ms": now_ms}
    UPLOADS.edit(connection, changed, id=upload_id)


def unfinished_ids(connection: Connection, member_id: str) -> list[str]:
    """Return the ids of a member's unfinished or rejected uploads."""
    rows = connection.execute(
        "SELECT id FROM uploads WHERE member_id = ? AND state IN (?, ?, ?)",
        (member_id, RECEIVING, WAITING, REFUSED),
    )
    return [row["id"] for row in rows]


def load(connection: Connection, member_id: str | None = None) -> Load:
    """Return the load from one member's uploads, or from all uploads. Abandoned jobs still use space."""
    which, values = ("1", ()) if member_id is None else ("u.member_id = ?", (member_id,))
    unfinished = connection.execute(
        "SELECT count(*), coalesce(sum(reserved), 0), coalesce(sum(reserved - received), 0)"
        f" FROM uploads AS u WHERE {which} AND state IN (?, ?)",
        (*values, RECEIVING, WAITING),
    ).fetchone()
    dead = connection.execute(
        "SELECT coalesce(sum(reserved), 0) FROM jobs JOIN uploads AS u USING (id)"
        f" WHERE dead = 1 AND {which}",
        values,
    ).fetchone()
    return Load(unfinished[0], unfinished[1] + dead[0], unfinished[2])


def empty(connection: Connection, before_ms: int, maximum: int) -> list[str]:
    """Return the ids of uploads that began before the given time and have received nothing."""
    rows = connection.execute(
        "SELECT id FROM uploads WHERE state = ? AND received = 0 AND created_at_ms < ? LIMIT ?",
        (RECEIVING, before_ms, maximum),
    )
    return [row["id"] for row in rows]


def expired_ids(connection: Connection, state: str, before_ms: int, maximum: int) -> list[str]:
    """Return the ids of uploads in the given state without a job and without changes since the given time."""
    rows = connection.execute(
        "SELECT id FROM uploads WHERE state = ? AND changed_at_ms < ?"
        " AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = uploads.id) LIMIT ?",
        (state, before_ms, maximum),
    )
    return [row["id"] for row in rows]


def with_files(connection: Connection) -> set[str]:
    """Return the ids of uploads whose file is still needed."""
    rows = connection.execute(
        "SELECT id FROM uploads WHERE state IN (?, ?) UNION SELECT id FROM jobs", (RECEIVING, WAITING)
    )
    return {row["id"] for row in rows}


# Functions for the table of the worker's jobs.


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    kind: str
    # Whether the job is in the queue of long jobs.
    long: bool
    due_at_ms: int
    created_at_ms: int
    attempt: int = 0
    lease: str | None = None
    lease_until_ms: int = 0
    worker: str = ""
    dead: bool = False
    fault: str = ""


JOBS = Table("jobs", Job)


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A member's longest-waiting job."""

    job_id: str
    member_id: str
    due_at_ms: int


# Selects jobs of the given kinds in the queue of short or of long jobs.
_IN_LINE = "dead = 0 AND long = :long AND kind IN (SELECT value FROM json_each(:kinds))"


def due(connection: Connection, kinds: Sequence[str], now_ms: int, *, long: bool) -> list[WaitingJob]:
    """Return each member's longest-waiting unclaimed job."""
    rows = connection.execute(
        "SELECT id, member_id, due_at_ms FROM (SELECT id, member_id, due_at_ms,"
        " row_number() OVER (PARTITION BY member_id ORDER BY due_at_ms, id) AS place"
        f" FROM jobs JOIN uploads USING (id) WHERE {_IN_LINE}"
        " AND due_at_ms <= :now AND lease_until_ms <= :now) WHERE place = 1",
        {"kinds": dumps(list(kinds)).decode(), "long": long, "now": now_ms},
    )
    return [WaitingJob(*row) for row in rows]


def claimed_counts(
    connection: Connection, kinds: Sequence[str], now_ms: int, *, long: bool
) -> dict[str, int]:
    """Return the number of each member's claimed jobs."""
    cursor = connection.execute(
        f"SELECT member_id, count(*) FROM jobs JOIN uploads USING (id) WHERE {_IN_LINE}"
        " AND lease_until_ms > :now GROUP BY member_id",
        {"kinds": dumps(list(kinds)).decode(), "long": long, "now": now_ms},
    )
    return dict(cursor.fetchall())


def leased_count(connection: Connection, kind: str, now_ms: int) -> int:
    """Return the number of claimed jobs of the given kind."""
    cursor = connection.execute(
        "SELECT count(*) FROM jobs WHERE dead = 0 AND kind = ? AND lease_until_ms > ?", (kind, now_ms)
    )
    return number(cursor)


# The column values for an unclaimed job.
NOBODYS = {"lease": None, "lease_until_ms": 0}


def move_to_long_queue(connection: Connection, job_id: str, now_ms: int) -> None:
    """Move a job to the queue of long jobs. The interrupted run does not count as an attempt."""
    connection.execute(
        "UPDATE jobs SET lease = NULL, lease_until_ms = 0, long = 1, attempt = attempt - 1, due_at_ms = ?"
        " WHERE id = ?",
        (now_ms, job_id),
    )


def expired_failures(connection: Connection, before_ms: int, maximum: int) -> list[str]:
    rows = connection.execute(
        "SELECT j.id FROM jobs AS j JOIN uploads AS u USING (id) WHERE j.dead = 1 AND u.changed_at_ms < ?"
        " LIMIT ?",
        (before_ms, maximum),
    )
    return [row["id"] for row in rows]


class JobCounts(NamedTuple):
    """The numbers of jobs, and the time when the next paused or claimed job becomes ready."""

    # Jobs that are waiting or claimed.
    waiting: int
    dead: int
    # Jobs that are neither claimed nor paused.
    ready: int
    # When the first pause or lease ends, in ms since 1970, or None if there is none.
    next_at_ms: int | None


def count_jobs(connection: Connection, now_ms: int) -> JobCounts:
    row = connection.execute(
        "SELECT count(*), total(dead), total(dead = 0 AND ready_at_ms <= :now),"
        " min(CASE WHEN dead = 0 AND ready_at_ms > :now THEN ready_at_ms END)"
        " FROM (SELECT dead, max(due_at_ms, lease_until_ms) AS ready_at_ms FROM jobs)",
        {"now": now_ms},
    ).fetchone()
    return JobCounts(int(row[0] - row[1]), int(row[1]), int(row[2]), row[3])


async def jobs(database: Database, maximum: int) -> list[Job]:
    """Return abandoned jobs first, then the others in order of their due times."""
    return await JOBS.all(database, "ORDER BY dead DESC, due_at_ms, id LIMIT ?", maximum)
