"""Deleting so that nothing of it stays in the database file: what is in its log goes when that is emptied."""

from collections.abc import Iterator
from contextlib import contextmanager

from svc.base.database import Connection


@contextmanager
def erasing(connection: Connection) -> Iterator[None]:
    """What is deleted meanwhile is overwritten in the file, and not just forgotten there."""
    connection.execute("PRAGMA secure_delete=ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete=OFF")
