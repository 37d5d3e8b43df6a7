"""Serves a relay's live sockets. Clients use them like the chat server's, but the owner signs the clients in
and handles their requests.

Along with a client's welcome, the owner sends the number of the last event that the welcome includes, so the
client gets every later event exactly once. After a takeover, each client gets its full state again over the
same socket, and no events before that state. Otherwise, a client that reconnects in between would resume
after the new owner's first event, and never get the earlier events that it missed. The state leaves out the
online members if the client keeps those that it shows. The client then gets the differences as events.
"""

import asyncio
import itertools
import logging
from collections.abc import Sequence

from aiohttp import web
from msgspec import Struct

from svc.chat.access.origins import Origins
from svc.chat.access.tokens import Session
from svc.chat.cluster.owner_proxy import NO_OWNER, OWNER_WITHIN_S
from svc.chat.cluster.relay.link import LinkLost, OwnerLink
from svc.chat.cluster.relay.online_members import MissedPresences
from svc.chat.cluster.relay.replica import RelayReplica
from svc.chat.cluster.relay_protocol import (
    AttachedClient,
    AttachResponse,
    ClientClosed,
    ClientRevocation,
    ErrorResponse,
    EventFrame,
    OriginNotice,
    RelayedRequest,
    RelayedResponse,
    SessionRecord,
    SignInRequest,
    StateRequest,
    StateResponse,
)
from svc.chat.errors import CODES, ChatError
from svc.chat.live import frames
from svc.chat.live.client import LocalClient
from svc.chat.live.frames import CloseCode
from svc.chat.live.sign_in import resumption_in
from svc.chat.live.socket import SocketServer, hello_of

_REACHED_WITHIN_S = 5.0
_PAUSE_S = 0.2
# The maximum number of state requests in progress: enough to keep the owner busy, but not enough to delay
# other requests.
_MAX_STATE_REQUESTS = 16
_IN_DOUBT = "The owner of the community has changed. The change may still be stored; try again in a moment"

logger = logging.getLogger(__name__)


class _State(Struct):
    """A client's state as the owner knows it, except `keeps_online`, which only the relay knows."""

    session: SessionRecord
    in_sight: bool = False
    idle: bool = False
    # Whether a state sent to the client after a takeover may leave out the online members.
    keeps_online: bool = False


class LearnedOrigins(Origins):
    """The origins that the owner node allows."""

    def learn(self, allowed: Sequence[str]) -> None:
        super().__init__(allowed, secure=self._secure)


