"""Negotiates with one participant: sends offers, reads answers and applies them.

Theory of operation. The SFU is always the offerer, and only one offer is pending at a time. Changes in the
meantime (tracks that start and end, caps, a request to renegotiate or to restart ICE) are not queued. They
only mark another offer as due. An offer describes the state at the time it is written, so simultaneous
changes need only one offer, and no change is lost.

A session may outlive its connection (`detach`): media continues, nothing is offered, and within 30 s another
connection may resume it (`resume`). A new offer then informs the client of everything that has happened in
the meantime.

An answer that does not fit its offer is rejected with a `room_error`, and the session keeps waiting for a
valid answer. An internal error ends this session (1011), never the process: each entry point is guarded.

Depends only on `media_protocols` and the `Client` protocol. Has neither a socket nor a timer: a session calls
the client's `wake_at` to request the next call of `advance`.

See docs/signalling.md; RFC 8829 (JSEP).
"""

import logging
from contextlib import ExitStack
from functools import partial
from math import inf

from svc.base.server_events import KeepAlive
from svc.base.signalling_codec import Envelope, EnvelopeError, Payload
from svc.base.token_bucket import TokenBucket
from svc.sfu import client_events as events
from svc.sfu.admission import Admission
from svc.sfu.answer import read_answer
from svc.sfu.candidates import Candidate, CandidateError
from svc.sfu.client import Client
from svc.sfu.close_codes import CloseCode
from svc.sfu.connectivity import (
    Connectivity,
    ConnectivityContext,
    MediaClosed,
    MediaFailed,
    PathFound,
    PathLost,
    PathMoved,
    PathSilent,
    Secured,
)
from svc.sfu.event_handlers import EventHandlers, handles
from svc.sfu.layer_control import LayerControl
from svc.sfu.layer_rates import MeasuredRates
from svc.sfu.media_protocols import MediaPlane
from svc.sfu.network_path import BindingCheck, Path
from svc.sfu.offer import Transceiver, build_offer, set_redundancy
from svc.sfu.publications import MICROPHONE, SOURCES, Publications
from svc.sfu.random_ids import new_id, new_ssrc, session_number
from svc.sfu.rooms import AudioControl, Rooms, Track
from svc.sfu.sdp import SdpError
from svc.sfu.session_guard import entry
from svc.sfu.session_states import TRANSITIONS, Event, State
from svc.sfu.subscriptions import Subscriptions

ANSWER_DEADLINE_S = 15.0
# The maximum time from an answer to encrypted media, and from a report of a silent path to the next path.
# When silence is reported, it has already lasted for 2.3 to 3.5 s.
MEDIA_DEADLINE_S = 15.0
SILENCE_DEADLINE_S = 11.0
# A client that closes its media connection either leaves or reconnects. The close code of its WebSocket shows
# which, but the WebSocket may close a little later.
GOODBYE_DEADLINE_S = 1.0
# A chat server that is killed or updated reconnects within 3 s, or within half a minute if its machine
# restarts.
RESUME_WITHIN_S = 30.0
# Each ICE generation can send 100 checks to addresses that the client chose, so restarts are limited. A phone
# that changes networks needs one or two.
RESTART_INTERVAL_S = 10.0
RESTART_BURST = 3

logger = logging.getLogger(__name__)

_AWAITING_ANSWER = (State.OFFERED, State.OUTDATED)


