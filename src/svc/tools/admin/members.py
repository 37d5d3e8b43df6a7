"""`svc admin member`: members and their roles, kicking and banning."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from svc.tools.admin.action import Action, Result, or_none


def _member(parser: ArgumentParser) -> None:
    parser.add_argument("member", metavar="MEMBER", help="id, or the nickname if only one has it")


def _member_and_role(parser: ArgumentParser) -> None:
    _member(parser)
    parser.add_argument("role", metavar="ROLE", help="admin, moderator, member, guest, or one of your own")
    parser.add_argument("--take", action="store_true", help="remove the role instead")


def _member_and_reason(parser: ArgumentParser) -> None:
    _member(parser)
    parser.add_argument("--reason", default="", help="for the audit log")


def _ban_terms(parser: ArgumentParser) -> None:
    _member_and_reason(parser)
    parser.add_argument(
        "--delete-hours", type=int, default=0, metavar="N", help="delete their messages of the last N hours"
    )


def _banning(options: Namespace) -> dict[str, object]:
    return {**_and_reason(options), "delete_messages_s": options.delete_hours * 3600}


def _role(options: Namespace) -> dict[str, object]:
    return {"member": options.member, "role": options.role, "take": options.take}


def _and_reason(options: Namespace) -> dict[str, object]:
    return {"member": options.member, "reason": options.reason}


def _member_argument(options: Namespace) -> dict[str, object]:
    return {"member": options.member}


def _line(member: Result) -> str:
    return f"{member['id']}  {member['nickname']}  {', '.join(member['roles'])}"


def _one(member: Result) -> Iterator[str]:
    yield _line(member)


def _ban(ban: Result) -> str:
    return f"{ban['member_id']}  {ban['nickname']}  {ban['reason']}".rstrip()


ACTIONS = (
    Action(
        "list",
        "list members with their roles",
        "member_list",
        shown=or_none("members", _line, "There are no members."),
    ),
    Action("role", "assign or remove a role", "member_role", _member_and_role, _role, _one),
    Action("owner", "make a member the owner", "member_owner", _member, _member_argument, _one),
    Action("kick", "remove a member, who can rejoin", "member_kick", _member_and_reason, _and_reason),
    Action("ban", "remove a member permanently", "member_ban", _ban_terms, _banning),
    Action("unban", "unban a person", "member_unban", _member_and_reason, _and_reason),
    Action("bans", "list bans", "member_bans", shown=or_none("bans", _ban, "Nobody is banned.")),
)
