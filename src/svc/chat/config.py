"""Reads the chat server's configuration from environment variables and validates it.

See docs/configuration.md, "Chat server".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from svc.base import media_services
from svc.base.config_parsing import ConfigError, flag, items, number, port, require, text
from svc.base.media_services import MediaConfig
from svc.chat.access.client_address import MAX_HOPS
from svc.chat.access.directory import TEXT, VOICE, Channel
from svc.chat.access.origins import normalise
from svc.chat.authentication import config as joining_config
from svc.chat.authentication.config import IdentityConfig
from svc.chat.invites import attempt_limits as invites
from svc.chat.invites.attempt_limits import InviteConfig
from svc.chat.media import config as uploads_config
from svc.chat.media.config import UploadsConfig
from svc.chat.settings import management_listener
from svc.chat.settings.management_listener import OperatingConfig

# One day. Longer values are almost certainly typos.
MAX_CACHE_TTL_MS = 24 * 60 * 60 * 1000

# The maximum number of days to store encrypted messages in private conversations.
MLS_RETENTION_DAYS = 30

# The size of an HS256 digest (RFC 7518 section 3.2).
MIN_SECRET_BYTES = 32
MAKE_SECRET = "Make one with: openssl rand -hex 32"


@dataclass(frozen=True, slots=True)
class ChatConfig:
    host: str
    port: int
    jwt_secret: str
    data_dir: Path
    server_name: str
    server_description: str
    discoverable: bool
    allowed_origins: Sequence[str]
    trusted_proxy_hops: int
    max_members: int
    identity: IdentityConfig
    invites: InviteConfig
    first_channels: Sequence[Channel]
    # How long a page of messages is cached. 0 disables the cache.
    message_cache_ttl_ms: int
    # The maximum number of participants across all voice channels. 0 means no limit.
    voice_max_users: int
    media: MediaConfig
    uploads: UploadsConfig
    operating: OperatingConfig
    # The number of days to store messages in private conversations.
    mls_retention_days: int
    # Whether the server may fetch link previews.
    link_previews: bool


def read(variables: Mapping[str, str]) -> ChatConfig:
    """Read the configuration from environment variables. Raises ConfigError for invalid values."""
    return ChatConfig(
        host=text(variables, "HOST", "127.0.0.1"),
        port=port(variables, "PORT", 5000),
        jwt_secret=_signing_secret(variables),
        data_dir=Path(text(variables, "DATA_DIR", "./data")),
        server_name=text(variables, "SERVER_NAME"),
        server_description=text(variables, "SERVER_DESCRIPTION"),
        discoverable=flag(variables, "SERVER_DISCOVERABLE", False),
        allowed_origins=_origins(variables),
        trusted_proxy_hops=number(variables, "SVC_TRUSTED_PROXY_HOPS", 0, maximum=MAX_HOPS),
        max_members=number(variables, "MAX_MEMBERS", 100, minimum=1),
        identity=joining_config.read(variables),
        message_cache_ttl_ms=number(variables, "MESSAGE_CACHE_TTL_MS", 30_000, maximum=MAX_CACHE_TTL_MS),
        invites=invites.read(variables),
        first_channels=first_channels(
            text(variables, "VOICE_CHANNEL_ID", "voice"),
            text(variables, "VOICE_CHANNEL_NAME", "Voice"),
            items(variables, "ADDITIONAL_CHANNELS"),
        ),
        voice_max_users=number(variables, "VOICE_MAX_USERS", 0),
        media=media_services.read(variables),
        uploads=uploads_config.read(variables),
        operating=management_listener.read(variables),
        mls_retention_days=_retention_days(variables),
        link_previews=flag(variables, "SVC_LINK_PREVIEWS", True),
    )


def _signing_secret(variables: Mapping[str, str]) -> str:
    """Return the signing secret. Raises ConfigError if it is so short that anyone with a token could guess it
    offline.
    """
    secret = require(variables, "JWT_SECRET", f"access tokens are signed with it. {MAKE_SECRET}")
    if (size := len(secret.encode())) < MIN_SECRET_BYTES:
        raise ConfigError(f"JWT_SECRET has {size} bytes and needs at least {MIN_SECRET_BYTES}. {MAKE_SECRET}")
    return secret


def _origins(variables: Mapping[str, str]) -> list[str]:
    """Return normalised origins, or `*` for any origin."""
    listed = []
    for origin in items(variables, "CORS_ORIGIN"):
        if origin != "*" and normalise(origin) is None:
            raise ConfigError(
                f"CORS_ORIGIN must list origins like https://chat.example.org, or * for any, not {origin!r}"
            )
        listed.append(normalise(origin) or origin)
    return listed


_VOICE_PREFIX = "voice:"
# Every server needs a text channel.
_FIRST_TEXT_CHANNEL = "general"


def first_channels(voice_id: str, voice_name: str, additional: Iterable[str]) -> list[Channel]:
    """Return a new server's channels: a text channel, the voice channel, and `additional` channels.

    The prefix `voice:` marks a voice channel. An entry is ignored if an earlier one has the same name and
    kind. Raises ConfigError if two different channels would get the same id.
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


def _retention_days(variables: Mapping[str, str]) -> int:
    """Return the retention period in days. The variable can only shorten the default period. Other values are
    ignored.
    """
    value = text(variables, "MLS_RETENTION_DAYS")
    if value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MLS_RETENTION_DAYS and len(value) <= 6:
        return int(value)
    return MLS_RETENTION_DAYS
