"""`svc admin webhook`: URLs that post into a channel. Anyone with the URL can post."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result, or_none


def _new(parser: ArgumentParser) -> None:
    parser.add_argument("--channel", required=True, metavar="NAME", help="channel it posts in; name or id")
    parser.add_argument("--name", required=True, metavar="NAME", help="name it posts under")


def _id(parser: ArgumentParser) -> None:
    parser.add_argument("webhook_id", metavar="ID")


def _differences(parser: ArgumentParser) -> None:
    _id(parser)
    parser.add_argument("--channel", metavar="NAME", help="new channel; '' for none")
    parser.add_argument("--name", metavar="NAME", help="new name")


def _properties(options: Namespace) -> dict[str, object]:
    return {"channel": options.channel, "name": options.name}


def _changes(options: Namespace) -> dict[str, object]:
    return {"webhook_id": options.webhook_id, **_properties(options)}


def _line(webhook: Result) -> str:
    # The URL is None if the webhook was created with a different token key.
    return f"{webhook['webhook_id']}  {webhook['name']}  {webhook['url'] or '(its token cannot be read)'}"


def _one(webhook: Result) -> Iterator[str]:
    yield _line(webhook)


def _with_url(webhook: Result, base: str) -> Result:
    return {**webhook, "url": webhook["path"] and base + webhook["path"]}


def _with_urls(answer: Result, base: str) -> Result:
    return {**answer, "webhooks": [_with_url(webhook, base) for webhook in answer["webhooks"]]}


ACTIONS = (
    Action("create", "create a webhook, print its URL", "webhook_create", _new, _properties, _one, _with_url),
    Action(
        "list",
        "list webhooks with their URLs",
        "webhook_list",
        shown=or_none("webhooks", _line, "There are no webhooks."),
        linked=_with_urls,
    ),
    Action("edit", "change the name or the channel", "webhook_edit", _differences, _changes, _one, _with_url),
    Action(
        "delete",
        "delete a webhook; its URL stops working at once",
        "webhook_delete",
        _id,
        lambda o: {"webhook_id": o.webhook_id},
    ),
)
