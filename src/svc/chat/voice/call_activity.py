"""Tracks raised hands, reactions, shared cameras and screens, and speakers in calls.

`CallActivity` does not use the media service. It orders hands by the time they were raised. All state is in
memory, and is dropped when the member leaves. A camera or screen counts as shared when the sender's client
reports it. A reaction is passed on to the participants and not stored.

`Speakers` reports who is speaking to members who are watching a room. A member watches a room if they have a
visible client, may view the channel and are not in the call. The media service sends these updates at most
twice a second, and only for watched rooms. In the call itself, it reports speakers directly.
"""

import asyncio
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, NoReturn

from msgspec import Meta

from svc.base.emoji import reaction_form
from svc.base.server_events import SpeakersWanted
from svc.base.token_bucket import TokenBuckets
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import Hub, Recipients
from svc.chat.services import Services
from svc.chat.voice.enforcement import Rooms, Seat
from svc.chat.voice.occupancy import Occupancy, differences
from svc.chat.voice.responses import VoiceReacted, VoiceSpeaking, VoiceUpdated
from svc.chat.voice.sfu_pool import SfuLinks

# The rate limit for reactions. Repeated clicks for applause are allowed, but a button that is held down is
# throttled.
REACTION_BURST = 8
REACTIONS_PER_S = 1.5
# The number of members whose rate is stored. It exceeds the size of any call. A forgotten member can send a
# full burst again.
_MAX_PEOPLE = 10_000
DOWN = 0


@dataclass(frozen=True, slots=True)
class Hand:
    """The position of a raised hand, lower if raised earlier. 0 means that the hand is not raised."""

    hand: Annotated[int, Meta(ge=DOWN)] = DOWN


@dataclass(frozen=True, slots=True)
class SentMedia:
    camera: bool = False
    screen: bool = False


class CallActivity:
    def __init__(self, hub: Hub, rooms: Rooms, occupancy: Occupancy) -> None:
        self._hub = hub
        self._occupancy = occupancy
        self._rooms = rooms
        self._hands: dict[Seat, Hand] = {}
        self._sent: dict[Seat, SentMedia] = {}
        self._order = itertools.count(DOWN + 1)
        self._buckets = TokenBuckets(REACTION_BURST, REACTIONS_PER_S, _MAX_PEOPLE)

    def hand(self, room_id: str, user_id: str) -> Hand:
        return self._hands.get((room_id, user_id), Hand())

    def sent_media(self, room_id: str, user_id: str) -> SentMedia:
        return self._sent.get((room_id, user_id), SentMedia())

    def send(self, member_id: str, channel_id: str, now: SentMedia) -> SentMedia:
        """Store whether a member is sharing a camera or screen. Push the change to everyone who can see the
        call.
        """
        self._require_there(member_id, channel_id, Permission.JOIN_VOICE)
        before = self.sent_media(channel_id, member_id)
        self._sent[channel_id, member_id] = now
        if new := differences(asdict(before), asdict(now)):
            self._push_update(member_id, channel_id, new)
        return now

    def raise_hand(self, member_id: str, channel_id: str, raised: bool) -> Hand:
        """Raise or lower a member's own hand. A raised hand keeps its position."""
        self._require_there(member_id, channel_id, Permission.JOIN_VOICE)
        seat = (channel_id, member_id)
        if raised == (seat in self._hands):
            return self.hand(*seat)
        if raised:
            self._hands[seat] = Hand(next(self._order))
        else:
            del self._hands[seat]
        now = self.hand(*seat)
        self._push_update(member_id, channel_id, asdict(now))
        return now

    def lower_hand(self, actor_id: str, member_id: str, channel_id: str) -> None:
        """Lower a member's hand on behalf of a moderator.

        Since the member can raise the hand again, the moderator need not have a higher rank, and nothing is
        written to the audit log.
        """
        self._rooms.require(actor_id, Permission.MUTE_MEMBERS, channel_id)
        if member_id not in self._occupancy.users(channel_id):
            raise ChatError("not_in_voice")
        if self._hands.pop((channel_id, member_id), None) is not None:
            self._push_update(member_id, channel_id, asdict(Hand()))

    def react(self, member_id: str, channel_id: str, emoji: str) -> None:
        """Push an emoji to everyone in the call. Raises ChatError."""
        self._require_there(member_id, channel_id, Permission.ADD_REACTIONS)
        if (shown := reaction_form(emoji)) is None:
            raise ChatError("invalid_emoji")
        if wait_s := self._buckets.of(member_id).take_if_left(time.monotonic()):
            raise ChatError("rate_limited", more={"retry_after_ms": int(wait_s * 1000) + 1})
        reaction = VoiceReacted(channel_id, member_id, shown)
        self._hub.push(
            "voice_reacted", reaction, Recipients(frozenset(self._occupancy.users(channel_id))), kept=False
        )

    def _push_update(self, member_id: str, channel_id: str, new: Mapping[str, Any]) -> None:
        update = VoiceUpdated(channel_id, member_id, **new)
        self._hub.push("voice_updated", update, self._rooms.audience(channel_id))

    def _require_there(self, member_id: str, channel_id: str, permission: Permission) -> None:
        self._rooms.require(member_id, permission, channel_id)
        if member_id not in self._occupancy.users(channel_id):
            raise ChatError("not_in_voice", "You are not in this call")

    def left(self, room_id: str, user_id: str, lost: bool) -> None:
        """Drop the raised hand and the media state of a member who has left, even if they may return."""
        self._hands.pop((room_id, user_id), None)
        self._sent.pop((room_id, user_id), None)