class Session(EventHandlers):
    """A participant's session, described in the module docstring.

    Implements the room's Member and the core's listener.
    """

    def __init__(
        self,
        client: Client,
        admission: Admission,
        user_id: str,
        *,
        rooms: Rooms,
        plane: MediaPlane,
        context: ConnectivityContext,
    ) -> None:
        """Take a seat in the room. `open` starts the negotiation. Raises NoSeats."""
        self._client = client
        self._rooms = rooms
        self._context = context
        self._tally, self._clock = context.tally, context.clock
        self._state = State.STABLE
        self._session_id = session_number(context.chance)
        self._version = 0
        self._offered: list[Transceiver] = []
        self._redundancy = admission.redundancy
        self._answer_due = self._restart_due = self._media_due = self._goodbye_due = inf
        self._away_until = inf  # Finite only while the client has no connection.
        self._path_reported_lost = False
        self._restarts = TokenBucket(RESTART_BURST, 1 / RESTART_INTERVAL_S)
        self._peer = rooms.join(admission.room, user_id, admission.caps, self, self._clock())
        self.log_fields = {"room": admission.room.room_id, "user": user_id}
        try:
            self._transport = plane.open_transport(self)
            self._connectivity = Connectivity(self._transport, context)
            self._publications = Publications(
                self._transport,
                self._peer,
                new_id=partial(new_id, context.chance),
                push=self._push,
                simulcast=admission.simulcast,
            )
            self._subscriptions = Subscriptions(
                self._transport,
                self._peer,
                new_ssrc=partial(new_ssrc, context.chance),
                unavailable=self._report_unavailable,
                available=lambda track: self._client.push(events.TrackAvailable(track.track_id)),
            )
            self._layers = LayerControl(self._transport, self._subscriptions, self._push)
        except BaseException:
            rooms.leave(self._peer, self._clock())
            raise

    @property
    def closed(self) -> bool:
        return self._state is State.CLOSED

    @property
    def away(self) -> bool:
        """Whether the client is disconnected."""
        return self._away_until < inf

    @entry
    def open(self) -> None:
        """Send the welcome to the client, and offer it all tracks of the room."""
        room = self._peer.room
        self._client.push(events.RoomJoined(*self._place()))
        self._transport.set_deafened(self._peer.audio_control.is_deafened)
        for track in room.tracks.values():
            self._subscriptions.add(track)
        if room.speakers:
            self._push_speakers(room.active_speakers())
        self._transition(Event.CHANGED)

    @entry
    def report_bandwidth(self) -> None:
        """Start reporting the downlink's bandwidth to the client and probe for more."""
        self._layers.start(self._bandwidth_estimated, self._clock())

    def fail(self) -> None:
        self._end(CloseCode.FAULT, "Internal error")

    def is_with(self, client: Client) -> bool:
        """Return whether `client` is the session's current connection or, if the session has none, its last
        connection.
        """
        return self._client is client

    @entry
    def detach(self) -> None:
        """Wait up to 30 s for another connection to resume the session. Close the session if media is not
        connected.
        """
        if not self._connectivity.connected:
            self.close(lost=True)
            return
        self._answer_due = inf
        self._away_until = self._clock() + RESUME_WITHIN_S

    @entry
    def resume(self, client: Client) -> None:
        """Continue over another connection of the same client and send it the current state."""
        earlier, self._client = self._client, client
        earlier.superseded()
        self._away_until = inf
        client.push(events.SessionResumed(*self._place()))
        self._push_speakers(self._peer.room.active_speakers())
        client.push(events.PathLost() if self._path_reported_lost else events.PathBack())
        self._subscriptions.report_unavailable()
        self._publications.demand.repeat()
        self._layers.repeat(self._clock())
        self._transition(Event.RESUMED)

    def _place(self) -> tuple[str, str, list[str]]:
        """Return the ids of the room, the user, and the room's other users."""
        peers = [peer.user_id for peer in self._peer.others()]
        return self._peer.room.room_id, self._peer.user_id, peers

    def close(self, *, lost: bool = False) -> None:
        """Leave the room and release all resources."""
        self._end(CloseCode.GOING_AWAY, "", lost=lost)

    # Client events.

    @entry
    def receive(self, envelope: Envelope) -> None:
        """Handle an event from the client. Reply to an unusable event with a room_error."""
        try:
            if envelope.event in (events.ClientJoin.event, events.ClientResume.event):
                raise EnvelopeError("This connection has joined already")
            self.handle(envelope)
        except (EnvelopeError, SdpError, CandidateError) as refusal:
            self._tally["refused_messages"] += 1
            self._client.send_error(str(refusal))

    @handles
    def _receive_answer(self, answer: events.Answer) -> None:
        if self._state not in _AWAITING_ANSWER:
            raise EnvelopeError("No offer is waiting for an answer")
        terms = read_answer(answer.sdp, self._offered)
        self._connectivity.check(terms)
        self._transition(Event.ANSWERED)
        self._answer_due = inf
        self._connectivity.apply(terms, self._clock())
        self._expect_media(MEDIA_DEADLINE_S)
        for offered, section in zip(self._offered, terms.sections, strict=True):
            if int(offered.mid) < len(SOURCES):
                self._publications.answered(section)
            else:
                self._subscriptions.answered(offered, section, mixed=terms.mixed)
                if section.kind == "video" and offered.direction == "sendonly":
                    self._peer.can_show(section.payload_types)
        self._layers.changed(self._clock())
        if self._subscriptions.place_waiting() or self._publications.not_shown_by_all():
            self._transition(Event.CHANGED)

    @handles
    def _receive_candidate(self, init: events.IceCandidate) -> None:
        if init.candidate:
            ufrag = init.usernameFragment
            ufrag = ufrag if isinstance(ufrag, str) else None
            self._connectivity.add_candidate(init.candidate, ufrag, self._clock())

    @handles
    def _receive_renegotiate(self, request: events.Renegotiate) -> None:
        if request.ice_restart is True:
            self._request_restart()
        self._transition(Event.CHANGED)

    @handles
    def _receive_set_layer(self, request: events.SetLayer) -> None:
        if not self._subscriptions.set_layer(request.key, request):
            raise EnvelopeError(f"You receive no track {request.key[:64]!r}")
        self._layers.changed(self._clock())

    @handles
    def _receive_keep_alive(self, request: KeepAlive) -> None:
        """Reply to a timestamped keep-alive with the same timestamp."""
        if isinstance(request.timestamp, int | float):
            self._client.push(request)

    # Room events.

    @entry
    def track_published(self, track: Track) -> None:
        self._subscriptions.add(track)
        self._transition(Event.CHANGED)

    @entry
    def track_ended(self, track: Track) -> None:
        self._subscriptions.remove(track)
        self._transition(Event.CHANGED)

    @entry
    def track_changed(self, track: Track) -> None:
        self._subscriptions.change(track)

    @entry
    def demand_changed(self, track: Track) -> None:
        self._publications.demand.changed(track, self._clock())

    @entry
    def codecs_changed(self) -> None:
        if self._publications.not_shown_by_all():
            self._transition(Event.CHANGED)

    @entry
    def speakers_changed(self, user_ids: list[str]) -> None:
        self._push_speakers(user_ids)

    @entry
    def audio_controlled(self, control: AudioControl) -> None:
        self._publications.control(control)
        self._transport.set_deafened(control.is_deafened)

    @entry
    def caps_changed(self, caps: frozenset[str]) -> None:
        if caps == self._peer.caps:
            return
        self._peer.caps = caps
        self._publications.enforce_caps()
        self._transition(Event.CHANGED)

    @entry
    def dismissed(self, code: CloseCode, reason: str) -> None:
        self._end(code, reason)

    # Core events.

    @entry
    def check_received(self, check: BindingCheck) -> None:
        self._connectivity.check_received(check, self._clock())

    @entry
    def stun_received(self, data: bytes, path: Path) -> None:
        self._connectivity.stun_received(data, path, self._clock())

    @entry
    def path_silent(self, silent: bool) -> None:
        self._connectivity.path_silent(silent, self._clock())

    @entry
    def dtls_received(self, data: bytes) -> None:
        self._connectivity.dtls_received(data, self._clock())

    @entry
    def track_started(self, mid: str, ssrc: int, payload_type: int) -> None:
        self._publications.started(mid, payload_type)

    @entry
    def speaking_changed(self, mid: str, speaking: bool, level: int) -> None:
        # Only the microphone counts, because music from a shared screen is not speech.
        if mid == MICROPHONE.mid:
            self._peer.room.speaking_changed(self._peer.user_id, speaking, level)

    @entry
    def encoding_forwarded(self, down_track_id: int, layer: int) -> None:
        self._subscriptions.encoding_forwarded(down_track_id, layer)
        self._layers.changed(self._clock())

    @entry
    def rates_measured(self, mid: str, rates: MeasuredRates) -> None:
        self._publications.rates_measured(mid, rates, self._clock())

    @entry
    def _bandwidth_estimated(self, estimate_bps: int, reason: str, repeated_bytes: int) -> None:
        self._layers.estimated(estimate_bps, reason, repeated_bytes, self._clock())

    # Clock and network events.

    @entry
    def candidate_found(self, candidate: Candidate) -> None:
        """Send the client one of our candidates that was not yet known when the offer was written."""
        if not self._version:
            return
        ufrag = self._connectivity.local.ufrag
        self._client.push(events.IceCandidate(str(candidate), SOURCES[0].mid, 0, ufrag))

    @entry
    def advance(self) -> None:
        now = self._clock()
        if self._state in _AWAITING_ANSWER and now >= self._answer_due:
            self._end(CloseCode.NO_ANSWER, f"No answer to the offer within {ANSWER_DEADLINE_S:.0f} s")
            return
        if now >= self._media_due:
            self._end(CloseCode.MEDIA_FAILED, f"No media connection within {MEDIA_DEADLINE_S:.0f} s")
            return
        if now >= self._goodbye_due:
            self._end(CloseCode.MEDIA_FAILED, "The client closed its media")
            return
        if now >= self._away_until:
            self._end(CloseCode.SILENT, f"Signalling was away for {RESUME_WITHIN_S:.0f} s")
            return
        self._connectivity.advance(now)
        self._publications.demand.advance(now)
        self._layers.advance(now)
        if self.away:
            return
        if self._state is State.STABLE and now >= self._restart_due:
            self._transition(Event.CHANGED)
        if self._state is State.DUE:
            self._offer(now)

    def settle(self) -> None:
        """Process the outcomes of the last step, and schedule the next one."""
        outcomes, self._connectivity.outcomes = self._connectivity.outcomes, []
        for outcome in outcomes:
            match outcome:
                case PathSilent() | PathLost() if self.away:
                    self._end(CloseCode.MEDIA_FAILED, "Neither media nor signalling has a path")
                case PathSilent() | PathLost():
                    self._report_path(lost=True)
                    self._expect_media(SILENCE_DEADLINE_S)
                    self._request_restart()
                case PathFound():
                    self._report_path(lost=False)
                case PathMoved():
                    self._request_restart()
                case Secured():
                    logger.debug("media secured", extra=self.log_fields)
                case MediaClosed():
                    self._goodbye_due = min(self._goodbye_due, self._clock() + GOODBYE_DEADLINE_S)
                case MediaFailed(reason):
                    self._tally["handshake_failures"] += 1
                    self._end(CloseCode.MEDIA_FAILED, reason)
        if self._connectivity.connected:
            self._media_due = inf
        if not self.closed:
            self._client.wake_at(self._next_deadline())

    def _next_deadline(self) -> float:
        media_due = self._connectivity.next_deadline()
        if self.away:
            due = self._away_until
        elif self._state is State.DUE:
            due = self._clock()
        else:
            due = self._restart_due if self._state is State.STABLE else self._answer_due
        reports_due = min(self._publications.demand.next_deadline(), self._layers.next_deadline())
        return min(due, self._media_due, self._goodbye_due, reports_due, media_due)

    def _transition(self, event: Event) -> None:
        self._state = TRANSITIONS.after(self._state, event)

    def _expect_media(self, within_s: float) -> None:
        if not self._connectivity.connected:
            self._media_due = min(self._media_due, self._clock() + within_s)

    def _report_path(self, *, lost: bool) -> None:
        """Report a lost or regained path to the client. A client that has nothing to send may not notice by
        itself.
        """
        if lost is not self._path_reported_lost:
            self._path_reported_lost = lost
            self._client.push(events.PathLost() if lost else events.PathBack())

    def _request_restart(self) -> None:
        """Restart ICE with the next offer that may include a restart."""
        if self._restart_due == inf:
            now = self._clock()
            self._restart_due = now + self._restarts.take(now)

    def _offer(self, now: float) -> None:
        if now >= self._restart_due:
            self._restart_due = inf
            self._connectivity.restart(now)
        self._version += 1
        self._offered = [*self._publications.transceivers(), *self._subscriptions.transceivers()]
        set_redundancy(self._offered, self._redundancy)
        sdp = build_offer(
            session_id=self._session_id,
            version=self._version,
            ice=self._connectivity.local,
            fingerprint=self._context.certificate.fingerprint,
            candidates=[str(candidate) for candidate in self._connectivity.candidates],
            transceivers=self._offered,
        )
        self._client.push(events.Offer(sdp, self._subscriptions.tracks()))
        self._transition(Event.SENT)
        self._answer_due = now + ANSWER_DEADLINE_S

    def _end(self, code: CloseCode, reason: str, *, lost: bool = True) -> None:
        if self.closed:
            return
        self._transition(Event.ENDED)
        # The callback added last runs first. Each callback runs even if others fail.
        with ExitStack() as steps:
            steps.callback(self._client.close, code, reason)
            steps.callback(self._connectivity.close)
            steps.callback(self._publications.close)
            steps.callback(self._subscriptions.close)
            steps.callback(self._rooms.leave, self._peer, self._clock(), lost=lost)

    def _push(self, payload: Payload) -> None:
        """Send an event to the client, unless the client is away. Such events are sent again after a
        resumption.
        """
        if not self.away:
            self._client.push(payload)

    def _push_speakers(self, user_ids: list[str]) -> None:
        self._client.push(events.ActiveSpeakers(user_ids))

    def _report_unavailable(self, track: Track, reason: str) -> None:
        self._tally["refused_tracks"] += 1
        self._client.push(events.TrackUnavailable(track.track_id, track.user_id, track.source, reason))
