"""Keeps a bot's copy of the server's state: the bot's member, the visible channels, and the members in voice
channels.

The copy is updated by events in the order of their arrival. Sends no requests.
"""

from collections.abc import Mapping
from dataclasses import replace

from msgspec import convert

from svc.client.models import Channel, Member, VoiceMember
from svc.client.session import Data


class ServerState:
    def __init__(self) -> None:
        # None before the first sign-in.
        self.member: Member | None = None
        self.channels: dict[str, Channel] = {}
        # Members in voice channels, by channel id and then by member id. Empty channels may be missing.
        self._voice: dict[str, dict[str, VoiceMember]] = {}

    @property
    def voice(self) -> Mapping[str, tuple[VoiceMember, ...]]:
        return {channel_id: tuple(people.values()) for channel_id, people in self._voice.items() if people}

    def signed_in(self, state: Data) -> None:
        """Replace all state with the server's current state."""
        self.member = convert(state["member"], Member)
        self.channels = {channel.id: channel for channel in convert(state["channels"], tuple[Channel, ...])}
        self._voice = {channel_id: _people(members) for channel_id, members in state["voice"].items()}

    def pushed(self, event: str, data: Data) -> None:
        match event:
            case "channel_created" | "channel_updated":
                channel = convert(data, Channel)
                self.channels[channel.id] = channel
            case "channel_deleted":
                self.channels.pop(data["channel_id"], None)
                self._voice.pop(data["channel_id"], None)
            case "member_updated" if self.member is not None and data["id"] == self.member.id:
                self.member = convert(data, Member)
            case "voice_state":
                self._voice[data["channel_id"]] = _people(data["members"])
            case "voice_joined":
                member = convert(data["member"], VoiceMember)
                self._voice.setdefault(data["channel_id"], {})[member.id] = member
            case "voice_left":
                self._voice.get(data["channel_id"], {}).pop(data["member_id"], None)
            case "voice_updated":
                self._update(data)

    def _update(self, data: Data) -> None:
        people = self._voice.get(data["channel_id"], {})
        if (member := people.get(data["member_id"])) is not None:
            different = {key: value for key, value in data.items() if key in VoiceMember.__slots__}
            people[member.id] = replace(member, **different)


def _people(members: object) -> dict[str, VoiceMember]:
    return {member.id: member for member in convert(members, tuple[VoiceMember, ...])}
