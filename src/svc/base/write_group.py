"""Runs a group of writes in one transaction and undoes the writes that fail."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

# Errors caused by a disk that is full, read-only or failing, and not by the statement.
_DISK_FAULTS = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_NOMEM,
    }
)

T = TypeVar("T")
Result = TypeVar("Result")
Connection = sqlite3.Connection


class StorageFailed(Exception):
    """A write was not saved: the disk is full, broken or read-only. The whole write was undone."""

    @property
    def reason_for_clients(self) -> str:
        """Return an explanation for clients, or an empty string for the usual explanation."""
        return ""


class Unreplicated(StorageFailed):
    """A cluster cannot confirm a write. The message is for clients and states whether the write may still
    happen.
    """

    @property
    def reason_for_clients(self) -> str:
        return str(self)


class PendingWrite(Struct, frozen=True):
    apply: Callable[[Connection], Any]
    future: "asyncio.Future[Any]"
    # Converts the result of `apply` into the caller's result.
    on_commit: Callable[[Any], Any]


class Write(Struct, Generic[T, Result], frozen=True):
    """A planned write: `apply` is as in `Database.write`, and `on_commit` returns the caller's result."""

    apply: Callable[[Connection], T]
    on_commit: Callable[[T], Result]


Outcome = tuple[PendingWrite, Any, BaseException | None]


def run(connection: Connection, group: Sequence[PendingWrite]) -> list[Outcome]:
    """Run all writes in a transaction that stays open.

    Savepoints cost as much as statements, so the first attempt uses none. Most failing writes have changed
    nothing, so the rest of the group stands. If a failing write has changed something, the others run again.
    """
    outcomes: list[Outcome] = []
    connection.execute("BEGIN IMMEDIATE")
    for write in group:
        changes = connection.total_changes
        try:
            outcomes.append((write, write.apply(connection), None))
        except Exception as fault:
            if connection.total_changes != changes or not connection.in_transaction:
                break
            outcomes.append((write, None, _translate(fault)))
    else:
        return outcomes
    if connection.in_transaction:  # Some disk errors end the transaction.
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")
    refused = {id(write): (write, result, fault) for write, result, fault in outcomes if fault}
    return [refused.get(id(write)) or _in_savepoint(connection, write) for write in group]


def _in_savepoint(connection: Connection, write: PendingWrite) -> Outcome:
    connection.execute("SAVEPOINT change")
    try:
        result = write.apply(connection)
    except Exception as fault:
        connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")
        return write, None, _translate(fault)
    connection.execute("RELEASE change")
    return write, result, None


def _translate(fault: Exception) -> Exception:
    """Return StorageFailed for a disk error, which is not the fault of a write. Return any other exception
    unchanged.
    """
    if isinstance(fault, sqlite3.Error) and is_disk_fault(fault):
        return StorageFailed(str(fault))
    return fault


def is_disk_fault(fault: sqlite3.Error) -> bool:
    return fault.sqlite_errorcode & 0xFF in _DISK_FAULTS
