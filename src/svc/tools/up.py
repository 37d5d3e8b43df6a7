"""`svc up`: run the chat server, SFU and media worker with one command, and generate their secrets.

Plans the programs' environments, supervises the programs, and prints the server's URL. All other decisions
are left to the programs.
"""

import asyncio
import errno
import logging
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from svc.base import logs
from svc.base.config_parsing import ConfigError, host_names
from svc.base.listeners import bound
from svc.base.tasks import stop_event, until_first_ends
from svc.chat.authentication.invite_file import shown_code
from svc.sfu.candidates import interface_addresses
from svc.tools.hidden_environment import is_harmless
from svc.tools.prefork import WaitingProcess
from svc.tools.secret_store import Secrets, read_or_create_secrets
from svc.tools.startup_message import ListenAddress, code_for_phones, greeting, reachable
from svc.tools.supervisor import Child, Program, StartError, start_all, stop_all

# The variables that the operator may set for each program. All other variables are set here.
_FOR_SFU = ("DEBUG", "DISABLE_STUN", "ICE_ADVERTISE_IP", "MAX_PEERS", "STUN_SERVERS", "VERBOSE_LOG")
_FOR_CHAT = (
    "ADDITIONAL_CHANNELS",
    "CORS_ORIGIN",
    "DISABLE_STUN",
    "EXTERNAL_HOST",
    "MAX_MEMBERS",
    "MDNS_INTERFACE",
    "MEDIA_SWEEP_GRACE_MS",
    "MEDIA_SWEEP_INTERVAL_MS",
    "MESSAGE_CACHE_TTL_MS",
    "MLS_RETENTION_DAYS",
    "NODE_ENV",
    "REFRESH_TOKEN_TTL_DAYS",
    "SERVER_DESCRIPTION",
    "SERVER_DISCOVERABLE",
    "SERVER_ICON_MAX_MB",
    "SERVER_INSTANCE_ID",
    "SERVER_INVITE_IP_MAX_RETRIES",
    "SERVER_INVITE_MAX_COOLDOWN_MS",
    "SERVER_INVITE_MAX_RETRIES",
    "SERVER_INVITE_RETRY_COOLDOWN_MS",
    "SERVER_INVITE_RETRY_WINDOW_MS",
    "SERVER_NAME",
    "SERVER_VERSION",
    "SFU_PUBLIC_HOST",
    "SFU_ROOM_SIZE",
    "STUN_SERVERS",
    "TURN_SECRET",
    "TURN_URLS",
    "SVC_ADMIN_PORT",
    "SVC_ADMIN_TOKEN",
    "SVC_AUTH_MODE",
    "SVC_FILE_EXTENSIONS",
    "SVC_FILE_MAX_MB",
    "SVC_IDENTITY_TIERS",
    "SVC_INVITE_MAX_JOINS_PER_HOUR",
    "SVC_LINK_PREVIEWS",
    "SVC_OIDC_AUDIENCE",
    "SVC_OIDC_CLIENT_SECRET",
    "SVC_OIDC_ISSUER",
    "SVC_SERVER_ENABLED",
    "SVC_SERVER_ICON_MAX_MB",
    "SVC_TRUSTED_CERT_ISSUERS",
    "SVC_TRUSTED_PROXY_HOPS",
    "VOICE_CHANNEL_ID",
    "VOICE_CHANNEL_NAME",
    "VOICE_MAX_USERS",
)
# Variables that must have the same values for the chat server and the worker.
_FOR_BOTH = (
    "DISABLE_S3",
    "EMOJI_QUEUE_CONCURRENCY",
    "EMOJI_QUEUE_POLL_MS",
    "S3_ACCESS_KEY_ID",
    "S3_BUCKET",
    "S3_ENDPOINT",
    "S3_FORCE_PATH_STYLE",
    "S3_REGION",
    "S3_SECRET_ACCESS_KEY",
    "STORAGE_BACKEND",
)
# Defaults for a home server. Its members need no external account. Creating a new key costs nothing, so wrong
# invite codes are also counted per IP address.
_AT_HOME = {
    "SERVER_INVITE_IP_MAX_RETRIES": "20",
    "SERVER_INVITE_RETRY_COOLDOWN_MS": "60000",
    "SERVER_INVITE_MAX_COOLDOWN_MS": "3600000",
    "SVC_IDENTITY_TIERS": "account, local",
}

