"""What a bot knows of its server: who it is, the channels that it sees, and who is in voice.

Kept up to date by what is heard, in the order in which it is heard. Asks for nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

from svc.client.session import Data
from svc.client.shapes import Channel, Member, VoiceMember, read


class Known:
    def __init__(self) -> None:
        # None before the first sign-in.
        self.member: Member | None = None
        self.channels: dict[str, Channel] = {}
        # By channel, then by member; a channel in which nobody is may be missing.
        self._voice: dict[str, dict[str, VoiceMember]] = {}

    @property
    def voice(self) -> Mapping[str, tuple[VoiceMember, ...]]:
        return {channel_id: tuple(people.values()) for channel_id, people in self._voice.items() if people}

    def signed_in(self, state: Data) -> None:
        """Everything is as the server says now."""
        self.member = read(Member, state["member"])
        self.channels = {one.id: one for one in (read(Channel, channel) for channel in state["channels"])}
        self._voice = {channel_id: _people(members) for channel_id, members in state["voice"].items()}

    def pushed(self, event: str, data: Data) -> None:
        match event:
            case "channel_created" | "channel_updated":
                channel = read(Channel, data)
                self.channels[channel.id] = channel
            case "channel_deleted":
                self.channels.pop(data["channel_id"], None)
                self._voice.pop(data["channel_id"], None)
            case "member_updated" if self.member is not None and data["id"] == self.member.id:
                self.member = read(Member, data)
            case "voice_state":
                self._voice[data["channel_id"]] = _people(data["members"])
            case "voice_joined":
                member = read(VoiceMember, data["member"])
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
    return {one.id: one for one in read(tuple[VoiceMember, ...], members)}
