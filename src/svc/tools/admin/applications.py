"""`svc admin application`: people who are waiting for approval to join."""

from argparse import ArgumentParser, Namespace

from svc.tools.admin.action import Action, Result, or_none


def _id(parser: ArgumentParser) -> None:
    parser.add_argument("application_id", metavar="ID")


def _id_and_reason(parser: ArgumentParser) -> None:
    _id(parser)
    parser.add_argument("--reason", default="", help="reason to show to the person")


def _application_argument(options: Namespace) -> dict[str, object]:
    return {"application_id": options.application_id}


def _refusal(options: Namespace) -> dict[str, object]:
    return {**_application_argument(options), "reason": options.reason}


def _line(application: Result) -> str:
    return f"{application['id']}  {application['nickname']}  {application['message']}".rstrip()


ACTIONS = (
    Action(
        "list",
        "list requests to join, oldest first",
        "application_list",
        shown=or_none("applications", _line, "Nobody is waiting for approval."),
    ),
    Action("approve", "approve a request to join", "application_approve", _id, _application_argument),
    Action("refuse", "decline a request to join", "application_refuse", _id_and_reason, _refusal),
)
