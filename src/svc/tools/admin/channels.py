"""`svc admin channel`: text and voice channels, and categories."""

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result, or_none

_TYPES = ("text", "voice", "category")


def _which(parser: ArgumentParser) -> None:
    parser.add_argument("channel", metavar="CHANNEL", help="id, or the name if only one has it")


def _which_to_list(parser: ArgumentParser) -> None:
    parser.add_argument("--archived", action="store_true", help="include archived channels")


def _properties(parser: ArgumentParser) -> None:
    parser.add_argument("--topic", help="purpose of the channel, in one line")
    parser.add_argument(
        "--slow-mode", type=int, metavar="SECONDS", help="between two messages of one member; 0 turns it off"
    )
    parser.add_argument("--category", metavar="NAME", help="category of the channel; '' for none")
    parser.add_argument(
        "--user-limit", type=int, metavar="N", help="people in a voice channel; 0 means no limit"
    )
    parser.add_argument(
        "--bitrate",
        type=int,
        metavar="KBPS",
        help="bitrate of each microphone in a voice channel; 0 means no limit",
    )
    parser.add_argument(
        "--encrypted",
        action=BooleanOptionalAction,
        help="encrypt the calls of a voice channel end to end, or undo that",
    )


def _new(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--type", choices=_TYPES, default=_TYPES[0], help="text by default")
    _properties(parser)


def _differences(parser: ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("--name", help="new name")
    parser.add_argument(
        "--archived",
        action=BooleanOptionalAction,
        help="make it read-only and hide it from the list, or undo that",
    )
    _properties(parser)


def _described(options: Namespace) -> dict[str, object]:
    return {
        "name": options.name,
        "topic": options.topic,
        "slow_mode_s": options.slow_mode,
        "category": options.category,
        "user_limit": options.user_limit,
        "bitrate_kbps": options.bitrate,
        "encrypted": options.encrypted,
    }


def _line(channel: Result) -> str:
    topic = f"  {channel['topic']}" if channel["topic"] else ""
    archived = "  (archived)" if channel["archived"] else ""
    return f"{channel['id']}  {channel['type']}  {channel['name']}{topic}{archived}"


def _one(channel: Result) -> Iterator[str]:
    yield _line(channel)


ACTIONS = (
    Action(
        "list",
        "list channels in their order",
        "channel_list",
        _which_to_list,
        lambda options: {"archived": options.archived},
        or_none("channels", _line, "There are no channels."),
    ),
    Action(
        "create",
        "create a channel at the end of the list",
        "channel_create",
        _new,
        lambda options: {"type": options.type, **_described(options)},
        _one,
    ),
    Action(
        "edit",
        "change or archive a channel",
        "channel_edit",
        _differences,
        lambda options: {
            "channel": options.channel,
            "archived": options.archived,
            **_described(options),
        },
        _one,
    ),
    Action(
        "delete",
        "delete a channel and everything in it",
        "channel_delete",
        _which,
        lambda options: {"channel": options.channel},
    ),
)
