"""The way into a voice room, and telling everybody who is there. No HTTP.

The media service decides who really is in a room; this only grants and reports.
Spec: media document sections 5 and 6; the grant is described in `svc.base.grants`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from svc.base.grants import client_credential, issue_user_token
from svc.chat.access.directory import VOICE, Directory
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.live.audience import Viewers
from svc.chat.live.hub import Hub
from svc.chat.voice.occupancy import Occupancy

# Long enough for a slow phone to connect; well under the five minutes allowed, so
# that the clocks of two machines may differ by minutes.
GRANT_LIFETIME_S = 120
# What each permission lets a member send (`svc.base.grants`).
_CAPS = {
    "speak": Permission.SPEAK,
    "share_video": Permission.SHARE_VIDEO,
    "share_screen": Permission.SHARE_SCREEN,
}


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
    """`new_id` makes the id of a single-use grant."""

    def __init__(
        self, access: MediaAccess, directory: Directory, hub: Hub, new_id: Callable[[], str]
    ) -> None:
        self._access = access
        self._directory = directory
        self._hub = hub
        self._new_id = new_id
        self.occupancy = Occupancy(self._announce)

    def room_ids(self) -> list[str]:
        """The voice channels, whose ids are those of their rooms."""
        return [channel.id for channel in self._directory.channels.values() if channel.kind == VOICE]

    def welcome(self, asker: Asker) -> dict[str, object]:
        """What a member who signs in needs to know about voice."""
        channels = self._directory.visible_channels(asker.member_id)
        return {
            "channels": [channel.described() for channel in channels],
            "voice": {channel.id: self._people(channel.id) for channel in channels if channel.kind == VOICE},
        }

    async def join(self, link: MediaLink, member_id: str, channel_id: str, now: float) -> dict[str, object]:
        """Let a member into a channel: where to connect, and with what."""
        if self._directory.channel(member_id, channel_id).kind != VOICE:
            raise ChatError("unknown_channel")
        self._directory.require(member_id, Permission.JOIN_VOICE, channel_id)
        if not self._access.server_id:
            raise ChatError("voice_unavailable")
        await link.confirm_room(channel_id)
        return {
            "urls": list(self._access.urls),
            "stun_servers": list(self._access.stun_servers),
            "client_join": self._grant(member_id, channel_id, now),
        }

    def _grant(self, member_id: str, channel_id: str, now: float) -> dict[str, str]:
        server_id, password = self._access.server_id, self._access.server_password
        granted = self._directory.permissions(member_id, channel_id)
        token = issue_user_token(
            password,
            server_id,
            user_id=member_id,
            room_id=channel_id,
            caps=[cap for cap, permission in _CAPS.items() if permission in granted],
            now=now,
            jti=self._new_id(),
            lifetime_s=GRANT_LIFETIME_S,
        )
        return {
            "room_id": channel_id,
            "server_id": server_id,
            "server_password": client_credential(password, server_id),
            "user_token": token,
            "user_id": member_id,
        }

    def _announce(self, channel_id: str) -> None:
        state = {"channel_id": channel_id, "members": self._people(channel_id)}
        self._hub.push("voice_state", state, Viewers(channel_id))

    def _people(self, channel_id: str) -> list[dict[str, str]]:
        return [
            {"id": user_id, "nickname": self._nickname(user_id)}
            for user_id in self.occupancy.users(channel_id)
        ]

    def _nickname(self, user_id: str) -> str:
        member = self._directory.members.get(user_id)
        return member.nickname if member else "Somebody"