# The interval is short because a laptop moves between networks.
RENEWAL_INTERVAL_S = 60.0
# The media worker uses a fifth of an idle server's memory, so it is not started until the first upload.
# Starting it takes half a second, so it keeps running for a while, because an image is usually followed by
# others.
WORKER_IDLE_EXIT_S = 600

# Programs that are forked at their first start. The worker is not forked, because it decodes untrusted files.
FORKED = ("sfu", "chat")
NO_FORKS: Mapping[str, WaitingProcess] = {}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Installation:
    """The command-line options."""

    data_dir: Path
    host: str
    port: int
    sfu_port: int
    udp_port: int
    # Only the chat server needs this value.
    worker_port: int = 0
    # If TLS is on and the operator has given no certificate, the server creates its own.
    tls: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None

    @property
    def makes_certificate(self) -> bool:
        return self.tls and self.tls_certificate is None


def run(
    installation: Installation, variables: Mapping[str, str], forks: Mapping[str, WaitingProcess] = NO_FORKS
) -> None:
    """Run the programs until stopped. `forks` are used for the first start of each program.

    Raises ConfigError if a program cannot start.
    """
    logs.configure(sys.stderr, debug=False)
    asyncio.run(_run(installation, variables, forks))


async def _run(
    installation: Installation, variables: Mapping[str, str], forks: Mapping[str, WaitingProcess]
) -> None:
    stop = stop_event(signal.SIGHUP)
    names = host_names(variables, "EXTERNAL_HOST")
    with ExitStack() as listening:
        installation, sockets = open_ports(installation)
        for program_sockets in sockets.values():
            for sock in program_sockets:
                listening.enter_context(sock)
        if installation.makes_certificate:
            _own_certificate(installation, names)
        programs = plan(installation, read_or_create_secrets(installation.data_dir), variables)
        children = [
            Child(program, [sock.fileno() for sock in sockets[program.name]], forks.get(program.name))
            for program in programs
        ]
        try:
            await until_first_ends(stop.wait(), _serve(children, installation, names))
            _print("Stopping: requests in progress may finish.")
        except StartError as fault:
            raise ConfigError(f"could not start: {fault}") from None
        finally:
            # Close the ports first, so that new clients do not wait for a program that is stopping.
            listening.close()
            await stop_all(children)
    _print(f"Stopped. Everything is kept in {installation.data_dir}.")


async def _serve(children: Sequence[Child], installation: Installation, names: Sequence[str]) -> None:
    starting = await start_all(children)
    # The chat server has already stored the invite code.
    invite = shown_code(installation.data_dir)
    own = _own_certificate(installation, names) if installation.makes_certificate else ""
    listen_address = ListenAddress(installation.host, installation.port, installation.tls, names, own)
    for line in greeting(listen_address, invite, interface_addresses()):
        _print(line)
    if sys.stdout.isatty():
        for line in code_for_phones(listen_address, invite, interface_addresses()):
            _print(line)
    if starting:
        _print("Still looking for our address on the internet; calls nearby work.")
    duties = [child.keep_running() for child in children]
    if own:
        duties.append(_renew(installation, names, own))
    await asyncio.gather(*duties)


def _own_certificate(installation: Installation, names: Sequence[str]) -> str:
    """Create a self-signed certificate unless the stored one is suitable. Return its fingerprint. Raises
    ConfigError.
    """
    # Imported only here, because the certificate library takes as long to load as everything else combined.
    from svc.tools.certificate import fingerprint, hosts_of, read_or_create_certificate

    lasting, passing = hosts_of(installation.host, names, interface_addresses(), socket.gethostname())
    return fingerprint(
        read_or_create_certificate(installation.data_dir, lasting, datetime.now(UTC), passing=passing)
    )


async def _renew(installation: Installation, names: Sequence[str], known: str) -> None:
    """Renew the certificate before it expires, and when this machine gets a new address."""
    while True:
        await asyncio.sleep(RENEWAL_INTERVAL_S)
        try:
            present = _own_certificate(installation, names)
        except ConfigError as fault:
            logger.error("creating a certificate failed", extra={"fault": str(fault)})
            continue
        if present != known:
            known = present
            _print(f"The certificate was renewed; each browser warns once again. SHA-256: {present}")


