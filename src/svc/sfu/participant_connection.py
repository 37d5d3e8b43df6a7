"""Serves a participant's /client connection from the first message to the last.

The first message must be `client_join`, or `client_resume` for a session that has recently lost its
connection. A rejected client gets the reason in a `room_error` before the connection closes. All messages
after the first go to the session, which negotiates. See docs/signalling.md.
"""

import asyncio
import logging
from math import ceil, inf

from svc.base.signalling_codec import MAX_FRAME_BYTES, Envelope, EnvelopeError, Payload, read
from svc.base.token_bucket import TokenBucket
from svc.sfu.admission import JoinRefused
from svc.sfu.client_events import ClientJoin, ClientResume
from svc.sfu.close_codes import CloseCode
from svc.sfu.resumption import ResumeRefused, Ticket
from svc.sfu.rooms import NoSeats
from svc.sfu.session import Session
from svc.sfu.sfu import Sfu
from svc.sfu.signalling_connection import Connection

JOIN_DEADLINE_S = 10.0
EXPECTED_JOIN = "Expected client_join event"
_FIRST_EVENTS = (ClientJoin.event, ClientResume.event)

# A joining browser sends about 40 messages within a second, most of them candidates.
_BURST = 200
_PER_S = 20

# Distant deadlines, such as the consent check every 5 s, may be missed by this much, so that sessions wake
# together. If each session woke alone, the processor's cache would be cold, and the check would be four times
# as expensive. `consent` allows for the delay.
_GRID_S = 1.0
# The maximum length of the first message. A client_join contains only five ids and secrets, and its sender is
# not yet authenticated.
MAX_JOIN_CHARACTERS = 8 * 1024

logger = logging.getLogger(__name__)


def participant_pace() -> TokenBucket:
    """Return a token bucket that limits the pace at which one participant's messages are read."""
    return TokenBucket(_BURST, _PER_S)


class ParticipantConnection:
    """The session's Client, connected by a WebSocket."""

    def __init__(self, connection: Connection, sfu: Sfu) -> None:
        self._connection = connection
        self._sfu = sfu
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._session: Session | None = None
        self._ticket: Ticket | None = None  # The session's ticket, if the client can resume the session.

    async def talk(self) -> None:
        session = await self._begin()
        if session is None:
            return
        try:
            await self._listen(session)
        finally:
            self._ended(session)

    def _ended(self, session: Session) -> None:
        """Detach the session if this connection broke, so that another connection can resume it. Otherwise
        end the session.
        """
        if not session.is_with(self):
            return
        broke = not self._connection.closed_cleanly
        if self._ticket and broke and not self._connection.closing:
            logger.debug("peer away", extra=session.log_fields)
            session.detach()
        else:
            session.close(lost=broke)

    def push(self, payload: Payload) -> None:
        self._connection.push(payload)

    def send_error(self, reason: str) -> None:
        self._connection.send_error(reason)

    def close(self, code: CloseCode, reason: str) -> None:
        self._connection.close(code, reason)
        if self._ticket:
            self._sfu.resumptions.end(self._ticket, code, reason)
        if self._session:
            logger.debug("peer left", extra=self._session.log_fields)
            self._sfu.sessions.discard(self._session)
            self._rest()

    def superseded(self) -> None:
        """Hand the session over to a newer connection from the same client."""
        self._connection.close(CloseCode.REPLACED, "Resumed over another connection")
        self._rest()

    def _rest(self) -> None:
        self._session = self._ticket = None
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def wake_at(self, deadline: float) -> None:
        """Schedule the session's next `advance` for about the given time. Advancing a session too early is
        harmless.
        """
        if self._timer and self._timer.when() <= deadline:
            return
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if deadline < inf:
            if deadline - self._loop.time() > _GRID_S:
                deadline = ceil(deadline / _GRID_S) * _GRID_S
            self._timer = self._loop.call_at(deadline, self._wake)

    def _wake(self) -> None:
        self._timer = None
        if self._session:
            self._session.advance()

    async def _begin(self) -> Session | None:
        """Return the session that the first message requests, or None while the connection is closing."""
        envelope = await self._first_message()
        if envelope is None:
            self.close(CloseCode.POLICY, EXPECTED_JOIN)
            return None
        try:
            return self._join(envelope) if envelope.event == ClientJoin.event else self._resume(envelope)
        except (EnvelopeError, JoinRefused, NoSeats, ResumeRefused) as refusal:
            self._sfu.tally["refused_joins"] += 1
            self.send_error(str(refusal))
            code = refusal.code if isinstance(refusal, ResumeRefused) else CloseCode.REFUSED
            self.close(code, str(refusal))
            return None

    def _join(self, envelope: Envelope) -> Session:
        request = read(envelope, ClientJoin)
        session = self._session = self._sfu.seat(self, request)
        owner = f"{request.server_id}/{request.user_id}"
        self._connection.on_proof(owner)
        logger.debug("peer joined", extra=session.log_fields)
        session.open()
        if request.bandwidth is True:
            session.report_bandwidth()
        if request.resumable is True and not session.closed:
            self._ticket = Ticket(session, owner)
            self.push(self._sfu.resumptions.renew(self._ticket))
        return session

    def _resume(self, envelope: Envelope) -> Session:
        ticket = self._sfu.resumptions.find(read(envelope, ClientResume).credential)
        self._ticket, self._session = ticket, ticket.session
        self._connection.on_proof(ticket.owner)
        logger.debug("peer resumed", extra=ticket.session.log_fields)
        ticket.session.resume(self)
        if not ticket.session.closed:
            self.push(self._sfu.resumptions.renew(ticket))
        return ticket.session

    async def _first_message(self) -> Envelope | None:
        self._connection.most_characters = MAX_JOIN_CHARACTERS
        try:
            async with asyncio.timeout(JOIN_DEADLINE_S):
                envelope = await self._connection.receive()
        except (TimeoutError, EnvelopeError):
            return None
        self._connection.most_characters = MAX_FRAME_BYTES
        return envelope if envelope and envelope.event in _FIRST_EVENTS else None

    async def _listen(self, session: Session) -> None:
        while not session.closed:
            try:
                envelope = await self._connection.receive()
            except EnvelopeError as error:
                self._sfu.tally["refused_messages"] += 1
                self.send_error(str(error))
                continue
            if envelope is None:
                return
            logger.debug("message received", extra={"event": envelope.event[:64], **session.log_fields})
            if self._ticket and envelope.event == "answer":
                self._sfu.resumptions.confirm(self._ticket)
            session.receive(envelope)
            # Free the envelope now, because an answer uses 10 KB.
            del envelope
