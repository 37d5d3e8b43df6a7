"""Defines the command line of `svc bench`: the service and its load. The wheel build also reads this file."""

import argparse
import os
import sys
from pathlib import Path

from svc.base.config_parsing import ConfigError
from svc.tools.argument_types import count

# The number of rates that `svc bench --plot` measures, up to the given rate.
PLOTTED_RATES = 8


def add(parser: argparse.ArgumentParser) -> None:
    services = parser.add_subparsers(dest="bench_command", required=True, metavar="SERVICE")
    sfu = services.add_parser(
        "sfu", help="the media service: packets per second, loss, latency, CPU per forwarded packet"
    )
    sfu.add_argument(
        "--publishers", type=count, default=1, metavar="P", help="publishers, who also receive each other"
    )
    sfu.add_argument("--receivers", type=int, default=10, metavar="R", help="clients that only receive")
    sfu.add_argument(
        "--pps",
        type=_rates,
        default=[300],
        metavar="N[,N...]",
        help="packets per second of each publisher; several values are measured in turn",
    )
    sfu.add_argument(
        "--size", type=count, default=1100, metavar="BYTES", help="size of an RTP packet, with its header"
    )
    sfu.add_argument("--seconds", type=float, default=8.0, metavar="S", help="length of each measurement")
    sfu.add_argument("--burst", type=count, default=1, metavar="K", help="packets sent at once")
    sfu.add_argument(
        "--loss",
        type=float,
        default=0.0,
        metavar="PERCENT",
        help="share of packets that clients discard and request again",
    )
    sfu.add_argument("--audio", action="store_true", help="Opus instead of VP8")
    sfu.add_argument("--url", metavar="ws://HOST:PORT", help="a running service; default: start one")
    sfu.add_argument("--pid", type=count, help="process to measure CPU time and memory of, with --url")
    sfu.add_argument("--json", action="store_true", help="print a JSON line for each measurement")
    sfu.add_argument("--plot", type=Path, metavar="FILE.png|FILE.svg", help="latency against load")
    sfu.set_defaults(run=_run_sfu)
    _add_chat(services.add_parser("chat", help="the chat server: messages per second, CPU, latency, memory"))
    _add_attack(services.add_parser("attack", help="attack an instance and measure what its members notice"))
    outages = services.add_parser("outages", help="measure how soon a call recovers from network outages")
    outages.add_argument(
        "outages", nargs=argparse.REMAINDER, help="see `python -m benchmarks.outages --help`"
    )
    outages.set_defaults(run=_run_outages)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--members", type=count, default=200, metavar="M", help="members who join, each with a socket"
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=50.0,
        metavar="N",
        help="messages per second; 0: as many as the server accepts",
    )
    parser.add_argument(
        "--writers",
        type=count,
        default=1,
        metavar="W",
        help="members who write at the same time, with --rate 0",
    )
    parser.add_argument("--size", type=count, default=400, metavar="CHARACTERS", help="size of a message")
    parser.add_argument("--seconds", type=float, default=8.0, metavar="S", help="length of the measurement")
    parser.add_argument("--url", metavar="http://HOST:PORT", help="a running server; default: start one")
    parser.add_argument("--invite", default="", metavar="CODE", help="invite to join with, with --url")
    parser.add_argument("--pid", type=count, help="process to measure CPU time and memory of, with --url")
    parser.add_argument("--json", action="store_true", help="print a JSON line")
    parser.set_defaults(run=_run_chat)


def _add_attack(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "attacks", nargs="*", metavar="ATTACK", help="default: all, one after another and then together"
    )
    parser.add_argument("--list", action="store_true", help="list the attacks and exit")
    parser.add_argument("--together", action="store_true", help="run them only all at once, not one by one")
    parser.add_argument("--members", type=count, default=200, metavar="M", help="honest members")
    parser.add_argument(
        "--rate", type=float, default=50.0, metavar="N", help="messages per second of all members together"
    )
    parser.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="length of each attack, at most 30"
    )
    parser.add_argument("--url", metavar="http://HOST:PORT", help="your own instance; default: start one")
    parser.add_argument("--mine", action="store_true", help="confirm that --url, a public address, is yours")
    parser.add_argument("--invite", default="", metavar="CODE", help="invite to join with, with --url")
    parser.add_argument("--webhook", default="", metavar="URL", help="webhook to flood, with --url")
    parser.add_argument(
        "--sfu", default="", metavar="http://HOST:PORT", help="address of the SFU, with --url"
    )
    parser.add_argument("--pid", type=count, help="process to measure memory of, with --url")
    parser.add_argument(
        "--tls-cert", type=Path, metavar="FILE", help="certificate and key for the instance that it starts"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON line for each attack")
    parser.set_defaults(run=_run_attack)


def _run_sfu(options: argparse.Namespace) -> None:
    from svc.tools.bench import sfu
    from svc.tools.bench.scenario import Scenario

    scenario = Scenario(
        options.publishers, options.receivers, options.size, options.burst, options.audio, options.loss / 100
    )
    rates = options.pps
    if options.plot and len(rates) == 1:
        rates = [rates[0] * step // PLOTTED_RATES for step in range(1, PLOTTED_RATES + 1)]
    means = sfu.Options(rates, options.seconds, options.url, options.pid, options.json, options.plot)
    sfu.run(scenario, means)


def _run_chat(options: argparse.Namespace) -> None:
    from svc.tools.bench import chat

    scenario = chat.Scenario(options.members, options.rate, options.writers, options.size, options.seconds)
    chat.run(scenario, chat.Options(options.url, options.invite, options.pid, options.json))


def _run_attack(options: argparse.Namespace) -> None:
    from svc.tools.bench.attack import catalogue, runner

    if options.list:
        for attack in catalogue.ATTACKS:
            print(f"{attack.name:<18}{attack.what}")
        return
    plan = runner.Plan(options.attacks, options.members, options.rate, options.seconds, options.together)
    means = runner.Options(
        options.url,
        options.invite,
        options.webhook,
        options.sfu,
        options.pid,
        options.mine,
        options.tls_cert,
        options.json,
    )
    runner.run(plan, means)


def _run_outages(options: argparse.Namespace) -> None:
    """Measure outages with the test suite's browsers and networks, which exist only in a checkout."""
    checkout = Path(__file__).parents[4]
    if not (checkout / "benchmarks" / "outages.py").exists():
        raise ConfigError(
            "svc bench outages runs in a checkout of the source, with its test tools (make dev)"
        )
    os.chdir(checkout)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks.outages", *options.outages])


def _rates(text: str) -> list[int]:
    return [count(word) for word in text.split(",")]
