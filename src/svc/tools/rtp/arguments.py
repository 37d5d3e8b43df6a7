"""Defines the command line of `svc rtp`. The wheel build also reads this file."""

import argparse
import sys
from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="rtp_command", required=True, metavar="COMMAND")
    inspect = commands.add_parser("inspect", help="one line for each packet")
    inspect.add_argument("file", type=Path, metavar="FILE.rtpdump")
    _add_descriptor_id(inspect, required=False)
    inspect.add_argument("--json", action="store_true", help="JSON lines instead of a table")
    inspect.set_defaults(run=_run_inspect)

    filter_ = commands.add_parser("filter", help="write the stream as a receiver of fewer layers gets it")
    filter_.add_argument("input", type=Path, metavar="IN")
    filter_.add_argument("output", type=Path, metavar="OUT")
    _add_descriptor_id(filter_, required=True)
    filter_.add_argument(
        "--max-temporal-layer", type=_layer, required=True, metavar="K", help="highest layer; -1 for all"
    )
    filter_.add_argument(
        "--max-spatial-layer",
        type=_layer,
        default=-1,
        metavar="S",
        help="highest layer; default: -1, for all",
    )
    filter_.add_argument(
        "--switch",
        type=_switch,
        action="append",
        default=[],
        metavar="T_MS:K",
        help="limit temporal layers to K from this time on; may be repeated",
    )
    filter_.add_argument("--ssrc", type=int, help="the stream, if the file has several")
    filter_.set_defaults(run=_run_filter)

    plot = commands.add_parser("plot", help="draw frames by layer, keyframes, losses and bitrate")
    plot.add_argument("file", type=Path, metavar="FILE.rtpdump")
    plot.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.png|FILE.svg")
    _add_descriptor_id(plot, required=False)
    plot.add_argument("--ssrc", type=int, help="the stream, if the file has several")
    plot.set_defaults(run=_run_plot)


def _add_descriptor_id(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--dd-id",
        type=_extension_id,
        required=required,
        metavar="N",
        help="negotiated extension id of the Dependency Descriptor",
    )


def _run_inspect(options: argparse.Namespace) -> None:
    from svc.tools.rtp import inspect, packets

    records = packets.load(options.file)
    lines = inspect.json_lines if options.json else inspect.table
    for line in lines(records, options.dd_id):
        print(line)


def _run_filter(options: argparse.Namespace) -> None:
    from svc.tools.rtp import filter as rtp_filter
    from svc.tools.rtp import packets

    outcome = rtp_filter.filter_records(
        packets.load(options.input),
        descriptor_id=options.dd_id,
        layer=options.max_temporal_layer,
        spatial_layer=options.max_spatial_layer,
        switches=[
            rtp_filter.Switch(at_ms, layer, options.max_spatial_layer) for at_ms, layer in options.switch
        ],
        ssrc=options.ssrc,
    )
    packets.save(options.output, outcome.records)
    print(outcome, file=sys.stderr)


def _run_plot(options: argparse.Namespace) -> None:
    from svc.tools.rtp import packets, plot

    plot.draw(packets.load(options.file), options.dd_id, options.output, options.ssrc)


def _extension_id(text: str) -> int:
    """Parse an extension id: 1 to 14 in the one-byte form, 1 to 255 in the two-byte form (RFC 8285)."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 255:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not an extension id (1 to 255)")


def _layer(text: str) -> int:
    if text == "-1" or (text.isascii() and text.isdigit() and int(text) <= 7):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a layer (0 to 7, or -1 for all)")


def _switch(text: str) -> tuple[int, int]:
    at_ms, colon, layer = text.partition(":")
    if colon and at_ms.isascii() and at_ms.isdigit():
        return int(at_ms), _layer(layer)
    raise argparse.ArgumentTypeError(f"{text!r} is not like 1500:0 (milliseconds, temporal layer)")
