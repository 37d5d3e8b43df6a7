"""However many strangers want something at once, what a member asks for is handled first."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from selectors import EVENT_READ
from typing import Any

import pytest

from svc.base import accepting
from svc.base.accepting import Listener
from svc.base.connections import Limits, Place, Table
from svc.base.fair_loop import LONGEST_WAITING, STRANGERS_AT_ONCE, FairLoop, FairSelector, new_loop
from svc.base.listening import bound
from svc.chat.openapi.http_document import http_document
from tests.chat.member import ChatServer
from tests.kit.waiting import eventually

WITHIN_S = 20.0
CROWD = 5 * STRANGERS_AT_ONCE


@pytest.fixture
def ready() -> Iterator[list[socket.socket]]:
    """Connections on each of which something waits to be read."""
    with ExitStack() as stack:
        found = []
        for _ in range(CROWD + 3):
            near, far = socket.socketpair()
            stack.enter_context(near)
            stack.enter_context(far).send(b"x")
            found.append(near)
        yield found


@pytest.fixture
def selector(ready: list[socket.socket]) -> Iterator[FairSelector]:
    """The last three connections are members'."""
    with FairSelector() as made:
        for each in ready:
            made.register(each, EVENT_READ)
        made.strangers.update({each.fileno(): 0 for each in ready[:CROWD]})
        yield made


def turn(selector: FairSelector) -> list[int]:
    return [key.fd for key, _ in selector.select(0)]


def test_a_turn_is_all_members_and_then_a_few_strangers(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    members = {each.fileno() for each in ready[CROWD:]}
    for _ in range(3):
        found = turn(selector)
        assert set(found[:3]) == members
        assert len(found) == 3 + STRANGERS_AT_ONCE


def test_strangers_who_are_ready_all_the_time_keep_nobody_from_a_turn(selector: FairSelector) -> None:
    served = [fd for _ in range(CROWD // STRANGERS_AT_ONCE) for fd in turn(selector)]
    assert set(selector.strangers) <= set(served)


def test_a_newcomer_comes_before_those_who_have_had_turns(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    newcomer = ready[CROWD - 1].fileno()
    selector.strangers.update({fd: 1 for fd in selector.strangers if fd != newcomer})
    assert newcomer in turn(selector)


def test_newcomers_without_end_keep_nobody_from_a_turn(
    selector: FairSelector, ready: list[socket.socket]
) -> None:
    kept = ready[0].fileno()
    served: set[int] = set()
    for _ in range(CROWD // LONGEST_WAITING + 1):
        selector.strangers.update({fd: 0 if fd != kept else 100 for fd in selector.strangers})
        served.update(turn(selector))
    assert kept in served


async def _signs_in(loop: FairLoop) -> None:
    opened: list[tuple[socket.socket, Place]] = []

    async def keep(connection: socket.socket, place: Place) -> None:
        opened.append((connection, place))
        place.close = connection.close

    sockets = bound("127.0.0.1", 0)
    listener = Listener(sockets, Table(Limits(10)), keep)
    listener.start()
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(socket.create_connection(sockets[0].getsockname()))
        await eventually("both are accepted", lambda: len(opened) == 2, within_s=WITHIN_S)
        (member, place), (stranger, other) = opened
        assert loop.strangers == {member.fileno(), stranger.fileno()}
        place.belongs_to("member")
        assert loop.strangers == {stranger.fileno()}
        other.leave()
        assert loop.strangers == set()
        for connection, _ in opened:
            connection.close()
    await listener.stop()


def test_a_connection_is_a_strangers_until_somebody_has_proved_who_they_are() -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FairLoop)
        runner.run(_signs_in(loop))


async def test_the_system_holds_little_for_a_peer_that_reads_nothing() -> None:
    held: list[int] = []

    async def look(connection: socket.socket, place: Place) -> None:
        held.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT))
        connection.close()
        place.leave()

    sockets = bound("127.0.0.1", 0)
    listener = Listener(sockets, Table(Limits(10)), look)
    listener.start()
    with socket.create_connection(sockets[0].getsockname()):
        await eventually("it is accepted", lambda: held == [accepting.UNSENT_BYTES], within_s=WITHIN_S)
    await listener.stop()


async def test_what_takes_long_to_make_is_made_once_beside_the_loop_for_all_who_ask(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers: list[threading.Thread] = []

    def noted(*arguments: Any) -> dict[str, object]:
        makers.append(threading.current_thread())
        return http_document(*arguments)

    monkeypatch.setattr("svc.chat.openapi.routes.http_document", noted)

    async def ask() -> int:
        async with chat.http.get("/openapi.json") as response:
            return len(await response.read())

    sizes = await asyncio.gather(*(ask() for _ in range(10)))
    assert len(set(sizes)) == 1 and sizes[0] > 100_000
    assert len(makers) == 1
    assert makers[0] is not threading.current_thread()
