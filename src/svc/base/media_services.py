"""Reads the configuration of the media services: their URLs and our credentials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from svc.base.config_parsing import ConfigError, flag, is_loopback, items, number, require, stun_servers, text
from svc.base.turn_server import TurnServer
from svc.base.turn_server import read as read_turn

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class MediaService:
    """A media service: the URL at which this server reaches it, and any public URLs at which clients can
    reach it directly.
    """

    url: str
    public_urls: Sequence[str]


@dataclass(frozen=True, slots=True)
class MediaConfig:
    """The media services and our credentials. There are no services if SFU_WS_HOST is unset."""

    services: Sequence[MediaService]
    server_id: str
    server_password: str
    stun_servers: Sequence[str]
    turn: TurnServer | None = None
    # The maximum number of a room's members on one service. Any others use another service. 0 keeps each room
    # on one service.
    room_size: int = 0

    @property
    def url(self) -> str:
        """The first service's URL, or an empty string if there is no service."""
        return self.services[0].url if self.services else ""

    @property
    def public_urls(self) -> Sequence[str]:
        """The public URLs of all services."""
        return [url for service in self.services for url in service.public_urls]


def read(variables: Mapping[str, str]) -> MediaConfig:
    """Read the configuration. Raises ConfigError for an invalid value."""
    if not text(variables, "SFU_WS_HOST"):
        return MediaConfig(services=(), server_id="", server_password="", stun_servers=())
    return MediaConfig(
        services=_services(items(variables, "SFU_WS_HOST"), items(variables, "SFU_PUBLIC_HOST")),
        server_id=require(variables, "SERVER_ID", "the media service knows this server by it"),
        server_password=require(variables, "SERVER_PASSWORD", "it proves SERVER_ID to the media service"),
        stun_servers=_stun_urls(variables),
        turn=read_turn(variables),
        room_size=number(variables, "SFU_ROOM_SIZE", 0, minimum=0),
    )


def _services(hosts: Sequence[str], public_hosts: Sequence[str]) -> list[MediaService]:
    """Assign the public hosts: all to a single service, or one to each of several services, in order."""
    urls = [_websocket_url("SFU_WS_HOST", host, "ws") for host in hosts]
    public_urls = [_public_url(host) for host in public_hosts]
    if len(urls) == 1:
        return [MediaService(urls[0], public_urls)]
    if len(set(urls)) < len(urls):
        raise ConfigError("SFU_WS_HOST names a media service twice")
    if public_urls and len(public_urls) != len(urls):
        raise ConfigError(
            f"SFU_PUBLIC_HOST must list a host for each of the {len(urls)} in SFU_WS_HOST, in the same order"
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
    """Return a public URL. A bare host is assumed to use TLS, because browsers require it, unless the host is
    this machine.
    """
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
