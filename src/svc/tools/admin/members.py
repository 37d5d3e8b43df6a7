"""`svc admin member`: who is here, what they may do, and who has to go."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result


def _member(parser: ArgumentParser) -> None:
    parser.add_argument("member", metavar="MEMBER", help="id, or the nickname where only one has it")


def _member_and_role(parser: ArgumentParser) -> None:
    _member(parser)
    parser.add_argument("role", metavar="ROLE", help="admin, moderator, member, guest, or one of your own")
    parser.add_argument("--take", action="store_true", help="take it away")


def _member_and_reason(parser: ArgumentParser) -> None:
    _member(parser)
    parser.add_argument("--reason", default="", help="for the audit log")


def _role(options: Namespace) -> dict[str, object]:
    return {"member": options.member, "role": options.role, "take": options.take}


def _and_reason(options: Namespace) -> dict[str, object]:
    return {"member": options.member, "reason": options.reason}


def _who(options: Namespace) -> dict[str, object]:
    return {"member": options.member}


def _line(member: Result) -> str:
    return f"{member['id']}  {member['nickname']}  {', '.join(member['roles'])}"


def _lines(answer: Result) -> Iterator[str]:
    yield from map(_line, answer["members"])


def _one(member: Result) -> Iterator[str]:
    yield _line(member)


def _bans(answer: Result) -> Iterator[str]:
    for ban in answer["bans"]:
        yield f"{ban['member_id']}  {ban['nickname']}  {ban['reason']}"


ACTIONS = (
    Action("list", "everybody, and their roles", "member_list", shown=_lines),
    Action("role", "give somebody a role", "member_role", _member_and_role, _role, _one),
    Action("owner", "hand the server over", "member_owner", _member, _who, _one),
    Action("kick", "send somebody away, who may come back", "member_kick", _member_and_reason, _and_reason),
    Action("ban", "send somebody away for good", "member_ban", _member_and_reason, _and_reason),
    Action("unban", "let them come back", "member_unban", _member, _who),
    Action("bans", "who may not come back", "member_bans", shown=_bans),
)
