"""The voice channels of a server, as its configuration names them.

Names and ids only; each channel's id is also the id of its room at the media service.
Spec: chat document section 8.3, VOICE_CHANNEL_ID, VOICE_CHANNEL_NAME, ADDITIONAL_CHANNELS.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_VOICE_PREFIX = "voice:"


@dataclass(frozen=True, slots=True)
class VoiceChannel:
    id: str
    name: str

    def described(self) -> dict[str, str]:
        """As clients see it."""
        return {"id": self.id, "name": self.name, "type": "voice"}


def voice_channels(first_id: str, first_name: str, additional: Iterable[str]) -> tuple[VoiceChannel, ...]:
    """The first channel and those of `additional` that carry the prefix `voice:`.

    A channel's id must outlive a restart, so it is made of the name; a name that gives
    an id already taken is the same channel again.
    """
    channels = {first_id: VoiceChannel(first_id, first_name)}
    for entry in additional:
        name = entry.removeprefix(_VOICE_PREFIX).strip()
        if entry.startswith(_VOICE_PREFIX) and name:
            channel_id = re.sub(r"\W+", "-", name.casefold()).strip("-") or "voice"
            channels.setdefault(channel_id, VoiceChannel(channel_id, name))
    return tuple(channels.values())
