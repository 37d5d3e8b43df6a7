"""The server writes frames to clients in rounds, combines them under load, and buffers a limited amount."""

import asyncio
from typing import cast

import pytest

from svc.chat.live import outbox as outbox_module
from svc.chat.live.outbox import MAX_WAITING_BYTES, STALL_DEADLINE_S, Outbox, WriteScheduler


class FakeTransport:
    """A transport that reports all data as unsent while `stuck` is set."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.held = 0
        self.stuck = False
        self.closing = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        if self.stuck:
            self.held += len(data)

    def get_write_buffer_size(self) -> int:
        return self.held

    def is_closing(self) -> bool:
        return self.closing


class Reader:
    """A client's outbox on a fake transport."""

    def __init__(self, rounds: WriteScheduler) -> None:
        self.transport = FakeTransport()
        self.too_slow = 0
        self.outbox = Outbox(cast(asyncio.Transport, self.transport), rounds, self._count)

    def _count(self) -> None:
        self.too_slow += 1


@pytest.fixture
def rounds() -> WriteScheduler:
    return WriteScheduler()


@pytest.fixture
async def reader(rounds: WriteScheduler) -> Reader:
    return Reader(rounds)


async def test_frames_queued_in_one_loop_iteration_are_combined_in_one_write(reader: Reader) -> None:
    for frame in (b"a", b"b", b"c"):
        reader.outbox.send(frame)
    assert reader.transport.writes == []
    await asyncio.sleep(0)
    assert reader.transport.writes == [b"abc"]


async def test_replies_and_broadcast_frames_keep_their_order(rounds: WriteScheduler) -> None:
    readers = [Reader(rounds) for _ in range(3)]
    ada, bob, cyd = (reader.outbox for reader in readers)
    everybody = [ada, bob, cyd]
    ada.send(b"1")
    rounds.share(b"2", everybody)
    ada.send(b"3")
    rounds.share(b"4", everybody)
    rounds.share(b"5", [ada, bob])
    bob.send(b"6")
    rounds.write()
    assert [b"".join(reader.transport.writes) for reader in readers] == [b"12345", b"2456", b"24"]


async def test_frames_for_the_same_clients_are_joined_once(rounds: WriteScheduler) -> None:
    readers = [Reader(rounds) for _ in range(3)]
    everybody = [reader.outbox for reader in readers]
    for frame in (b"a", b"b"):
        rounds.share(frame, everybody)
    await asyncio.sleep(0)
    first, second, third = (reader.transport.writes[0] for reader in readers)
    assert first == b"ab"
    assert first is second is third


async def test_frames_for_different_clients_keep_their_order_for_each_client(rounds: WriteScheduler) -> None:
    ada, bob = Reader(rounds), Reader(rounds)
    for frame, outboxes in (
        (b"a", [ada.outbox]),
        (b"b", [ada.outbox, bob.outbox]),
        (b"c", [bob.outbox]),
        (b"d", [ada.outbox]),
    ):
        rounds.share(frame, outboxes)
    await asyncio.sleep(0)
    assert (ada.transport.writes, bob.transport.writes) == ([b"abd"], [b"bc"])


@pytest.mark.parametrize(("took_s", "pause_s"), [(0.003, 0.003), (0.017, 0.017), (0.5, 0.02)])
async def test_a_round_delays_the_next_one_by_its_own_duration_up_to_20_ms(
    rounds: WriteScheduler, reader: Reader, monkeypatch: pytest.MonkeyPatch, took_s: float, pause_s: float
) -> None:
    loop = asyncio.get_running_loop()
    now = [100.0]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    called_at: list[float] = []
    monkeypatch.setattr(loop, "call_at", lambda when, *_: called_at.append(when))
    reader.transport.write = lambda data: now.__setitem__(0, now[0] + took_s)  # type: ignore[method-assign]
    reader.outbox.send(b"a")
    await asyncio.sleep(0)
    reader.outbox.send(b"b")
    assert called_at == [pytest.approx(100 + took_s + pause_s)]


async def test_after_a_period_without_work_nothing_is_delayed(
    rounds: WriteScheduler, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    now = [100.0]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    reader.outbox.send(b"a")
    await asyncio.sleep(0)
    now[0] += outbox_module.MAX_PAUSE_S
    reader.outbox.send(b"b")
    await asyncio.sleep(0)
    assert reader.transport.writes == [b"a", b"b"]


async def test_frames_wait_without_loss_while_a_transport_is_full(
    rounds: WriteScheduler, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "RETRY_S", 0)
    reader.transport.stuck = True
    reader.outbox.send(b"a")
    await asyncio.sleep(0)
    rounds.share(b"b", [reader.outbox])
    reader.outbox.send(b"c")
    rounds.write()
    rounds.share(b"d", [reader.outbox])
    rounds.write()
    assert reader.transport.writes == [b"a"]
    reader.transport.stuck, reader.transport.held = False, 0
    async with asyncio.timeout(30):
        while len(reader.transport.writes) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert reader.transport.writes == [b"a", b"bcd"]


async def test_a_client_that_is_too_far_behind_is_reported_once(reader: Reader) -> None:
    reader.transport.stuck = True
    reader.outbox.send(b"a")
    reader.outbox.write()
    frame = bytes(MAX_WAITING_BYTES // 4)
    for _ in range(12):
        reader.outbox.send(frame)
    assert reader.too_slow == 1


async def test_a_single_frame_may_be_larger_than_the_limit(reader: Reader) -> None:
    reader.outbox.send(bytes(MAX_WAITING_BYTES * 2))
    await asyncio.sleep(0)
    assert (len(reader.transport.writes), reader.too_slow) == (1, 0)


async def test_a_client_whose_socket_accepts_nothing_is_reported_by_the_deadline(reader: Reader) -> None:
    reader.transport.stuck = True
    reader.outbox.send(bytes(1000))
    reader.outbox.write()
    reader.outbox.check(0.0)
    reader.outbox.check(STALL_DEADLINE_S - 1)
    reader.transport.held = 500
    reader.outbox.check(STALL_DEADLINE_S)
    reader.outbox.check(2 * STALL_DEADLINE_S - 1)
    assert reader.too_slow == 0
    reader.outbox.check(2 * STALL_DEADLINE_S)
    assert reader.too_slow == 1


async def test_nothing_is_written_to_a_closed_connection(rounds: WriteScheduler, reader: Reader) -> None:
    reader.transport.closing = True
    reader.outbox.send(b"a")
    rounds.share(b"b", [reader.outbox])
    rounds.write()
    assert reader.transport.writes == []


class ClosedTwice(FakeTransport):
    """A transport like asyncio's TLS transport after a second close. It no longer knows the size of its
    buffer.
    """

    def get_write_buffer_size(self) -> int:
        raise AttributeError("'NoneType' object has no attribute '_get_write_buffer_size'")


async def test_a_tls_connection_closed_twice_does_not_stop_other_frames(rounds: WriteScheduler) -> None:
    gone, other = Reader(rounds), Reader(rounds)
    gone.outbox.send(b"early")
    gone.transport = ClosedTwice()
    gone.transport.closing = True
    gone.outbox._transport = cast(asyncio.Transport, gone.transport)
    other.outbox.send(b"own")
    rounds.share(b"shared", [gone.outbox, other.outbox])
    await asyncio.sleep(0)
    assert other.transport.writes == [b"own", b"shared"]
    gone.outbox.send(b"late")
    gone.outbox.check(0.0)
    await asyncio.sleep(0)
    assert (gone.transport.writes, gone.too_slow) == ([], 0)
