"""`svc admin member`: who is here, and what they may do."""

from collections.abc import Iterator

from svc.tools.admin.action import Action, Result


def _members(answer: Result) -> Iterator[str]:
    for member in answer["members"]:
        yield f"{member['id']}  {member['nickname']}  {', '.join(member['roles'])}"


ACTIONS = (Action("list", "everybody, and their roles", "member_list", shown=_members),)
