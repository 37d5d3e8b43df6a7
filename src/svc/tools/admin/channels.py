"""`svc admin channel`: text and voice channels, and categories."""

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Iterator
from dataclasses import fields
from typing import get_type_hints

from svc.chat.access.channel_properties import ChannelProperties
from svc.tools.admin.action import Action, Result, or_none

_TYPES = ("text", "voice", "category")
# Units that end a property's name, and the placeholders for their values in the help text.
_UNITS = {"s": "SECONDS", "kbps": "KBPS"}


def _add_channel_argument(parser: ArgumentParser) -> None:
    parser.add_argument("channel", metavar="CHANNEL", help="id, or the name if only one has it")


def _add_archived_option(parser: ArgumentParser) -> None:
    parser.add_argument("--archived", action="store_true", help="include archived channels")


def _properties(parser: ArgumentParser) -> None:
    parser.add_argument("--category", metavar="NAME", help="category of the channel; '' for none")
    for name, kind in get_type_hints(ChannelProperties, include_extras=True).items():
        words, [about] = name.split("_"), kind.__metadata__
        unit = _UNITS.get(words[-1])
        flag = "-".join(["-", *words[:-1]] if unit else ["-", *words])
        text = about.description[0].lower() + about.description[1:]
        if kind.__origin__ is bool:
            parser.add_argument(flag, dest=name, help=text, action=BooleanOptionalAction)
        else:
            parser.add_argument(flag, dest=name, help=text, type=kind.__origin__, metavar=unit)


def _new(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--type", choices=_TYPES, default=_TYPES[0], help="text by default")
    _properties(parser)


def _differences(parser: ArgumentParser) -> None:
    _add_channel_argument(parser)
    parser.add_argument("--name", help="new name")
    parser.add_argument(
        "--archived",
        action=BooleanOptionalAction,
        help="make it read-only and hide it from the list, or undo that",
    )
    _properties(parser)


def _given_properties(options: Namespace) -> dict[str, object]:
    names = ("name", "category", *(field.name for field in fields(ChannelProperties)))
    return {name: getattr(options, name) for name in names}


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
        _add_archived_option,
        lambda options: {"archived": options.archived},
        or_none("channels", _line, "There are no channels."),
    ),
    Action(
        "create",
        "create a channel at the end of the list",
        "channel_create",
        _new,
        lambda options: {"type": options.type, **_given_properties(options)},
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
            **_given_properties(options),
        },
        _one,
    ),
    Action(
        "delete",
        "delete a channel and everything in it",
        "channel_delete",
        _add_channel_argument,
        lambda options: {"channel": options.channel},
    ),
)
