"""The `svc` command: reads the command line, and starts the program it names.

The only place that reads the process's environment and knows all programs; each is
imported when it is needed. What the operator got wrong is one line and exit status 2.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from svc.base.config import ConfigError
from svc.tools.bench.errors import BenchError
from svc.tools.rtpdump import RtpdumpError

# How many rates `svc bench --plot` measures, up to the one that is given.
PLOTTED_RATES = 8


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (BenchError, ConfigError, RtpdumpError) as problem:
        print(f"svc {options.command}: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read our output has seen enough. Nothing is to be flushed into the pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="svc", description="Community chat with voice and video.")
    parser.add_argument("--version", action="version", version=f"svc {version('svc-server')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", help="everything in one command, for a home or a try-out"))
    _add_chat(commands.add_parser("chat", help="the chat server, configured by environment variables"))
    _add_admin(commands.add_parser("admin", help="look after a server, whether it runs or not"))
    _add_sfu(commands.add_parser("sfu", help="the media service, configured by environment variables"))
    _add_rtp(
        commands.add_parser("rtp", help="look at captures of RTP, and send them through the media service")
    )
    _add_bench(commands.add_parser("bench", help="measure what a service does under load"))
    return parser


def _add_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="where secrets and data are kept")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets other machines in")
    parser.add_argument("--port", type=_port, default=5000, help="of the page and everything it needs")
    parser.add_argument("--sfu-port", type=_port, default=5005, help="between our two programs")
    parser.add_argument("--udp-port", type=_port, default=3478, help="of all sound and picture")
    parser.set_defaults(run=_run_up)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    _add_end_with_parent(parser)
    parser.set_defaults(run=_run_chat)


def _add_admin(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data-dir", type=Path, default=Path("data"), help="that of the server")
    common.add_argument("--json", action="store_true", help="one line of JSON")
    whats = parser.add_subparsers(dest="admin_command", required=True, metavar="WHAT")

    def add(what: str, **actions: str) -> dict[str, argparse.ArgumentParser]:
        rows = whats.add_parser(what).add_subparsers(dest="admin_action", required=True, metavar="ACTION")
        return {
            action: rows.add_parser(action, help=help, parents=[common]) for action, help in actions.items()
        }

    settings = add("settings", get="show all", set="change one")
    settings["set"].add_argument("name", metavar="NAME")
    settings["set"].add_argument("value", metavar="VALUE")
    invite = add("invite", create="print a new code", revoke="let nobody in by it any more")
    invite["create"].add_argument("--role", help="what it makes of who joins; a member by default")
    invite["create"].add_argument("--uses", type=int, help="how often it is good; always by default")
    invite["create"].add_argument("--hours", type=int, help="for how long; for ever by default")
    invite["revoke"].add_argument("invite_id", metavar="ID")
    add("member", list="everybody, and their roles")
    parser.set_defaults(run=_run_admin)


def _add_sfu(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address for HTTP and WebSockets; all by default")
    parser.add_argument(
        "--udp-address", action="append", help="address for media, may be repeated; all by default"
    )
    parser.add_argument(
        "--control-from-anywhere",
        action="store_true",
        help="accept chat servers from public addresses too",
    )
    _add_end_with_parent(parser)
    parser.set_defaults(run=_run_sfu)


def _add_rtp(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="rtp_command", required=True, metavar="COMMAND")
    inspect = commands.add_parser("inspect", help="one line for each packet")
    inspect.add_argument("file", type=Path, metavar="FILE.rtpdump")
    _add_descriptor_id(inspect, required=False)
    inspect.add_argument("--json", action="store_true", help="JSON lines instead of a table")
    inspect.set_defaults(run=_run_rtp_inspect)

    filter_ = commands.add_parser("filter", help="what a receiver of fewer temporal layers would be sent")
    filter_.add_argument("input", type=Path, metavar="IN")
    filter_.add_argument("output", type=Path, metavar="OUT")
    _add_descriptor_id(filter_, required=True)
    filter_.add_argument("--max-temporal-layer", type=_layer, required=True, metavar="K", help="-1 for all")
    filter_.add_argument(
        "--switch",
        type=_switch,
        action="append",
        default=[],
        metavar="T_MS:K",
        help="from this time on layers up to K; may be repeated",
    )
    filter_.add_argument("--ssrc", type=int, help="the stream, where the file has several")
    filter_.set_defaults(run=_run_rtp_filter)

    plot = commands.add_parser("plot", help="a picture: frames by layer, keyframes, losses, bitrate")
    plot.add_argument("file", type=Path, metavar="FILE.rtpdump")
    plot.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.png|FILE.svg")
    _add_descriptor_id(plot, required=False)
    plot.add_argument("--ssrc", type=int, help="the stream, where the file has several")
    plot.set_defaults(run=_run_rtp_plot)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    services = parser.add_subparsers(dest="bench_command", required=True, metavar="SERVICE")
    sfu = services.add_parser(
        "sfu", help="the media service: packets a second, loss, latency, CPU per forwarded packet"
    )
    sfu.add_argument("--publishers", type=_count, default=1, metavar="P", help="who receive each other too")
    sfu.add_argument("--receivers", type=int, default=10, metavar="R", help="who only receive")
    sfu.add_argument(
        "--pps",
        type=_rates,
        default=[300],
        metavar="N[,N...]",
        help="packets a second of each publisher; several are measured one after another",
    )
    sfu.add_argument(
        "--size", type=_count, default=1100, metavar="BYTES", help="of an RTP packet, header included"
    )
    sfu.add_argument("--seconds", type=float, default=8.0, metavar="S", help="of each measurement")
    sfu.add_argument("--burst", type=_count, default=1, metavar="K", help="packets sent at once")
    sfu.add_argument("--audio", action="store_true", help="Opus instead of VP8")
    sfu.add_argument("--url", metavar="ws://HOST:PORT", help="a running service; by default one of our own")
    sfu.add_argument("--pid", type=_count, help="whose CPU time and memory to look at, with --url")
    sfu.add_argument("--json", action="store_true", help="a JSON line for each measurement")
    sfu.add_argument("--plot", type=Path, metavar="FILE.png|FILE.svg", help="latency against load")
    sfu.set_defaults(run=_run_bench_sfu)
    _add_bench_chat(
        services.add_parser("chat", help="the chat server: messages a second, CPU, latency, memory")
    )


def _add_bench_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--members", type=_count, default=200, metavar="M", help="who join, each on a socket")
    parser.add_argument(
        "--rate",
        type=float,
        default=50.0,
        metavar="N",
        help="messages a second; 0: as many as are accepted",
    )
    parser.add_argument(
        "--writers", type=_count, default=1, metavar="W", help="who write at the same time, with --rate 0"
    )
    parser.add_argument("--size", type=_count, default=400, metavar="CHARACTERS", help="of a message")
    parser.add_argument("--seconds", type=float, default=8.0, metavar="S", help="of the measurement")
    parser.add_argument("--url", metavar="http://HOST:PORT", help="a running server; default: one of our own")
    parser.add_argument("--invite", default="", metavar="CODE", help="to join with, with --url")
    parser.add_argument("--pid", type=_count, help="whose CPU time and memory to look at, with --url")
    parser.add_argument("--json", action="store_true", help="a JSON line")
    parser.set_defaults(run=_run_bench_chat)


def _add_descriptor_id(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--dd-id",
        type=_extension_id,
        required=required,
        metavar="N",
        help="negotiated extension id of the Dependency Descriptor",
    )


def _add_end_with_parent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--end-with-parent", action="store_true", help="stop when standard input is closed")


def _run_up(options: argparse.Namespace) -> None:
    from svc.tools import up

    installation = up.Installation(
        options.data_dir, options.host, options.port, options.sfu_port, options.udp_port
    )
    up.run(installation, os.environ)


def _run_chat(options: argparse.Namespace) -> None:
    from svc.chat import app, config

    _watch_parent(options)
    app.run(config.read(os.environ))


def _run_admin(options: argparse.Namespace) -> None:
    from svc.tools.admin import arguments_of, run

    run(options.data_dir, *arguments_of(options), as_json=options.json)


def _run_sfu(options: argparse.Namespace) -> None:
    from svc.sfu.app import Flags, run
    from svc.sfu.config import Config

    _watch_parent(options)
    flags = Flags(host=options.host, control_from_anywhere=options.control_from_anywhere)
    if options.udp_address:
        flags = Flags(options.host, tuple(options.udp_address), options.control_from_anywhere)
    run(Config.read(os.environ), flags)


def _run_rtp_inspect(options: argparse.Namespace) -> None:
    from svc.tools.rtp import inspect, packets

    records = packets.load(options.file)
    lines = inspect.json_lines if options.json else inspect.table
    for line in lines(records, options.dd_id):
        print(line)


def _run_rtp_filter(options: argparse.Namespace) -> None:
    from svc.tools.rtp import filter as rtp_filter
    from svc.tools.rtp import packets

    outcome = rtp_filter.filter_records(
        packets.load(options.input),
        descriptor_id=options.dd_id,
        layer=options.max_temporal_layer,
        switches=[rtp_filter.Switch(at_ms, layer) for at_ms, layer in options.switch],
        ssrc=options.ssrc,
    )
    packets.save(options.output, outcome.records)
    print(outcome, file=sys.stderr)


def _run_rtp_plot(options: argparse.Namespace) -> None:
    from svc.tools.rtp import packets, plot

    plot.draw(packets.load(options.file), options.dd_id, options.output, options.ssrc)


def _run_bench_sfu(options: argparse.Namespace) -> None:
    from svc.tools.bench import sfu
    from svc.tools.bench.scenario import Scenario

    scenario = Scenario(options.publishers, options.receivers, options.size, options.burst, options.audio)
    rates = options.pps
    if options.plot and len(rates) == 1:
        rates = [rates[0] * step // PLOTTED_RATES for step in range(1, PLOTTED_RATES + 1)]
    means = sfu.Means(rates, options.seconds, options.url, options.pid, options.json, options.plot)
    sfu.run(scenario, means)


def _run_bench_chat(options: argparse.Namespace) -> None:
    from svc.tools.bench import chat

    scenario = chat.Scenario(options.members, options.rate, options.writers, options.size, options.seconds)
    chat.run(scenario, chat.Means(options.url, options.invite, options.pid, options.json))


def _watch_parent(options: argparse.Namespace) -> None:
    if options.end_with_parent:
        from svc.tools.parent import end_with_parent

        end_with_parent()


def _port(text: str) -> int:
    """0 lets the system choose."""
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 2**31:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")


def _rates(text: str) -> list[int]:
    return [_count(word) for word in text.split(",")]


def _extension_id(text: str) -> int:
    """RFC 8285: 1 to 14 in the one-byte form, 1 to 255 in the other."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 255:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not an extension id (1 to 255)")


def _layer(text: str) -> int:
    if text == "-1" or (text.isascii() and text.isdigit() and int(text) <= 7):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a temporal layer (0 to 7, or -1 for all)")


def _switch(text: str) -> tuple[int, int]:
    at_ms, colon, layer = text.partition(":")
    if colon and at_ms.isascii() and at_ms.isdigit():
        return int(at_ms), _layer(layer)
    raise argparse.ArgumentTypeError(f"{text!r} is not like 1500:0 (milliseconds, temporal layer)")


if __name__ == "__main__":
    sys.exit(main())