# The interval between checks for members who start or stop watching.
LOOK_INTERVAL_S = 1.0
_NOBODY: frozenset[str] = frozenset()


class Speakers:
    def __init__(self, services: Services, occupancy: Occupancy, link: SfuLinks) -> None:
        self._hub, self._directory = services.hub, services.directory
        self._occupancy = occupancy
        self._link = link
        # For each room whose speakers were requested: the watching members, and the speakers once they are
        # known.
        self._lookers: dict[str, frozenset[str]] = {}
        self._speakers: dict[str, Sequence[str]] = {}
        # Set while any call has participants.
        self._occupied = asyncio.Event()
        occupancy.on_joined.append(lambda *_: self._occupied.set())
        occupancy.on_speaking.append(self.on_speaking)
        occupancy.on_synchronised.append(self._synchronised)

    async def run(self) -> NoReturn:
        while True:
            await self._occupied.wait()
            await asyncio.sleep(LOOK_INTERVAL_S)
            self.refresh()
            if not self._occupancy.all_participants():
                self._occupied.clear()

    def refresh(self) -> None:
        """Request the speakers of watched rooms, and push known speakers to members who have started
        watching.
        """
        rooms = {room_id for room_id, _ in self._occupancy.all_participants()}
        for room_id in rooms | self._lookers.keys():
            lookers = self._attentive_viewers(room_id) if room_id in rooms else _NOBODY
            before = self._lookers.get(room_id, _NOBODY)
            if lookers:
                self._lookers[room_id] = lookers
            else:
                self._forget(room_id)
            if bool(lookers) != bool(before):
                self._link.send(SpeakersWanted, room_id, wanted=bool(lookers))
            elif room_id in self._speakers:
                self._push(room_id, lookers - before)

    def on_speaking(self, room_id: str, user_ids: Sequence[str]) -> None:
        """Push the speakers reported by the media service."""
        if room_id in self._lookers:
            self._speakers[room_id] = user_ids
            # A member may have lost the permission since the last check.
            self._push(room_id, self._lookers[room_id] & self._directory.viewers(room_id))

    def _attentive_viewers(self, room_id: str) -> frozenset[str]:
        return self._hub.attentive_viewers(room_id).difference(self._occupancy.users(room_id))

    def _push(self, room_id: str, to: frozenset[str]) -> None:
        if to:
            speaking = VoiceSpeaking(room_id, self._speakers[room_id])
            self._hub.push("voice_speaking", speaking, Recipients(to), kept=False)

    def _forget(self, room_id: str) -> None:
        self._lookers.pop(room_id, None)
        self._speakers.pop(room_id, None)

    def _synchronised(self) -> None:
        """Forget all requests, because a new media service may not have received them."""
        self._lookers.clear()
        self._speakers.clear()