def plan(installation: Installation, secrets: Secrets, variables: Mapping[str, str]) -> list[Program]:
    """Return the programs, each with its own environment."""
    system = {name: value for name, value in variables.items() if is_harmless(name)}
    sfu = {"DEBUG": "false"} | {name: variables[name] for name in _FOR_SFU if name in variables}
    sfu |= {"SFU_PORT": str(installation.sfu_port), "ICE_UDP_MUX_PORT": str(installation.udp_port)}
    worker_address = ("127.0.0.1", installation.worker_port)
    both = {"STORAGE_BACKEND": "filesystem"} | {
        name: variables[name] for name in _FOR_BOTH if name in variables
    }
    both |= {
        "DATA_DIR": str(installation.data_dir),
        "IMAGE_WORKER_URL": f"http://127.0.0.1:{installation.worker_port}",
    }
    chat = _AT_HOME | {name: variables[name] for name in _FOR_CHAT if name in variables}
    chat |= both | {
        "HOST": installation.host,
        "PORT": str(installation.port),
        "JWT_SECRET": secrets.jwt_secret,
        "SERVER_ID": secrets.server_id,
        "SERVER_PASSWORD": secrets.server_password,
        "SFU_WS_HOST": f"127.0.0.1:{installation.sfu_port}",
    }
    page = (reachable(installation.host), installation.port)
    return [
        Program("sfu", ("sfu", "--host", "127.0.0.1"), system | sfu, ("127.0.0.1", installation.sfu_port)),
        Program(
            "chat",
            ("chat", "--worker-on-demand", *_tls_flags(installation)),
            system | chat,
            page,
            secure=installation.tls,
        ),
        Program(
            "worker",
            ("worker", f"--idle-exit={WORKER_IDLE_EXIT_S}"),
            system | both,
            worker_address,
            on_demand=True,
        ),
    ]


def _tls_flags(installation: Installation) -> list[str]:
    if not installation.tls:
        return []
    from svc.tools.certificate import FILE_NAME

    certificate = installation.tls_certificate or installation.data_dir / FILE_NAME
    key = ["--tls-key", str(installation.tls_key)] if installation.tls_key else []
    return ["--tls-cert", str(certificate), *key]


def open_ports(installation: Installation) -> tuple[Installation, dict[str, list[socket.socket]]]:
    """Open the programs' listening sockets. Return the sockets by program, with the assigned ports.

    This process keeps the sockets open while a program restarts. No other program can take a port, and new
    clients merely wait. On failure, raises a ConfigError that names the flag.
    """
    wanted = [
        ("sfu", "--sfu-port", "127.0.0.1", installation.sfu_port),
        ("chat", "--port", installation.host, installation.port),
        ("worker", "", "127.0.0.1", installation.worker_port),
    ]
    sockets: dict[str, list[socket.socket]] = {}
    with ExitStack() as undo:
        for program, flag, host, port in wanted:
            try:
                sockets[program] = bound(host, port)
            except OSError as fault:
                if fault.errno == errno.EADDRINUSE:
                    raise ConfigError(_port_in_use_message(port, flag)) from None
                raise ConfigError(f"--host {host} cannot be used: {fault.strerror or fault}") from None
            for sock in sockets[program]:
                undo.enter_context(sock)
        _refuse_held_udp_port(installation.udp_port)
        undo.pop_all()
    ports = {program: bound_sockets[0].getsockname()[1] for program, bound_sockets in sockets.items()}
    chosen = replace(installation, port=ports["chat"], sfu_port=ports["sfu"], worker_port=ports["worker"])
    return chosen, sockets


def _refuse_held_udp_port(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            raise ConfigError(_port_in_use_message(port, "--udp-port")) from None


def _port_in_use_message(port: int, flag: str) -> str:
    return f"Port {port} is already in use by another program. Choose another one with {flag}."


def _print(line: str) -> None:
    """Print a line in a single write, because the children may be writing log lines to the same stream."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
