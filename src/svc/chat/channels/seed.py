"""The channels of a new server, as its configuration names them.

Read once, on the first boot; from then on the database knows. A voice channel's id is also
the id of its room at the media service.
docs/configuration.md, "Chat server", VOICE_CHANNEL_ID, VOICE_CHANNEL_NAME, ADDITIONAL_CHANNELS.
"""

import re
from collections.abc import Iterable

from svc.base.config import ConfigError
from svc.chat.access.directory import TEXT, VOICE, Channel

_VOICE_PREFIX = "voice:"
# A server needs a place to write in, whatever else is configured.
_FIRST_TEXT_CHANNEL = "general"


def first_channels(voice_id: str, voice_name: str, additional: Iterable[str]) -> list[Channel]:
    """Returns a text channel, the configured voice channel, and those of `additional` (`voice:` marks voice).

    A channel that is listed again, with the same name and kind, is the same one. Raises ConfigError
    where two different channels would get the same id.
    """
    channels: dict[str, Channel] = {}

    def add(channel_id: str, name: str, kind: str) -> None:
        channel = Channel(channel_id, name, kind, position=len(channels))
        present = channels.setdefault(channel_id, channel)
        if (present.name, present.kind) != (name, kind):
            raise ConfigError(
                f"ADDITIONAL_CHANNELS: {name!r} gets the id {channel_id!r}, which the {present.kind} channel "
                f"{present.name!r} has already. Choose another name."
            )

    add(_FIRST_TEXT_CHANNEL, _FIRST_TEXT_CHANNEL, TEXT)
    add(voice_id, voice_name, VOICE)
    for entry in additional:
        name = entry.removeprefix(_VOICE_PREFIX).strip()
        kind = VOICE if entry.startswith(_VOICE_PREFIX) else TEXT
        if name:
            add(_id_from(name) or kind, name, kind)
    return list(channels.values())


def _id_from(name: str) -> str:
    return re.sub(r"\W+", "-", name.casefold()).strip("-")
