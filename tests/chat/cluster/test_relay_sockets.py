"""After a takeover, a relay requests its clients' states from the new owner, only a few at a time."""

import asyncio
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from svc.chat.cluster.relay.link import OwnerLink
from svc.chat.cluster.relay.replica import RelayReplica
from svc.chat.cluster.relay.sockets import LearnedOrigins, RelaySockets, _State
from svc.chat.cluster.relay_protocol import (
    AttachedClient,
    AttachResponse,
    PresenceRecord,
    SessionRecord,
    StateRequest,
    StateResponse,
)
from svc.chat.errors import ChatError
from svc.chat.live import frames
from svc.chat.live.client import LocalClient
from svc.chat.messages import responses

PAGES = range(1, 41)
SESSION = SessionRecord("ada", "session", 0, 1, lasting=False)
OPENED = [AttachedClient(number, SESSION, in_sight=True, idle=False) for number in PAGES]


class BusyOwner(SimpleNamespace):
    """A connection to an owner that responds only when the test allows it."""

    def __init__(self) -> None:
        super().__init__(connection=None, session="one")
        self.requested: list[int] = []
        self.answers: list[asyncio.Future[None]] = []

    async def call(self, make: Callable[[int], StateRequest]) -> Any:
        self.requested.append(make(1).page)
        answer = asyncio.get_running_loop().create_future()
        self.answers.append(answer)
        await answer
        raise ChatError("server_stopping")

    def notify(self, message: object) -> None: ...


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def relay_with_clients(
    owner: SimpleNamespace, closed: list[int], sent: list[bytes] | None = None, *, keeps_online: bool = True
) -> tuple[RelaySockets, RelayReplica]:
    """Return a relay and its replica. The relay's clients receive the events of epoch 1.

    `closed` collects the numbers of disconnected clients, and `sent` collects the frames to all clients.
    """
    sent = [] if sent is None else sent
    replica = RelayReplica()
    sockets = RelaySockets(cast(OwnerLink, owner), replica, LearnedOrigins([], secure=False))
    for number in PAGES:
        page = SimpleNamespace(
            session=SESSION.session(),
            cut_off=lambda code, reason, number=number: closed.append(number),
            send_welcome=sent.extend,
            send=sent.append,
        )
        sockets._by_number[number], sockets._states[number] = (
            cast(LocalClient, page),
            _State(SESSION, keeps_online=keeps_online),
        )
        replica.hub.add(SESSION.member_id, cast(LocalClient, page))
    return sockets, replica


def attached(*, goes_on: bool, shares_online: bool = False) -> AttachResponse:
    response = AttachResponse(
        2, 0, 0, goes_on, server_id="", allowed_origins=(), media_urls=(), media_services=1, refused=()
    )
    return msgspec.structs.replace(response, shares_online=shares_online)


class QuickOwner(SimpleNamespace):
    """A connection to an owner that answers every state request immediately."""

    def __init__(self, *, shares_online: bool) -> None:
        response = attached(goes_on=False, shares_online=shares_online)
        super().__init__(connection=SimpleNamespace(attached=response), session="one")
        self.requested: list[StateRequest] = []

    async def call(self, make: Callable[[int], StateRequest]) -> Any:
        self.requested.append(make(1))
        return self.connection, StateResponse(1, 0, SESSION, b"state")


async def test_a_relay_asks_a_new_owner_for_only_a_few_states_at_a_time() -> None:
    owner, closed = BusyOwner(), list[int]()
    _, replica = relay_with_clients(owner, closed)
    replica.begin(2, 0, 0, [])
    owner.on_attached(attached(goes_on=False), OPENED)
    await turns()
    assert 1 < len(owner.requested) < len(PAGES)
    while owner.answers:
        at_once = len(owner.answers)
        owner.answers.pop(0).set_result(None)
        await turns()
        left = len(PAGES) - len(closed)
        assert len(owner.answers) == min(at_once, left)
    assert owner.requested == closed == [*PAGES]


async def test_clients_waiting_for_their_state_get_no_events_and_get_it_after_a_reconnect() -> None:
    owner, closed = BusyOwner(), list[int]()
    _, replica = relay_with_clients(owner, closed)
    assert len(replica.hub) == len(PAGES)
    replica.begin(2, 0, 0, [])
    assert len(replica.hub) == 0
    owner.on_attached(attached(goes_on=False), OPENED)
    await turns()
    owner.requested.clear()
    owner.answers.clear()
    # The relay lost the link for a moment and attaches again.
    owner.on_attached(attached(goes_on=True), OPENED)
    await turns()
    while owner.answers:
        owner.answers.pop(0).set_result(None)
        await turns()
    assert owner.requested == closed == [*PAGES]


@pytest.mark.parametrize(
    ("is_known", "shares_online", "keeps_online"), [*itertools.product((True, False), repeat=3)]
)
async def test_a_client_keeps_its_online_members_only_if_it_and_its_relay_know_them(
    is_known: bool, shares_online: bool, keeps_online: bool
) -> None:
    """Check that any other client gets the complete state, including the online members."""
    owner, sent = QuickOwner(shares_online=shares_online), list[bytes]()
    _, replica = relay_with_clients(owner, [], sent, keeps_online=keeps_online)
    grace = PresenceRecord("grace", is_online=True, idle=False, do_not_disturb=False)
    replica.online.replace([grace] if is_known else None)
    replica.begin(2, 0, 0, [], [] if shares_online else None)
    owner.on_attached(owner.connection.attached, OPENED)
    await turns()
    keeps = is_known and keeps_online
    assert {request.with_online for request in owner.requested} == {not keeps}
    has_left = frames.push("presence", responses.presence("grace", None))
    assert sent == [b"state", *([has_left] if keeps and shares_online else [])] * len(PAGES)
    assert len(replica.hub) == len(PAGES)
