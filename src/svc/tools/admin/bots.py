"""`svc admin bot`: accounts for programs. Anyone who has a bot's token can do everything that the bot may."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result, or_none


def _name(parser: ArgumentParser) -> None:
    parser.add_argument("nickname", metavar="NAME")


def _bot(parser: ArgumentParser) -> None:
    parser.add_argument("bot", metavar="BOT", help="id, or the name if only one has it")


def _bot_argument(options: Namespace) -> dict[str, object]:
    return {"bot": options.bot}


def _line(bot: Result) -> str:
    member = bot["member"]
    without = "" if bot["has_token"] else "  (no token)"
    return f"{member['id']}  {member['nickname']}  {', '.join(member['roles'])}{without}"


def _token(made: Result) -> Iterator[str]:
    yield made["token"]


ACTIONS = (
    Action(
        "list", "list bots and their roles", "bot_list", shown=or_none("bots", _line, "There are no bots.")
    ),
    Action(
        "create",
        "create a bot and print its token",
        "bot_create",
        _name,
        lambda options: {"nickname": options.nickname},
        _token,
    ),
    Action("token", "print a new token; the old one stops working", "bot_token", _bot, _bot_argument, _token),
    Action("delete", "delete a bot; its messages stay", "bot_delete", _bot, _bot_argument),
)
