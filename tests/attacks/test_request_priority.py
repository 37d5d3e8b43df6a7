"""Members' requests take priority, however many requests unauthenticated clients send."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from svc.base import acceptor
from svc.base.acceptor import Listener
from svc.base.connections import ConnectionTable, Limits, Slot
from svc.base.fair_loop import (
    BEYOND_AT_ONCE,
    MAX_PAUSE_S,
    MEMBER_EVENTS,
    MEMBER_INTERVAL_S,
    NEWCOMER_TURNS,
    NEWCOMERS_AT_ONCE,
    READ_BEFORE_AT_ONCE,
    STRANGERS_AT_ONCE,
    FairLoop,
    FairSelector,
    Recognise,
    new_loop,
)
from svc.base.listeners import bound
from svc.chat.openapi.http_document import http_document
from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.device import Device
from tests.kit.wait import eventually

WITHIN_S = 20.0
CROWD = 5 * STRANGERS_AT_ONCE
# Requests sent in one piece.
TOGETHER = 5


@pytest.fixture
def ready() -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        ready_descriptors = []
        for _ in range(CROWD + 3):
            near, far = socket.socketpair()
            stack.enter_context(near)
            stack.enter_context(far).send(b"x")
            ready_descriptors.append(near)
        yield ready_descriptors


@pytest.fixture
def selector(ready: list[socket.socket]) -> Iterator[FairSelector]:
    """Return a selector with many unauthenticated connections and three connections of members."""
    with FairSelector() as made:
        # The clock is stopped, so unauthenticated connections are never paused.
        made.fair.clock = lambda: 0.0
        for sock in ready[:CROWD]:
            begin_last(made, sock)
        for sock in ready[CROWD:]:
            made.register(sock, EVENT_READ)
        while len(ready_of(made)) < len(ready):
            turn(made)
        yield made


def begin_last(selector: FairSelector, connection: socket.socket, recognise: Recognise = str) -> None:
    selector.fair.put_last(connection, recognise, lambda: selector.register(connection, EVENT_READ))


def turn(selector: FairSelector) -> list[int]:
    return [key.fd for key, _ in selector.select(0)]


def age(selector: FairSelector, crowd: list[socket.socket]) -> None:
    """Serve these connections until they no longer count as new."""
    others = [sock for sock in ready_of(selector) if sock not in crowd]
    for sock in others:
        selector.unregister(sock)
    while any(selector.fair.turns[sock.fileno()] < NEWCOMER_TURNS for sock in crowd):
        turn(selector)
    for sock in others:
        selector.register(sock, EVENT_READ)


def ready_of(selector: FairSelector) -> list[socket.socket]:
    return [key.fileobj for key in selector.get_map().values() if isinstance(key.fileobj, socket.socket)]


def test_each_iteration_serves_all_members_and_then_a_few_unauthenticated_connections(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    members = {sock.fileno() for sock in ready[CROWD:]}
    for _ in range(3 * CROWD):
        served = turn(selector)
        assert set(served[:3]) == members
        assert 3 < len(served) <= 3 + STRANGERS_AT_ONCE


def test_unauthenticated_connections_that_are_always_ready_do_not_starve_others(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    for crowd in (ready[:CROWD], []):
        age(selector, crowd)
        served = [fd for _ in range(CROWD // NEWCOMERS_AT_ONCE + 1) for fd in turn(selector)]
        assert {sock.fileno() for sock in ready} <= set(served)


def test_a_new_connection_is_served_before_connections_that_have_been_served(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    age(selector, ready[1:CROWD])
    assert turn(selector)[3] == ready[0].fileno()


def test_an_endless_stream_of_new_connections_does_not_starve_others(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    age(selector, ready[:1])
    assert ready[0].fileno() in turn(selector)


def test_a_new_member_is_served_first_with_pending_data(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    age(selector, ready[: CROWD // 2])
    for sock in (ready[0], ready[CROWD - 1]):
        selector.fair.put_first(sock.fileno(), sock, "Ada")
    first = {sock.fileno() for sock in (ready[0], ready[CROWD - 1], *ready[CROWD:])}
    assert set(turn(selector)[: len(first)]) == first
    selector.modify(ready[0], EVENT_WRITE)
    assert (ready[0].fileno(), EVENT_WRITE) in [(key.fd, events) for key, events in selector.select(0)]
    selector.unregister(ready[0])
    assert ready[0].fileno() not in turn(selector)


def test_a_connection_that_starts_with_a_members_token_skips_the_queue(
    selector: FairSelector,
) -> None:
    selector.fair.owner_of = lambda data: "Ada" if data == b"member" else None
    table = ConnectionTable(Limits(10, of_owner=1))
    (member, member_socket), (stranger, stranger_socket) = pairs = socket.socketpair(), socket.socketpair()
    with ExitStack() as stack:
        for sock in (*pairs[0], *pairs[1]):
            stack.enter_context(sock)
        for sock in (stranger, member):
            put_last(selector, sock, table)
        stranger_socket.send(b"somebody")
        member_socket.send(b"member")
        turn(selector)
        served = turn(selector)
        assert member.fileno() in served and stranger.fileno() not in served
        assert member.fileno() not in selector.fair.turns
        assert member.recv(10) == b"member"
        selector.unregister(member)


def test_a_members_connections_skip_the_queue_only_up_to_a_limit(
    selector: FairSelector,
) -> None:
    # If all of a member's connections had priority, everybody else would have to wait, even with valid
    # tokens.
    selector.fair.owner_of = lambda data: data.decode().partition(" ")[0] or None
    table = ConnectionTable(Limits(100, of_owner=3))
    with ExitStack() as stack:
        for owner in ["Ada"] * 10 + ["Ben"]:
            near, far = socket.socketpair()
            stack.enter_context(near)
            stack.enter_context(far).send(owner.encode())
            put_last(selector, near, table)
        for _ in range(CROWD):
            turn(selector)
    assert table.strangers == 7 and len(table) == 11
    assert len(selector.fair.turns) == CROWD + 7


def put_last(selector: FairSelector, connection: socket.socket, table: ConnectionTable) -> None:
    slot = table.enter("192.0.2.1")
    assert slot is not None
    slot.on_settled = lambda: selector.fair.put_first(connection.fileno(), connection, slot.owner)
    begin_last(selector, connection, slot.belongs_to)


def test_a_connection_that_was_reset_is_reported_as_ready(selector: FairSelector) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = socket.create_connection(server.getsockname())
        near, _ = server.accept()
        with near:
            begin_last(selector, near)
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            far.close()
            assert near.fileno() in [fd for _ in range(CROWD) for fd in turn(selector)]
            selector.unregister(near)


def test_a_late_close_does_not_affect_a_new_connection_with_the_same_descriptor(
    selector: FairSelector,
) -> None:
    begun: list[str] = []
    ended, far = socket.socketpair()
    selector.fair.put_last(ended, str, lambda: begun.append("ended"))
    descriptor = ended.detach()
    with far, socket.socket(fileno=descriptor) as following:
        # The system removes a closed descriptor from the poll.
        selector.fair.forget(descriptor, ended)
        selector.fair.put_last(following, str, lambda: begun.append("following"))
        selector.fair.forget(descriptor, ended)
        selector.fair.put_first(descriptor, ended, "Ada")
        far.send(b"x")
        while not begun:
            turn(selector)
        assert begun == ["following"] and descriptor in selector.fair.turns


def test_the_event_loop_waits_when_no_unauthenticated_connection_is_ready(
    selector: FairSelector,
) -> None:
    for sock in ready_of(selector):
        sock.recv(1)
    assert turn(selector) == []


def test_unauthenticated_connections_pause_three_times_as_long_as_they_ran_up_to_a_limit(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    now = 0.0
    selector.fair.clock = lambda: now
    turn(selector)
    for took, pause in ((0.01, 0.03), (1.0, MAX_PAUSE_S)):
        assert len(turn(selector)) > 3
        now += took
        for _ in range(3):
            assert set(turn(selector)) == {sock.fileno() for sock in ready[CROWD:]}
        now += pause


def test_a_flooding_member_is_treated_like_an_unauthenticated_client(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    now = 0.0
    selector.fair.clock = lambda: now
    turn(selector)
    flood, _, other = members = [sock.fileno() for sock in ready[CROWD:]]
    for sock, owner in ((ready[CROWD], "Ada"), (ready[CROWD + 1], "Ben")):
        selector.unregister(sock)
        begin_last(selector, sock)
        selector.fair.put_first(sock.fileno(), sock, owner)
    turn(selector)
    for _ in range(MEMBER_EVENTS - 1):
        assert set(turn(selector)[:3]) == set(members)
    ready[CROWD + 1].recv(1)
    assert flood in turn(selector)[:2]
    now = 0.01  # Serving the unauthenticated connections took this long, so they now pause.
    assert set(turn(selector)) == {other}
    now = 0.01 + MEMBER_INTERVAL_S
    assert flood in turn(selector)[:2]


def test_all_connections_of_a_flooding_member_are_served_in_turn(ready: list[socket.socket]) -> None:
    crowd = ready[: 2 * BEYOND_AT_ONCE + 1]
    with FairSelector() as selector:
        selector.fair.clock = lambda: 0.0
        for sock in crowd:
            begin_last(selector, sock)
            selector.fair.put_first(sock.fileno(), sock, "Ada")
        for _ in range(MEMBER_EVENTS):
            turn(selector)
        served = [turn(selector) for _ in crowd]
        assert {len(group) for group in served} == {BEYOND_AT_ONCE}
        assert {fd for group in served for fd in group} == {sock.fileno() for sock in crowd}


def test_unauthenticated_connections_are_served_at_once_when_no_member_is_ready(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    now = 0.0
    selector.fair.clock = lambda: now
    for sock in ready[CROWD:]:
        sock.recv(1)
    assert turn(selector)
    now = 0.01
    assert turn(selector) == []  # A callback has run in the meantime. Otherwise, the call would block.
    assert selector.select(None)


def test_pipelined_requests_are_served_in_separate_iterations(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    had: list[int] = []
    waiting = selector.fair.waiting
    waiting.extend(partial(had.append, number) for number in range(2 * READ_BEFORE_AT_ONCE + 1))
    for count in (1, 2):
        assert len(turn(selector)) == 3 + NEWCOMERS_AT_ONCE
        assert had == list(range(count * READ_BEFORE_AT_ONCE))
    for sock in ready_of(selector):
        sock.recv(1)
    # No connection is ready, so the selector does not block.
    assert selector.select(None) == [] and len(had) == 2 * READ_BEFORE_AT_ONCE + 1


async def _request_at_once(loop: FairLoop, variables: dict[str, str]) -> None:
    turns, turn = [], loop.turn

    async def noted() -> None:
        turns.append(1)
        await turn()

    async with chat_server(variables) as chat:
        answer = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
        address = urlsplit(chat.address)
        loop.turn = noted  # type: ignore[method-assign]
        for token, costing in (("", TOGETHER - 1), (answer["access_token"], 0)):
            turns.clear()
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            request = f"GET /api/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"
            writer.write(request.encode() * TOGETHER)
            for _ in range(TOGETHER):
                assert (await reader.readuntil(b"\r\n")).split()[1] == (b"200" if token else b"401")
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
            writer.close()
            assert len(turns) == costing


def test_each_unauthenticated_pipelined_request_waits_for_its_own_iteration(
    variables: dict[str, str],
) -> None:
    with asyncio.Runner(loop_factory=FairLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FairLoop)
        runner.run(_request_at_once(loop, variables))


async def _signs_in(loop: FairLoop) -> None:
    opened: list[tuple[socket.socket, Slot]] = []

    async def keep(connection: socket.socket, slot: Slot) -> None:
        opened.append((connection, slot))
        slot.close = connection.close

    sockets = bound("127.0.0.1", 0)
    listener = Listener(sockets, ConnectionTable(Limits(10)), keep)
    listener.start()
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(socket.create_connection(sockets[0].getsockname())).send(b"x")
        await eventually("both connections are accepted", lambda: len(opened) == 2, within_s=WITHIN_S)
        (member, slot), (stranger, other) = opened
        assert loop.strangers == {member.fileno(), stranger.fileno()}
        slot.belongs_to("member")
        assert loop.strangers == {stranger.fileno()}
        other.leave()
        assert loop.strangers == set()
        for connection, _ in opened:
            connection.close()
    await listener.stop()


def test_a_connection_has_low_priority_until_it_authenticates() -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FairLoop)
        runner.run(_signs_in(loop))


async def _open_silent_connections(loop: FairLoop) -> None:
    calls = 0

    async def keep(connection: socket.socket, slot: Slot) -> None:
        nonlocal calls
        calls += 1
        connection.close()
        slot.leave()

    sockets, table = bound("127.0.0.1", 0), ConnectionTable(Limits(4))
    listener = Listener(sockets, table, keep, lambda: 0.0)
    listener.start()
    writers: list[asyncio.StreamWriter] = []

    async def connected() -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection(*sockets[0].getsockname())
        writers.append(writer)
        return reader

    readers = [await connected() for _ in range(4)]
    await eventually("one connection was closed for the newest", lambda: table.closed == 1, within_s=WITHIN_S)
    assert await readers[0].read() == b""
    assert len(table) == len(loop.strangers) == 3
    writers[1].write(b"x")
    await eventually("the connection was opened", lambda: calls == 1 and len(table) == 2, within_s=WITHIN_S)
    table.sweep(acceptor.FIRST_BYTE_DEADLINE_S - 1)
    assert len(table) == 2
    await connected()
    await eventually("the connection is accepted", lambda: len(table) == 3, within_s=WITHIN_S)
    await listener.stop()
    assert len(table) == 0 and loop.strangers == set()
    for reader in readers[2:]:
        assert await reader.read() == b""
    for writer in writers:
        writer.close()
    assert calls == 1


async def _keep_silent(loop: FairLoop) -> None:
    async def keep(connection: socket.socket, slot: Slot) -> None:
        raise AssertionError("the server sent nothing")

    sockets, table = bound("127.0.0.1", 0), ConnectionTable(Limits(4))
    listener = Listener(sockets, table, keep, lambda: 0.0)
    listener.start()
    reader, writer = await asyncio.open_connection(*sockets[0].getsockname())
    await eventually("the connection is accepted", lambda: len(table) == 1, within_s=WITHIN_S)
    table.sweep(acceptor.FIRST_BYTE_DEADLINE_S)
    assert await reader.read() == b""
    assert len(table) == 0 and loop.strangers == set()
    writer.close()
    await listener.stop()


@pytest.mark.parametrize("doing", [_open_silent_connections, _keep_silent])
def test_silent_connections_make_room_and_are_closed(
    doing: Callable[[FairLoop], Coroutine[None, None, None]],
) -> None:
    with asyncio.Runner(loop_factory=FairLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FairLoop)
        runner.run(doing(loop))


async def _shows_a_token(loop: FairLoop, variables: dict[str, str]) -> None:
    passed: list[str | None] = []
    async with chat_server(variables) as chat:
        answer = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
        owner_of = loop.owner_of

        def noted(data: bytes) -> str | None:
            passed.append(owner_of(data))
            return passed[-1]

        loop.owner_of = noted
        for token, status in ((answer["access_token"], 200), ("wrong", 401)):
            async with (
                ClientSession(chat.address, headers={"Authorization": f"Bearer {token}"}) as http,
                http.get("/api/members") as response,
            ):
                assert response.status == status
    assert passed == [answer["member"]["id"], None]


def test_a_new_connection_with_a_valid_token_skips_the_queue(variables: dict[str, str]) -> None:
    with asyncio.Runner(loop_factory=FairLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FairLoop)
        runner.run(_shows_a_token(loop, variables))


async def test_the_kernel_buffers_little_for_a_peer_that_does_not_read() -> None:
    held: list[int] = []

    async def look(connection: socket.socket, slot: Slot) -> None:
        held.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT))
        connection.close()
        slot.leave()

    sockets = bound("127.0.0.1", 0)
    listener = Listener(sockets, ConnectionTable(Limits(10)), look)
    listener.start()
    with socket.create_connection(sockets[0].getsockname()):
        await eventually(
            "the connection is accepted", lambda: held == [acceptor.UNSENT_BYTES], within_s=WITHIN_S
        )
    await listener.stop()


async def test_an_expensive_document_is_built_only_once_outside_the_event_loop(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers: list[threading.Thread] = []

    def noted(*arguments: Any) -> dict[str, object]:
        makers.append(threading.current_thread())
        return http_document(*arguments)

    monkeypatch.setattr("svc.chat.openapi.endpoints.http_document", noted)

    async def ask() -> int:
        async with chat.http.get("/openapi.json") as response:
            return len(await response.read())

    sizes = await asyncio.gather(*(ask() for _ in range(10)))
    assert len(set(sizes)) == 1 and sizes[0] > 100_000
    assert len(makers) == 1
    assert makers[0] is not threading.current_thread()
