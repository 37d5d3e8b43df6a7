"""`svc admin invite`: the codes that let people in."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import datetime

from svc.tools.admin.action import Action, Result


def _terms(parser: ArgumentParser) -> None:
    parser.add_argument("--role", help="what it makes of who joins; a member by default")
    parser.add_argument("--uses", type=int, help="how often it is good; always by default")
    parser.add_argument("--hours", type=int, help="for how long; for ever by default")


def _invite(options: Namespace) -> dict[str, object]:
    lifetime_s = None if options.hours is None else options.hours * 3600
    return {"role_id": options.role, "max_uses": options.uses, "lifetime_s": lifetime_s}


def _code(invite: Result) -> Iterator[str]:
    yield invite["code"]


def _invites(answer: Result) -> Iterator[str]:
    for invite in answer["invites"]:
        most = invite["max_uses"] or "any number of"
        until = invite["expires_at_ms"]
        ends = f", until {datetime.fromtimestamp(until / 1000):%Y-%m-%d %H:%M}" if until else ""
        yield f"{invite['id']}  {invite['code']}  {invite['uses']} of {most} uses{ends}"


ACTIONS = (
    Action("create", "print a new code", "invite_create", _terms, _invite, _code),
    Action("list", "those that are still good", "invite_list", shown=_invites),
    Action(
        "revoke",
        "let nobody in by it any more",
        "invite_revoke",
        lambda parser: parser.add_argument("invite_id", metavar="ID"),
        lambda options: {"invite_id": options.invite_id},
    ),
)
