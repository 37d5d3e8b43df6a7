"""Finds the public URL of the server that `svc admin` manages, for links and webhooks.

A running server reports its URL. The URL of a stopped server comes from the environment. Prints nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from svc.base.config_parsing import is_loopback
from svc.tools.startup_message import ListenAddress, best_url, url_of


def base_url(data_dir: Path, variables: Mapping[str, str]) -> str:
    """Return the URL without a trailing slash. Raises ConfigError."""
    from svc.sfu.candidates import interface_addresses
    from svc.tools.admin.command_client import answer_to
    from svc.tools.certificate import FILE_NAME

    status: Any = answer_to(data_dir, "status_get", {}, variables)
    secure = (data_dir / FILE_NAME).exists()
    return link_address(status, interface_addresses(), secure_if_stopped=secure)


def link_address(status: Mapping[str, Any], addresses: Sequence[str], *, secure_if_stopped: bool) -> str:
    """Return the best base URL for links, given the result of `status_get` and this machine's addresses."""
    if status.get("address"):
        parts = urlsplit(status["address"])
        host, port, secure = parts.hostname or "", parts.port or status["port"], parts.scheme == "https"
    else:
        host, port, secure = status["host"], status["port"], secure_if_stopped
    names = status.get("names", [])
    listen_address = ListenAddress(host, port, secure, names)
    if not names:
        return best_url(listen_address, addresses)
    if not secure and (is_loopback(host) or status["trusted_proxy_hops"]):
        # A proxy in front of the server accepts HTTPS on the default port.
        return f"https://{names[0]}"
    return url_of(listen_address, names[0])
