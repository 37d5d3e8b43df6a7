"""The list of members: which of them somebody wants to see, in which order, and one page of it.

Works on what is in memory; asks nobody and decides nothing about who may see what.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from msgspec import Meta

from svc.chat.access.directory import Member
from svc.chat.described import Id, choice
from svc.chat.errors import ChatError
from svc.chat.requests import Asked
from svc.chat.text_folding import folded, folded_name

JOINED, NAME, LAST_SEEN = "joined", "name", "last_seen"
BACKWARDS = "-"
SORTS = tuple(f"{sign}{key}" for key in (JOINED, NAME, LAST_SEEN) for sign in ("", BACKWARDS))
MAX_PAGE = 200
_Moment = Annotated[int, Meta(ge=0, le=2**53)]


class WantedMembers(Asked):
    """Which members; None and an empty text stand for any. Moments in ms, both ends included."""

    # Part of a name.
    query: Annotated[str, Meta(max_length=64)] = ""
    # These at most, separated by commas: as many as fit an address. Empty for any.
    ids: Annotated[str, Meta(max_length=4000)] = ""
    role_id: Id | None = None
    joined_after_ms: _Moment | None = None
    joined_before_ms: _Moment | None = None
    in_timeout: bool | None = None
    bot: bool | None = None
    seen_after_ms: _Moment | None = None
    # Also those who were never seen.
    seen_before_ms: _Moment | None = None
    sort: Annotated[str, Meta(extra_json_schema=choice(*SORTS))] = JOINED
    after: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 100

    @property
    def by_last_seen(self) -> bool:
        """Whether it tells when somebody was seen."""
        seen = (self.seen_after_ms, self.seen_before_ms)
        return self.sort.endswith(LAST_SEEN) or seen != (None, None)


def page(
    members: Mapping[str, Member], wanted: WantedMembers, now: float, last_seen: Mapping[str, int]
) -> tuple[list[Member], str | None]:
    """Those behind the member `after` in that order, and what to ask for `after` to go on.

    Raises ChatError where that member has gone, and the order does not say where they were.
    """
    key, after, limit = _key(wanted, last_seen), wanted.after, wanted.limit
    backwards = wanted.sort.startswith(BACKWARDS)
    ids, query = frozenset(filter(None, wanted.ids.split(","))), folded(wanted.query)
    among = [members[i] for i in ids if i in members] if ids else members.values()
    found: Iterable[Member] = (m for m in among if _matches(m, wanted, query, now, last_seen))
    if after and wanted.sort.removeprefix(BACKWARDS) == JOINED:
        # Ids rise in the order of joining, also those of members who have gone.
        found = (m for m in found if (m.id < after if backwards else m.id > after))
    elif after:
        if after not in members:
            raise ChatError("unknown_member")
        place = key(members[after])
        found = (m for m in found if (key(m) < place if backwards else key(m) > place))
    ordered = sorted(found, key=key, reverse=backwards)
    return ordered[:limit], ordered[limit - 1].id if len(ordered) > limit else None


def _key(wanted: WantedMembers, last_seen: Mapping[str, int]) -> Callable[[Member], tuple[str | int, str]]:
    match wanted.sort.removeprefix(BACKWARDS):
        case "name":
            return lambda member: (folded_name(member.nickname), member.id)
        case "last_seen":
            return lambda member: (last_seen.get(member.id, 0), member.id)
    return lambda member: (0, member.id)


def _matches(
    member: Member, wanted: WantedMembers, query: str, now: float, last_seen: Mapping[str, int]
) -> bool:
    seen = last_seen.get(member.id, 0)
    return (
        (not query or query in folded_name(member.nickname))
        and (not wanted.role_id or wanted.role_id in member.role_ids)
        and (wanted.joined_after_ms is None or member.joined_at_ms >= wanted.joined_after_ms)
        and (wanted.joined_before_ms is None or member.joined_at_ms <= wanted.joined_before_ms)
        and (wanted.in_timeout is None or wanted.in_timeout == (member.timeout_until > now))
        and (wanted.bot is None or wanted.bot == member.bot)
        and (wanted.seen_after_ms is None or seen >= wanted.seen_after_ms)
        and (wanted.seen_before_ms is None or seen <= wanted.seen_before_ms)
    )