class RelaySockets(SocketServer):
    def __init__(self, link: OwnerLink, replica: RelayReplica, origins: LearnedOrigins) -> None:
        super().__init__(replica.hub, origins, "")
        self._link, self._replica, self._learned = link, replica, origins
        self._ids = itertools.count(1)
        self._numbers: dict[LocalClient, int] = {}
        self._by_number: dict[int, LocalClient] = {}
        self._states: dict[int, _State] = {}
        # The clients that have missed events and are waiting for their state, keyed by number. A value
        # contains the presences that the client has missed, or is None if the client needs all presences.
        self._stale: dict[int, MissedPresences | None] = {}
        self._state_task: asyncio.Task[None] | None = None
        link.clients, link.on_attached = self._attached_clients, self._attached
        replica.on_begin, replica.on_cut_off = self._withhold_events, self._cut_off

    def __len__(self) -> int:
        return len(self._states)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        # Wait for the link, because the first frame and the allowed origins come from the owner.
        await self._link.wait_connected()
        return await super().serve(request)

    # Methods that handle frames from a client.

    async def _welcome(self, client: LocalClient, request: frames.Request) -> None:
        number = next(self._ids)
        self._numbers[client], self._by_number[number] = number, client
        give_up_at = asyncio.get_running_loop().time() + OWNER_WITHIN_S
        while True:
            try:
                return await self._sign_client_in(client, number, request)
            except (LinkLost, TimeoutError):
                # A sign-in changes nothing, so the next owner can repeat it.
                if asyncio.get_running_loop().time() > give_up_at:
                    raise ChatError("server_stopping", NO_OWNER) from None
                await asyncio.sleep(_PAUSE_S)

    async def _sign_client_in(self, client: LocalClient, number: int, request: frames.Request) -> None:
        seq = resumption_in(request) if request.event == "resume" and "access_token" in request.data else None
        is_resumed = seq is not None and self._hub.covers(seq)

        def sign_in_request(call: int) -> SignInRequest:
            return SignInRequest(call, number, request.event, request.id, request.data, is_resumed)

        async with asyncio.timeout(_REACHED_WITHIN_S * 3):
            connection, reply = await self._link.call(sign_in_request)
            if isinstance(reply, ErrorResponse):
                raise _refusal(reply)
            assert isinstance(reply, StateResponse), "the response to a sign-in"
            await self._replica.wait_applied(reply.number)
        if self._link.connection is not connection:
            raise LinkLost
        session = _unending(reply.session)
        missed = self._hub.missed_frames(session.member_id, seq) if is_resumed and seq is not None else None
        later = self._replica.since(reply.number, session.member_id)
        if later is None or (is_resumed and missed is None):
            raise LinkLost
        client.send_welcome([reply.frame, *(missed or ())])
        for item in later:
            self._send_later(client, number, item, is_kept_sent=is_resumed)
        keeps_online = request.data.get("keeps_online") is True
        self._states[number] = _State(reply.session, keeps_online=keeps_online)
        self._enter(client, session)

    def _send_later(
        self, client: LocalClient, number: int, item: EventFrame | ClientRevocation, *, is_kept_sent: bool
    ) -> None:
        if isinstance(item, ClientRevocation):
            if (item.relay, item.page) == (self._link.session, number):
                client.cut_off(item.code, item.reason)
        elif item.seq is None or not is_kept_sent:
            client.send(item.frame)

    async def _answer(self, client: LocalClient, request: frames.Request | ChatError) -> bytes:
        if isinstance(request, ChatError):
            return frames.error(request, None)
        if request.event == "ping":
            return frames.reply(request.event, request.id, {})
        number = self._numbers[client]

        def relayed_request(call: int) -> RelayedRequest:
            return RelayedRequest(call, number, request.event, request.id, request.data)

        try:
            _, reply = await self._link.call(relayed_request)
        except ChatError as fault:
            return frames.error(fault, request.id)
        except LinkLost:
            return frames.error(ChatError("storage_unavailable", _IN_DOUBT), request.id)
        if not isinstance(reply, RelayedResponse):
            return frames.error(ChatError("internal_error"), request.id)
        state = self._states[number]
        state.session, state.in_sight, state.idle = reply.session, reply.in_sight, reply.idle
        return reply.frame

    def _left(self, client: LocalClient) -> None:
        number = self._numbers.pop(client, None)
        if number is not None:
            del self._by_number[number]
            self._states.pop(number, None)
            self._stale.pop(number, None)
            self._link.notify(ClientClosed(number))

    async def opened(self, origin: str | None) -> None:
        self._link.notify(OriginNotice(origin))

    # Methods that handle messages from the owner.

    def _attached_clients(self) -> list[AttachedClient]:
        return [
            AttachedClient(number, state.session, state.in_sight, state.idle)
            for number, state in self._states.items()
        ]

    def _withhold_events(self) -> None:
        """Stop sending events to the clients until they get their state, because they have missed events."""
        missed = self._replica.online.track_missed()
        for number, state in self._states.items():
            # A client that is already waiting has missed more events.
            self._stale.setdefault(number, missed if state.keeps_online else None)
            client = self._by_number[number]
            assert client.session is not None, "a client has a state after its sign-in"
            self._hub.remove(client.session.member_id, client)

    def _attached(self, attached: AttachResponse, clients: Sequence[AttachedClient]) -> None:
        self._hello = hello_of(attached.server_id)
        self._learned.learn(attached.allowed_origins)
        for opened in clients:
            if opened.page not in self._states:
                self._link.notify(ClientClosed(opened.page))
        for number in attached.refused:
            if (client := self._by_number.get(number)) is not None:
                client.cut_off(CloseCode.TOKEN_EXPIRED, "Sign in again")
        if self._state_task is not None:
            self._state_task.cancel()
            self._state_task = None
        # If the link was lost while states were being sent, some clients are still waiting for theirs.
        if numbers := sorted(self._stale.keys() - attached.refused):
            self._state_task = asyncio.create_task(self._send_states(numbers))

    async def _send_states(self, numbers: Sequence[int]) -> None:
        """Send each client its state, to a few clients at a time."""
        waiting = iter(numbers)

        async def send_one_by_one() -> None:
            for number in waiting:
                await self._send_state(number)

        await asyncio.gather(*(send_one_by_one() for _ in range(_MAX_STATE_REQUESTS)))

    async def _send_state(self, number: int) -> None:
        if (client := self._by_number.get(number)) is None:
            return
        missed = self._stale.get(number)
        try:
            reply, later, shares_online = await self._state_of(number, with_online=missed is None)
        except (LinkLost, TimeoutError, ChatError):
            client.cut_off(CloseCode.GOING_AWAY, "The server has changed")
            return
        if number not in self._stale:  # The client has disconnected.
            return
        client.send_welcome([reply.frame])
        for item in later:
            self._send_later(client, number, item, is_kept_sent=False)
        if shares_online and missed is not None and (changes := missed.frames_for(reply.session.member_id)):
            client.send(changes)
        del self._stale[number]
        self._hub.add(reply.session.member_id, client)

    async def _state_of(
        self, number: int, *, with_online: bool
    ) -> tuple[StateResponse, list[EventFrame | ClientRevocation], bool]:
        """Return a client's state, the later events, and whether the owner shares the online members. Raises
        LinkLost, TimeoutError or ChatError.
        """
        connection, reply = await self._link.call(lambda call: StateRequest(call, number, with_online))
        assert isinstance(reply, StateResponse), "the response to a state request"
        async with asyncio.timeout(_REACHED_WITHIN_S):
            await self._replica.wait_applied(reply.number)
        later = self._replica.since(reply.number, reply.session.member_id)
        if later is None or self._link.connection is not connection:
            raise LinkLost
        return reply, later, connection.attached.shares_online

    def _cut_off(self, item: ClientRevocation) -> None:
        if item.relay == self._link.session and (client := self._by_number.get(item.page)) is not None:
            client.cut_off(item.code, item.reason)
            if client.session is not None:
                self._hub.remove(client.session.member_id, client)


def _unending(record: SessionRecord) -> Session:
    """Return a session that never expires on this relay, because the owner enforces the expiry."""
    return Session(record.member_id, record.session_id, record.expires_at, record.epoch, lasting=True)


def _refusal(reply: ErrorResponse) -> ChatError:
    # A newer owner may send codes that this relay does not recognise.
    code = reply.code if reply.code in CODES else "internal_error"
    return ChatError(code, reply.message, reply.more)
