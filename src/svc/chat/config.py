"""The chat server's configuration, read from variables and validated once.

docs/configuration.md, "Chat server".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from svc.base.config import ConfigError, flag, is_loopback, items, number, port, required, stun_servers, text
from svc.base.turn_server import TurnServer
from svc.base.turn_server import read as read_turn
from svc.chat.access.address import MAX_HOPS, normalised
from svc.chat.access.directory import TEXT, VOICE, Channel
from svc.chat.invites import guard as invites
from svc.chat.invites.guard import InviteConfig
from svc.chat.joining import config as joining_config
from svc.chat.joining.config import IdentityConfig
from svc.chat.media import config as uploads_config
from svc.chat.media.config import UploadsConfig
from svc.chat.settings import management
from svc.chat.settings.management import OperatingConfig

# One day. Longer values are almost certainly typos.
MAX_CACHE_TTL_MS = 24 * 60 * 60 * 1000

# How long encrypted messages of private conversations are kept.
MLS_RETENTION_DAYS = 30

# The length of HS256's digest (RFC 7518 section 3.2).
MIN_SECRET_BYTES = 32
MAKE_SECRET = "Make one with: openssl rand -hex 32"

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class MediaService:
    """A media service: its address for us, and its public addresses besides the pass-through."""

    url: str
    public_urls: Sequence[str]


@dataclass(frozen=True, slots=True)
class MediaConfig:
    """The media services, none without SFU_WS_HOST, and our credentials there."""

    services: Sequence[MediaService]
    server_id: str
    server_password: str
    stun_servers: Sequence[str]
    turn: TurnServer | None = None

    @property
    def url(self) -> str:
        """The first service's URL; empty without one."""
        return self.services[0].url if self.services else ""

    @property
    def public_urls(self) -> Sequence[str]:
        """The public URLs of all services."""
        return [url for service in self.services for url in service.public_urls]


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
    # How long a page of messages is cached; 0 turns the cache off.
    message_cache_ttl_ms: int
    # Seats in all voice channels together; 0 means no limit.
    voice_max_users: int
    media: MediaConfig
    uploads: UploadsConfig
    operating: OperatingConfig
    # How long messages of private conversations are kept.
    mls_retention_days: int
    # Whether the server may fetch link previews.
    link_previews: bool


def read(variables: Mapping[str, str]) -> ChatConfig:
    """Read the variables. Raises ConfigError for invalid values."""
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
        media=_media(variables),
        uploads=uploads_config.read(variables),
        operating=management.read(variables),
        mls_retention_days=_retention_days(variables),
        link_previews=flag(variables, "SVC_LINK_PREVIEWS", True),
    )


def _signing_secret(variables: Mapping[str, str]) -> str:
    """Return the signing secret. A short one can be guessed offline by anyone who has seen a token."""
    secret = required(variables, "JWT_SECRET", f"access tokens are signed with it. {MAKE_SECRET}")
    if (size := len(secret.encode())) < MIN_SECRET_BYTES:
        raise ConfigError(f"JWT_SECRET has {size} bytes and needs at least {MIN_SECRET_BYTES}. {MAKE_SECRET}")
    return secret


def _origins(variables: Mapping[str, str]) -> list[str]:
    """Return normalised origins, or `*` for any."""
    listed = []
    for origin in items(variables, "CORS_ORIGIN"):
        if origin != "*" and normalised(origin) is None:
            raise ConfigError(
                f"CORS_ORIGIN must list origins like https://chat.example.org, or * for any, not {origin!r}"
            )
        listed.append(normalised(origin) or origin)
    return listed


def _media(variables: Mapping[str, str]) -> MediaConfig:
    if not text(variables, "SFU_WS_HOST"):
        return MediaConfig(services=(), server_id="", server_password="", stun_servers=())
    return MediaConfig(
        services=_services(items(variables, "SFU_WS_HOST"), items(variables, "SFU_PUBLIC_HOST")),
        server_id=required(variables, "SERVER_ID", "the media service knows this server by it"),
        server_password=required(variables, "SERVER_PASSWORD", "it proves SERVER_ID to the media service"),
        stun_servers=_stun_urls(variables),
        turn=read_turn(variables),
    )


def _services(hosts: Sequence[str], public_hosts: Sequence[str]) -> list[MediaService]:
    """Assign public hosts: all of them to a single service, or one to each of several, in order."""
    urls = [_websocket_url("SFU_WS_HOST", host, "ws") for host in hosts]
    public_urls = [_public_url(host) for host in public_hosts]
    if len(urls) == 1:
        return [MediaService(urls[0], public_urls)]
    if len(set(urls)) < len(urls):
        raise ConfigError("SFU_WS_HOST names a media service twice")
    if public_urls and len(public_urls) != len(urls):
        raise ConfigError(
            f"SFU_PUBLIC_HOST must list a host for each of the {len(urls)} of SFU_WS_HOST, in their order"
        )
    return [MediaService(url, public_urls[at : at + 1]) for at, url in enumerate(urls)]


def _stun_urls(variables: Mapping[str, str]) -> list[str]:
    """Return the STUN URLs for browsers (RFC 7064)."""
    if flag(variables, "DISABLE_STUN", False):
        return []
    return [
        f"stun:[{host}]:{port}" if ":" in host else f"stun:{host}:{port}"
        for host, port in stun_servers(variables)
    ]


def _public_url(host: str) -> str:
    """Return a public URL. A bare host uses TLS, as pages need it, unless it is this machine."""
    local = is_loopback(urlsplit(f"//{host}").hostname or "")
    return _websocket_url("SFU_PUBLIC_HOST", host, "ws" if local else "wss")


def _websocket_url(variable: str, value: str, usual_scheme: str) -> str:
    """Return a ws:// or wss:// URL without a trailing slash, from `host`, `host:port` or a URL."""
    address = value if "://" in value else f"{usual_scheme}://{value}"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{variable} must be host:port or a ws:// or wss:// address, not {value!r}")
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc}{parts.path.rstrip('/')}"


_VOICE_PREFIX = "voice:"
# A server always needs a text channel.
_FIRST_TEXT_CHANNEL = "general"


def first_channels(voice_id: str, voice_name: str, additional: Iterable[str]) -> list[Channel]:
    """Return a new server's channels: a text channel, the voice channel, and `additional` ones (`voice:`
    marks voice).

    A repeated entry with the same name and kind is ignored. Raises ConfigError if two different channels
    would get the same id.
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
    """Return the retention. The variable can only shorten it: other values give the default."""
    value = text(variables, "MLS_RETENTION_DAYS")
    if value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MLS_RETENTION_DAYS and len(value) <= 6:
        return int(value)
    return MLS_RETENTION_DAYS
