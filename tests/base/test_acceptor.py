"""Failed accepts are retried and produce few log lines."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from svc.base import acceptor, logs
from svc.base.acceptor import Listener
from svc.base.connections import ConnectionTable, Limits, Slot
from svc.base.logs import OncePerMinute
from tests.kit.wait import eventually

WITHIN_S = 20.0


class Full(socket.socket):
    """A listening socket in a process that temporarily has no free descriptors."""

    failures = 0

    def accept(self) -> Any:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


@asynccontextmanager
async def listening(table: ConnectionTable, failures: int = 0) -> AsyncIterator[tuple[Full, list[Slot]]]:
    opened: list[Slot] = []

    async def keep(connection: socket.socket, slot: Slot) -> None:
        opened.append(slot)
        slot.close = connection.close

    with Full() as bound:
        bound.failures = failures
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        bound.setblocking(False)
        listener = Listener([bound], table, keep)
        listener.start()
        try:
            yield bound, opened
        finally:
            await listener.stop()
            await listener.stop()
            for slot in opened:
                slot.close()


async def test_accepting_resumes_after_failures_that_are_logged_on_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(acceptor, "FULL_PAUSE_S", 0.001)
    table = ConnectionTable(Limits(8))
    async with listening(table, failures=50) as (bound, opened):
        with socket.create_connection(bound.getsockname()):
            await eventually("the first connection is accepted", lambda: len(opened) == 1, within_s=WITHIN_S)
    assert caplog.messages.count("connections cannot be accepted") == 1


async def test_a_failing_accept_closes_an_unauthenticated_connection_to_free_a_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acceptor, "FULL_PAUSE_S", 0.001)
    table = ConnectionTable(Limits(8))
    async with listening(table) as (bound, opened):
        with socket.create_connection(bound.getsockname()):
            await eventually("the first connection is accepted", lambda: len(opened) == 1, within_s=WITHIN_S)
            bound.failures = 1
            with socket.create_connection(bound.getsockname()):
                await eventually(
                    "the next connection is accepted", lambda: len(opened) == 2, within_s=WITHIN_S
                )
            assert [slot.open for slot in opened] == [False, True]


async def test_a_flood_that_fills_the_connection_table_is_logged_on_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = ConnectionTable(Limits(4))
    async with listening(table) as (bound, opened):
        lines = [socket.create_connection(bound.getsockname()) for _ in range(50)]
        await eventually("all connections were accepted", lambda: table.closed == 47, within_s=WITHIN_S)
        assert len(table) == 3 and opened
        for line in lines:
            line.close()
    full = [record for record in caplog.records if record.message.startswith("too many connections")]
    assert len(full) == 1 and full[0].__dict__["open"] == 3


async def test_deadlines_wake_the_process_only_when_one_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "SWEEP_INTERVAL_S", 0.001)
    due: list[float | None] = []

    class Noting(ConnectionTable):
        def sweep(self, now: float) -> float | None:
            due.append(super().sweep(now))
            return due[-1]

    async def swept(expected: int) -> None:
        """Check that exactly `expected` sweeps have run since the last call, even after many intervals."""
        await eventually("the table has been swept", lambda: len(due) >= expected, within_s=WITHIN_S)
        await asyncio.sleep(0.02)
        assert len(due) == expected
        due.clear()

    async with listening(Noting(Limits(4))) as (bound, opened):
        with socket.create_connection(bound.getsockname()):
            await eventually("the first connection is accepted", lambda: len(opened) == 1, within_s=WITHIN_S)
            await swept(0)
            checks = iter([0.0, 0.0, 3600.0, 3600.0])
            opened[0].watch(lambda now: now + next(checks))
            await swept(3)
            opened[0].check_soon()
            await swept(1)
            opened[0].check_soon()
            opened[0].leave()
            await swept(1)


def test_a_rate_limited_log_line_counts_the_suppressed_lines() -> None:
    seldom = OncePerMinute()
    assert seldom.due(0.0) == 1
    assert [seldom.due(1.0), seldom.due(2.0, times=3)] == [0, 0]
    assert seldom.due(logs.SELDOM_S) == 5
