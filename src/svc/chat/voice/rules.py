"""The way into a voice room, and telling everybody who is there. No HTTP.

The media service decides who really is in a room; this only grants and reports.
Spec: media document sections 5 and 6; the grant is described in `svc.base.grants`.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from svc.base.grants import CAPS, client_credential, issue_user_token
from svc.chat.access.tokens import Member
from svc.chat.errors import ChatError
from svc.chat.voice.channels import VoiceChannel
from svc.chat.voice.occupancy import Occupancy

# Long enough for a slow phone to connect; well under the five minutes allowed, so
# that the clocks of two machines may differ by minutes.
GRANT_LIFETIME_S = 120
# Names of people who may still be in a call though their page is gone.
MAX_REMEMBERED_NAMES = 10_000


class MediaLink(Protocol):
    """The control connection to the media service."""

    async def confirm_room(self, room_id: str) -> None:
        """Return once the media service is known to have the room; ChatError otherwise."""


@dataclass(frozen=True, slots=True)
class MediaAccess:
    """How members reach the media service, and what the grants for it are made with."""

    server_id: str
    server_password: str
    urls: Sequence[str]
    stun_servers: Sequence[str]


class Voice:
    """`push` tells every open page; `new_id` makes the id of a single-use grant."""

    def __init__(
        self,
        channels: Sequence[VoiceChannel],
        access: MediaAccess,
        push: Callable[[str, object], None],
        new_id: Callable[[], str],
    ) -> None:
        self._channels = {channel.id: channel for channel in channels}
        self._access = access
        self._push = push
        self._new_id = new_id
        self._names: OrderedDict[str, str] = OrderedDict()
        self.occupancy = Occupancy(self._channels, self._announce)

    def welcome(self, member: Member) -> dict[str, object]:
        """What a member who signs in needs to know about voice."""
        if self._remember(member):
            for room_id in self.occupancy.rooms_of(member.id):
                self._announce(room_id)
        return {
            "channels": [channel.described() for channel in self._channels.values()],
            "voice": {channel_id: self._people(channel_id) for channel_id in self._channels},
        }

    async def join(self, link: MediaLink, member: Member, channel_id: str, now: float) -> dict[str, object]:
        """Let a member into a channel: where to connect, and with what."""
        if channel_id not in self._channels:
            raise ChatError("unknown_channel")
        await link.confirm_room(channel_id)
        self._remember(member)
        return {
            "urls": list(self._access.urls),
            "stun_servers": list(self._access.stun_servers),
            "client_join": self._grant(member, channel_id, now),
        }

    def _grant(self, member: Member, channel_id: str, now: float) -> dict[str, str]:
        server_id, password = self._access.server_id, self._access.server_password
        token = issue_user_token(
            password,
            server_id,
            user_id=member.id,
            room_id=channel_id,
            caps=CAPS,
            now=now,
            jti=self._new_id(),
            lifetime_s=GRANT_LIFETIME_S,
        )
        return {
            "room_id": channel_id,
            "server_id": server_id,
            "server_password": client_credential(password, server_id),
            "user_token": token,
            "user_id": member.id,
        }

    def _announce(self, channel_id: str) -> None:
        self._push("voice_state", {"channel_id": channel_id, "members": self._people(channel_id)})

    def _people(self, channel_id: str) -> list[dict[str, str]]:
        return [
            {"id": user_id, "nickname": self._names.get(user_id, "Somebody")}
            for user_id in self.occupancy.users(channel_id)
        ]

    def _remember(self, member: Member) -> bool:
        """Keep the name for the rooms' lists; was it news?"""
        news = self._names.get(member.id) != member.nickname
        self._names[member.id] = member.nickname
        self._names.move_to_end(member.id)
        if len(self._names) > MAX_REMEMBERED_NAMES:
            self._names.popitem(last=False)
        return news
