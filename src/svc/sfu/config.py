"""Reads the media service's settings from a mapping of environment variables.

Checks every value once. Does not read the process's environment. All other settings are command-line flags
(`app.Flags`). See docs/configuration.md, "SFU".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from svc.base import config_parsing as read
from svc.base.config_parsing import ConfigError

StunServer = tuple[str, int]
"""A name or an IP address, and a port."""


@dataclass(frozen=True, slots=True)
class Config:
    """The operator's settings. See docs/configuration.md, "SFU"."""

    port: int
    udp_port: int
    stun_servers: tuple[StunServer, ...]
    disable_stun: bool
    advertised: tuple[str, ...]
    max_peers: int
    debug: bool
    verbose_log: bool

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "Config":
        """Read the variables. Raises ConfigError, which names the invalid variable."""
        return cls(
            port=read.port(variables, "SFU_PORT", read.port(variables, "PORT", 5005)),
            udp_port=read.port(variables, "ICE_UDP_MUX_PORT", 3478),
            stun_servers=read.stun_servers(variables),
            disable_stun=read.flag(variables, "DISABLE_STUN", False),
            advertised=tuple(map(_ip, read.items(variables, "ICE_ADVERTISE_IP"))),
            max_peers=read.number(variables, "MAX_PEERS", 200, minimum=1),
            debug=read.flag(variables, "DEBUG", True),
            verbose_log=read.flag(variables, "VERBOSE_LOG", False),
        )


def _ip(text: str) -> str:
    try:
        return str(ip_address(text.strip("[]")))
    except ValueError:
        raise ConfigError(f"ICE_ADVERTISE_IP must list IP addresses, not {text!r}") from None
