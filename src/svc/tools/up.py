"""`svc up`: chat server and media service in one command, with secrets made and kept.

Plans the two programs' environments, has them supervised and says where to go. Nothing
that the programs decide is decided here.
"""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from svc.base import logs
from svc.base.config import ConfigError
from svc.base.tasks import until_first_ends
from svc.chat.joining.invite import invite_code
from svc.sfu.candidates import interface_addresses
from svc.tools.secret_store import Secrets, kept_secrets
from svc.tools.supervisor import Child, Program, StartError, start_all

# What programs on this system need, whoever they are; nothing else of our environment
# reaches them unasked. Anything that begins with PYTHON or LC_ passes too.
_SYSTEM = frozenset({"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})
# What the operator may set for each program; the rest of its variables is set here.
_FOR_SFU = ("DEBUG", "DISABLE_STUN", "ICE_ADVERTISE_IP", "MAX_PEERS", "STUN_SERVERS", "VERBOSE_LOG")
_FOR_CHAT = (
    "ADDITIONAL_CHANNELS",
    "CORS_ORIGIN",
    "DISABLE_STUN",
    "EXTERNAL_HOST",
    "MAX_MEMBERS",
    "REFRESH_TOKEN_TTL_DAYS",
    "SERVER_INVITE_IP_MAX_RETRIES",
    "SERVER_INVITE_MAX_COOLDOWN_MS",
    "SERVER_INVITE_MAX_RETRIES",
    "SERVER_INVITE_RETRY_COOLDOWN_MS",
    "SERVER_INVITE_RETRY_WINDOW_MS",
    "SERVER_NAME",
    "SFU_PUBLIC_HOST",
    "STUN_SERVERS",
    "SVC_AUTH_MODE",
    "SVC_INVITE_MAX_JOINS_PER_HOUR",
    "SVC_IDENTITY_TIERS",
    "SVC_OIDC_AUDIENCE",
    "SVC_OIDC_ISSUER",
    "SVC_SERVER_ENABLED",
    "SVC_TRUSTED_CERT_ISSUERS",
    "VOICE_CHANNEL_ID",
    "VOICE_CHANNEL_NAME",
)
# What is different at home, unless the operator says otherwise: nobody needs an account elsewhere,
# and since keys of one's own cost nothing, wrong invite codes are counted by address as well.
_AT_HOME = {
    "SERVER_INVITE_IP_MAX_RETRIES": "20",
    "SERVER_INVITE_RETRY_COOLDOWN_MS": "60000",
    "SERVER_INVITE_MAX_COOLDOWN_MS": "3600000",
    "SVC_IDENTITY_TIERS": "account, local",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Installation:
    """What the command line says."""

    data_dir: Path
    host: str
    port: int
    sfu_port: int
    udp_port: int


def run(installation: Installation, variables: Mapping[str, str]) -> None:
    """Run until told to stop. Raises ConfigError when it cannot start."""
    logs.configure(sys.stderr, debug=False)
    asyncio.run(_run(installation, variables))


async def _run(installation: Installation, variables: Mapping[str, str]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    installation = with_free_ports(installation)
    invite = invite_code(installation.data_dir)
    programs = plan(installation, kept_secrets(installation.data_dir), variables)
    children = [Child(program) for program in programs]
    try:
        await until_first_ends(stop.wait(), _serve(children, installation, invite))
    except StartError as fault:
        raise ConfigError(f"could not start: {fault}") from None
    finally:
        await asyncio.gather(*(child.stop() for child in children))


async def _serve(children: Sequence[Child], installation: Installation, invite: str) -> None:
    starting = await start_all(children)
    for line in greeting(installation, invite, interface_addresses()):
        _say(line)
    if starting:
        _say("Still looking for our address on the internet; calls nearby work.")
    await asyncio.gather(*(child.keep_running() for child in children))


def plan(installation: Installation, secrets: Secrets, variables: Mapping[str, str]) -> list[Program]:
    """The programs, each with an environment of its own."""
    system = {
        name: value
        for name, value in variables.items()
        if name in _SYSTEM or name.startswith(("PYTHON", "LC_"))
    }
    sfu = {"DEBUG": "false"} | {name: variables[name] for name in _FOR_SFU if name in variables}
    sfu |= {"SFU_PORT": str(installation.sfu_port), "ICE_UDP_MUX_PORT": str(installation.udp_port)}
    chat = _AT_HOME | {name: variables[name] for name in _FOR_CHAT if name in variables}
    chat |= {
        "HOST": installation.host,
        "PORT": str(installation.port),
        "DATA_DIR": str(installation.data_dir),
        "JWT_SECRET": secrets.jwt_secret,
        "SERVER_ID": secrets.server_id,
        "SERVER_PASSWORD": secrets.server_password,
        "SFU_WS_HOST": f"127.0.0.1:{installation.sfu_port}",
    }
    return [
        Program("sfu", ("sfu", "--host", "127.0.0.1"), system | sfu, ("127.0.0.1", installation.sfu_port)),
        Program("chat", ("chat",), system | chat, (_reachable(installation.host), installation.port)),
    ]


def greeting(installation: Installation, invite: str, addresses: Sequence[str]) -> list[str]:
    """What is printed when everything runs. `addresses` are those of this machine."""
    port = installation.port
    lines = [f"Open {_url(_reachable(installation.host), port)}/#invite={invite}"]
    if _is_wildcard(installation.host):
        near = [_url(address, port) for address in addresses if _on_the_network(address, installation.host)]
        lines += [f"On your network: {url}/#invite={invite}" for url in near]
        lines.append("Browsers let people sign in and talk only on localhost and at https:// addresses.")
    return lines


def with_free_ports(installation: Installation) -> Installation:
    """Choose a free port for each that is 0."""
    host = installation.host
    return Installation(
        data_dir=installation.data_dir,
        host=host,
        port=installation.port or _free_port(socket.SOCK_STREAM, host),
        sfu_port=installation.sfu_port or _free_port(socket.SOCK_STREAM, "127.0.0.1"),
        udp_port=installation.udp_port or _free_port(socket.SOCK_DGRAM, "0.0.0.0"),
    )


def _free_port(kind: socket.SocketKind, host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        try:
            probe.bind((host, 0))
        except OSError as fault:
            raise ConfigError(f"--host {host} cannot be used: {fault.strerror}") from None
        port: int = probe.getsockname()[1]
        return port


def _say(line: str) -> None:
    """Print a line in one piece: the children's log lines may go to the same place."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _reachable(host: str) -> str:
    """An address at which this machine reaches what listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def _on_the_network(address: str, host: str) -> bool:
    ip = ip_address(address)
    same_version = ip.version == ip_address(host).version
    return same_version and not (ip.is_loopback or ip.is_link_local)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
