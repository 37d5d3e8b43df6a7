"""`svc admin invite`: codes that people can use to join the server."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import datetime

from svc.tools.admin.action import Action, Result, count_noun, or_none


def _terms(parser: ArgumentParser) -> None:
    parser.add_argument("--role", help="role of people who join; default: member")
    parser.add_argument("--uses", type=int, help="maximum number of uses; default: no limit")
    parser.add_argument("--hours", type=int, help="hours until it expires; default: never")
    parser.add_argument("--channel", metavar="NAME", help="first channel that people see; name or id")
    parser.add_argument("--approval", action="store_true", help="people who join with it need approval")


def _invite(options: Namespace) -> dict[str, object]:
    lifetime_s = None if options.hours is None else options.hours * 3600
    return {
        "role_id": options.role,
        "max_uses": options.uses,
        "lifetime_s": lifetime_s,
        "channel": options.channel,
        "approval": options.approval,
    }


def _with_link(invite: Result, base: str) -> Result:
    return {**invite, "link": f"{base}/#invite={invite['code']}"}


def _link(invite: Result) -> Iterator[str]:
    yield invite["link"]


def _line(invite: Result) -> str:
    if maximum := invite["max_uses"]:
        used = f"{invite['uses']:,} of {count_noun(maximum, 'use')}"
    else:
        used = f"{count_noun(invite['uses'], 'use')} of any number"
    until = invite["expires_at_ms"]
    ends = f", until {datetime.fromtimestamp(until / 1000):%Y-%m-%d %H:%M}" if until else ""
    approval = ", with approval" if invite["approval"] else ""
    return f"{invite['id']}  {invite['code']}  {used}{ends}{approval}"


ACTIONS = (
    Action(
        "create", "create an invite and print its link", "invite_create", _terms, _invite, _link, _with_link
    ),
    Action(
        "list",
        "list valid invites",
        "invite_list",
        shown=or_none("invites", _line, "There are no invites."),
    ),
    Action(
        "revoke",
        "revoke an invite",
        "invite_revoke",
        lambda parser: parser.add_argument("invite_id", metavar="ID"),
        lambda options: {"invite_id": options.invite_id},
    ),
)
