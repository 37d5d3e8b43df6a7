"""Parses configuration variables from any mapping of names to strings.

An empty value counts as unset, because Compose files set unused variables to an empty string. This module
neither reads the process's environment, which the commands pass in, nor defines the variables.
"""

import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address

# A public STUN server, the default for both the chat server and the media service.
DEFAULT_STUN_SERVER = "stun.l.google.com:19302"
STUN_PORT = 3478

# A DNS name or an IPv4 address, as an operator writes it. International names need no encoding.
_HOST_NAME = re.compile(r"[\w-]+(\.[\w-]+)*\.?")

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


logger = logging.getLogger(__name__)


class ConfigError(Exception):
    """An invalid variable. The message names the variable and the expected value."""


def install_command(library: str) -> str:
    """Return the command that installs an optional library for this program. The command also works in a
    source checkout.
    """
    return f"{sys.executable} -m pip install {library}"


@contextmanager
def cluster_library(feature: str) -> Iterator[None]:
    """Run a block that imports the cluster library. Raises ConfigError if the library is not installed."""
    try:
        yield
    except ModuleNotFoundError as fault:
        if fault.name != "nats":
            raise
        raise ConfigError(f"{feature} needs its library: pip install 'svc-server[cluster]'") from None


def text(variables: Mapping[str, str], name: str, default: str = "") -> str:
    return variables.get(name, "").strip() or default


def require(variables: Mapping[str, str], name: str, purpose: str) -> str:
    """Return the value. If it is unset, raise ConfigError with the variable's purpose."""
    if value := text(variables, name):
        return value
    raise ConfigError(f"{name} must be set: {purpose}")


def number(
    variables: Mapping[str, str], name: str, default: int, *, minimum: int = 0, maximum: int | None = None
) -> int:
    """Parse an integer from `minimum` to `maximum`, inclusive. Raises ConfigError."""
    value = text(variables, name)
    if not value:
        return default
    # Accept only ASCII digits: int() would also accept "1_000" and digits of other scripts.
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ConfigError(f"{name} must be a whole number, not {value!r}")
    parsed = int(value)
    if parsed < minimum or (maximum is not None and parsed > maximum):
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ConfigError(f"{name} must be {bounds}, not {parsed}")
    return parsed


def clamped_integer(variables: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """Parse an integer and clamp it to the bounds. Raises ConfigError."""
    return max(low, min(high, number(variables, name, default, minimum=-(10**17), maximum=10**17)))


def port(variables: Mapping[str, str], name: str, default: int) -> int:
    """Parse a port number. 0 lets the kernel choose a free port. Raises ConfigError."""
    return number(variables, name, default, maximum=65535)


def flag(variables: Mapping[str, str], name: str, default: bool) -> bool:
    """Parse true or false in the usual spellings. Warn about any other value and return the default."""
    value = text(variables, name).lower()
    if value and value not in _TRUE | _FALSE:
        logger.warning("%s must be true or false, not %r: using %s", name, value, str(default).lower())
    if default:
        return value not in _FALSE
    return value in _TRUE


def items(variables: Mapping[str, str], name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Parse a comma-separated list, ignoring blanks. Return the default if the variable is unset.

    Raises ConfigError if the value contains only commas, because the operator meant to list something.
    """
    value = text(variables, name)
    if not value:
        return default
    listed = tuple(item for part in value.split(",") if (item := part.strip()))
    if not listed:
        raise ConfigError(f"{name} must be empty or a list without empty items, not {value!r}")
    return listed


def host_and_port(value: str) -> tuple[str, int | None]:
    """Parse `host`, `host:port`, an IPv6 address, or an IPv6 address in brackets with a port.

    Raises ValueError.
    """
    if value.startswith("["):
        host, bracket, rest = value[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError(value)
        IPv6Address(host)
        digits = rest.removeprefix(":") if rest else None
    elif value.count(":") > 1:
        return str(IPv6Address(value)), None
    else:
        host, colon, after = value.partition(":")
        digits = after if colon else None
        if not _HOST_NAME.fullmatch(host):
            raise ValueError(value)
    if digits is None:
        return host, None
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and 0 < int(digits) <= 65535):
        raise ValueError(value)
    return host, int(digits)


def host_names(variables: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Parse a comma-separated list of names or addresses, each with or without a port. Raises ConfigError."""
    host_names = items(variables, name)
    for value in host_names:
        try:
            host_and_port(value)
        except ValueError:
            raise ConfigError(
                f"{name} must list names such as chat.example.org or chat.example.org:8443, "
                f"without https:// and without a path, not {value!r}"
            ) from None
    return host_names


def stun_servers(variables: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Return the host and port of each server in STUN_SERVERS.

    Each is a `host`, `host:port` or `[v6]:port`, with or without a `stun:` prefix (RFC 7064). A variable that
    is set but empty means no servers (docs/configuration.md, "SFU").
    """
    if variables.get("STUN_SERVERS", DEFAULT_STUN_SERVER).strip() == "":
        return ()
    return tuple(map(_stun_server, items(variables, "STUN_SERVERS", (DEFAULT_STUN_SERVER,))))


def _stun_server(value: str) -> tuple[str, int]:
    try:
        host, port = host_and_port(value.removeprefix("stun:").partition("?")[0])
    except ValueError:
        raise ConfigError(f"STUN_SERVERS must list servers as host:port, not {value!r}") from None
    return host, port or STUN_PORT


def is_loopback(name: str) -> bool:
    """Return whether a host name or address refers to this machine."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
