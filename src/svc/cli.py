"""Implements the `svc` command: reads the command line and starts the requested program.

This is the only module that reads the process's environment and refers to all programs. Each program is
imported, with its options, only when needed. Operator errors are reported on one line, with exit status 2.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from svc.base.config_parsing import ConfigError, cluster_library
from svc.tools.argument_types import port, workers
from svc.tools.bench.errors import BenchError
from svc.tools.rtpdump import RtpdumpError

if TYPE_CHECKING:
    from svc.chat.config import ChatConfig
    from svc.chat.http_port import Flags as ChatFlags

# Commands that create files readable only by their owner. Other commands, which write captures and plots,
# keep the user's umask.
_KEEP_SECRETS = frozenset({"up", "chat", "relay", "admin", "sfu", "worker"})


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    command = arguments[0] if arguments else ""
    if command == "admin":
        from svc.tools.admin.arguments import with_action

        arguments = [command, *with_action(arguments[1:])]
    options = parser(command).parse_args(arguments)
    if options.command in _KEEP_SECRETS:
        os.umask(0o077)
    try:
        return options.run(options) or 0
    except (BenchError, ConfigError, RtpdumpError) as problem:
        print(f"svc {options.command}: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The program that reads our output has closed the pipe, so Python must not flush to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def parser(command: str = "") -> argparse.ArgumentParser:
    """Build the command line. The wheel build also derives shell completion and the manual page from it.

    If `command` is given, only that command gets its options, because adding the options of all commands is
    slow.
    """
    parser = argparse.ArgumentParser(prog="svc", description="Community chat with voice and video.")
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (help, add_options) in _COMMANDS.items():
        row = commands.add_parser(name, help=help)
        if command == name or command not in _COMMANDS:
            add_options(row)
    return parser


class _Version(argparse.Action):
    """An option that looks the version up only when it is used, because the lookup is slow and fails while
    the wheel is built.
    """

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"svc {version('svc-server')}")
        parser.exit()


def _add_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="folder for secrets and data")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 accepts other machines"
    )
    parser.add_argument("--port", type=port, default=5000, help="port for the page")
    parser.add_argument(
        "--sfu-port", type=port, default=5005, help="port between the chat server and the media service"
    )
    parser.add_argument("--udp-port", type=port, default=3478, help="port for all audio and video")
    parser.add_argument(
        "--tls",
        action="store_true",
        help="serve HTTPS, with a generated certificate unless --tls-cert names one",
    )
    parser.add_argument(
        "--cluster-demo",
        action="store_true",
        help="run three NATS servers, three chat nodes, a relay and an SFU on this machine, to try takeovers",
    )
    _add_tls(parser)
    parser.set_defaults(run=_run_up)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--admin-host",
        default="127.0.0.1",
        help="address of the management listener; change it in containers only",
    )
    parser.add_argument(
        "--worker-on-demand",
        action="store_true",
        help="request IMAGE_WORKER_URL only when there are jobs; the request starts the worker",
    )
    _add_tls(parser)
    _add_listen_fd(parser, "of the port")
    _add_end_with_parent(parser)
    _add_cluster(parser)
    parser.set_defaults(run=_run_chat)


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("cluster", "one community on several machines: docs/cluster.md")
    options.add_argument("--cluster", metavar="URLS", help="NATS servers, nats://host:4222,…; or SVC_CLUSTER")
    options.add_argument("--node", metavar="NAME", help="name of this node, different on each")
    options.add_argument("--cluster-name", default="svc", metavar="NAME", help="name of the log in NATS")
    options.add_argument(
        "--node-url", default="", metavar="URL", help="address at which other nodes and relays reach this one"
    )
    options.add_argument(
        "--cluster-lease",
        type=float,
        default=3.0,
        metavar="SECONDS",
        help="silence after which another node takes over from the owner; default: 3",
    )
    options.add_argument(
        "--cluster-replicas", type=int, default=3, metavar="N", help="NATS servers that store each entry"
    )
    options.add_argument(
        "--cluster-check-every",
        type=int,
        default=10_000,
        metavar="N",
        help="log entries between comparisons of the nodes' tables; default: 10,000",
    )
    options.add_argument(
        "--cluster-keep-days",
        type=int,
        default=7,
        metavar="N",
        help="number of days; the community can be restored to any second of them; default: 7",
    )
    options.add_argument(
        "--cluster-snapshot-every",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="time between two snapshots in NATS; default: 3600",
    )
    options.add_argument(
        "--cluster-trust-sync", action="store_true", help="do not check that NATS syncs every write"
    )
    options.add_argument(
        "--cluster-shared-uploads", action="store_true", help="all nodes share one folder for uploads"
    )


def _add_relay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cluster", metavar="URLS", help="NATS servers, nats://host:4222,…; or SVC_CLUSTER")
    parser.add_argument("--name", metavar="NAME", help="name of this relay, different on each")
    parser.add_argument(
        "--cluster-name",
        default="svc",
        metavar="NAME",
        help="name of the log in NATS, as on the nodes; default: svc",
    )
    parser.add_argument("--url", default="", metavar="URL", help="address at which people reach this relay")
    _add_tls(parser)
    _add_listen_fd(parser, "of the port")
    _add_end_with_parent(parser)
    parser.set_defaults(run=_run_relay)


def _add_sfu(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address for HTTP and WebSockets; default: all")
    parser.add_argument(
        "--udp-address", action="append", help="address for media; may be repeated; default: all"
    )
    parser.add_argument(
        "--control-from-anywhere",
        action="store_true",
        help="accept chat servers from public addresses too",
    )
    parser.add_argument(
        "--workers",
        type=workers,
        help="media threads, at most 16; default: one per processor up to 4, if there are three or more",
    )
    _add_listen_fd(parser, "of a port, TCP or UDP")
    parser.add_argument(
        "--handover-socket",
        type=Path,
        metavar="PATH",
        help="Unix socket through which another process can take over the ports",
    )
    parser.add_argument(
        "--take-over", action="store_true", help="take over the ports of the service at --handover-socket"
    )
    _add_end_with_parent(parser)
    parser.set_defaults(run=_run_sfu)


def _add_worker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, help="data folder of the chat server; default: DATA_DIR")
    parser.add_argument("--host", default="127.0.0.1", help="address for health and metrics")
    parser.add_argument(
        "--port",
        type=port,
        help="port for health and metrics; default: that of IMAGE_WORKER_URL; 0 chooses a free port",
    )
    parser.add_argument(
        "--idle-exit", type=float, metavar="SECONDS", help="end after this time without jobs; default: never"
    )
    _add_listen_fd(parser, "of the port")
    _add_end_with_parent(parser)
    parser.set_defaults(run=_run_worker)


def _add_admin(parser: argparse.ArgumentParser) -> None:
    from svc.tools.admin import arguments

    arguments.add(parser, variables=os.environ)


def _add_rtp(parser: argparse.ArgumentParser) -> None:
    from svc.tools.rtp import arguments

    arguments.add(parser)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    from svc.tools.bench import arguments

    arguments.add(parser)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="data folder of the server")
    parser.add_argument(
        "--port", type=port, help="port of the chat server if it is not running; default: 5000"
    )
    parser.add_argument(
        "--sfu-port", type=port, help="port of the SFU if no server is running; default: 5005"
    )
    parser.add_argument("--udp-port", type=port, help="port of all media if no SFU is running; default: 3478")
    parser.add_argument("--url", default="", help="test the address that people open")
    parser.add_argument(
        "--from",
        dest="seen_from_here",
        default="",
        metavar="URL",
        help="only test a server on another machine, from this machine",
    )
    parser.add_argument("--ca-file", type=Path, metavar="FILE", help="trust these certificates too")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(run=_run_doctor)


def _add_end_with_parent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--end-with-parent", action="store_true", help="stop when standard input is closed")


def _add_tls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tls-cert", type=Path, metavar="FILE", help="certificate chain in PEM; reloaded when it changes"
    )
    parser.add_argument(
        "--tls-key", type=Path, metavar="FILE", help="private key, unless --tls-cert contains it"
    )


def _add_listen_fd(parser: argparse.ArgumentParser, which: str) -> None:
    parser.add_argument(
        "--listen-fd",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help=f"descriptor of an open socket {which}, such as one from systemd (3 and up); may be repeated",
    )


_COMMANDS: Mapping[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "up": ("run all programs with one command, at home or to try svc", _add_up),
    "chat": ("the chat server, configured by environment variables", _add_chat),
    "relay": ("serve the live sockets of a cluster's members", _add_relay),
    "admin": ("manage a server, running or stopped", _add_admin),
    "doctor": ("diagnose this installation", _add_doctor),
    "sfu": ("the media service, configured by environment variables", _add_sfu),
    "worker": ("the media worker, which checks every upload", _add_worker),
    "rtp": ("inspect RTP captures, and send them through the media service", _add_rtp),
    "bench": ("measure a service under load", _add_bench),
}


def _run_up(options: argparse.Namespace) -> None:
    from svc.tools import hidden_environment

    can_fork = hidden_environment.can_fork()
    hidden = hidden_environment.descriptor() if can_fork else -1
    with _to_stay():
        from svc.tools import prefork, up

    if options.tls_key and not options.tls_cert:
        raise ConfigError("--tls-key needs --tls-cert")
    installation = up.Installation(
        options.data_dir,
        options.host,
        options.port,
        options.sfu_port,
        options.udp_port,
        tls=options.tls or options.tls_cert is not None,
        tls_certificate=options.tls_cert,
        tls_key=options.tls_key,
    )
    if options.cluster_demo:
        from svc.tools import cluster_demo

        cluster_demo.run(installation, hidden_environment.read(hidden) if can_fork else os.environ)
    elif can_fork:
        forks = prefork.fork(up.FORKED, hidden, main)
        up.run(installation, hidden_environment.read(hidden), forks)
    else:
        up.run(installation, os.environ)


def _run_chat(options: argparse.Namespace) -> None:
    with _to_stay():
        from svc.chat import app, config
        from svc.chat.http_port import Flags

    _watch_parent(options)
    flags = Flags(options.admin_host, options.tls_cert, options.tls_key, tuple(options.listen_fd))
    settings = config.read(os.environ)
    uploads = replace(settings.uploads, worker_on_demand=options.worker_on_demand)
    settings = replace(settings, uploads=uploads)
    if options.cluster or options.node or os.environ.get("SVC_CLUSTER"):
        _run_node(options, settings, flags)
    else:
        app.run(settings, flags)


def _run_node(options: argparse.Namespace, settings: "ChatConfig", flags: "ChatFlags") -> None:
    with cluster_library("--cluster"):
        from svc.chat.cluster import config, node
    cluster = config.read(
        os.environ,
        cluster=options.cluster,
        node=options.node,
        name=options.cluster_name,
        url=options.node_url,
        lease_s=options.cluster_lease,
        replicas=options.cluster_replicas,
        trust_sync=options.cluster_trust_sync,
        shared_uploads=options.cluster_shared_uploads,
        check_every=options.cluster_check_every,
        snapshot_interval_s=options.cluster_snapshot_every,
        kept_days=options.cluster_keep_days,
    )
    node.run(settings, flags, cluster)


def _run_relay(options: argparse.Namespace) -> None:
    with _to_stay(), cluster_library("a relay"):
        from svc.chat.cluster.relay import app, config
        from svc.chat.http_port import Flags

    _watch_parent(options)
    relay = config.read(
        os.environ,
        cluster=options.cluster,
        relay=options.name,
        name=options.cluster_name,
        url=options.url,
    )
    flags = Flags(
        tls_certificate=options.tls_cert, tls_key=options.tls_key, listen_fds=tuple(options.listen_fd)
    )
    app.run(relay, flags)


def _run_sfu(options: argparse.Namespace) -> None:
    with _to_stay(), _no_authorities():
        from svc.sfu.app import Flags, run
        from svc.sfu.config import Config

    _watch_parent(options)
    flags = Flags(
        options.host,
        tuple(options.udp_address or Flags().udp_addresses),
        options.control_from_anywhere,
        options.workers,
        tuple(options.listen_fd),
        options.handover_socket,
        options.take_over,
    )
    run(Config.read(os.environ), flags)


def _run_worker(options: argparse.Namespace) -> None:
    with _to_stay(), _no_authorities():
        from svc.worker import app, config

    _watch_parent(options)
    app.run(
        config.read(os.environ),
        app.Flags(options.host, options.port, options.data_dir, tuple(options.listen_fd), options.idle_exit),
    )


def _run_doctor(options: argparse.Namespace) -> int:
    from svc.tools.doctor import examination

    target = examination.Target(
        options.data_dir,
        options.port,
        options.sfu_port,
        options.udp_port,
        options.url,
        options.ca_file,
        options.seen_from_here,
    )
    return examination.run(target, os.environ, as_json=options.json)


@contextmanager
def _to_stay() -> Iterator[None]:
    """Collect garbage once after the imports. Collections during the imports would account for a fifth of the
    startup time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@contextmanager
def _no_authorities() -> Iterator[None]:
    """Import aiohttp without loading the system's certificate authorities, which would double the import
    time.

    Only for programs that make no requests with aiohttp.
    """
    kept = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = os.devnull
    try:
        yield
    finally:
        del os.environ["SSL_CERT_FILE"]
        if kept is not None:
            os.environ["SSL_CERT_FILE"] = kept


def _watch_parent(options: argparse.Namespace) -> None:
    if options.end_with_parent:
        from svc.tools.parent_watch import end_with_parent

        end_with_parent()


if __name__ == "__main__":
    sys.exit(main())
