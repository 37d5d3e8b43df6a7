"""`svc admin webhook`: the addresses that post into a channel. Whoever has one can post."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result


def _new(parser: ArgumentParser) -> None:
    parser.add_argument("--channel", required=True, metavar="NAME", help="that it posts into; name or id")
    parser.add_argument("--name", required=True, metavar="NAME", help="under which it posts")


def _id(parser: ArgumentParser) -> None:
    parser.add_argument("webhook_id", metavar="ID")


def _differences(parser: ArgumentParser) -> None:
    _id(parser)
    parser.add_argument("--channel", metavar="NAME", help="another one; '' for none")
    parser.add_argument("--name", metavar="NAME", help="another one")


def _described(options: Namespace) -> dict[str, object]:
    return {"channel": options.channel, "name": options.name}


def _changed(options: Namespace) -> dict[str, object]:
    return {"webhook_id": options.webhook_id, **_described(options)}


def _line(webhook: Result) -> str:
    # None where the file that opens the tokens is another than the one they were made with.
    return f"{webhook['webhook_id']}  {webhook['name']}  {webhook['path'] or '(its token cannot be read)'}"


def _one(webhook: Result) -> Iterator[str]:
    yield _line(webhook)


def _lines(answer: Result) -> Iterator[str]:
    yield from map(_line, answer["webhooks"])


ACTIONS = (
    Action("create", "print a new address", "webhook_create", _new, _described, _one),
    Action("list", "all, with their addresses", "webhook_list", shown=_lines),
    Action("edit", "another name or channel", "webhook_edit", _differences, _changed, _one),
    Action(
        "delete",
        "its address is worthless at once",
        "webhook_delete",
        _id,
        lambda o: {"webhook_id": o.webhook_id},
    ),
)
