"""Filters, sorts and paginates the list of members.

This module works in memory. It does not check permissions.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Annotated

from msgspec import Meta

from svc.chat.access.directory import JOINED, NAME, Member
from svc.chat.access.ordered_items import OrderedItems, SortKey
from svc.chat.endpoints import Request
from svc.chat.errors import ChatError
from svc.chat.schemas import Id
from svc.chat.text_folding import fold, fold_name

LAST_SEEN = "last_seen"
BACKWARDS = "-"
SORTS = tuple(f"{sign}{key}" for key in (JOINED, NAME, LAST_SEEN) for sign in ("", BACKWARDS))
MAX_PAGE = 200
_Moment = Annotated[int, Meta(ge=0, le=2**53)]


class MembersQuery(Request):
    """The filters for a list of members. None and empty strings match any member. Times are in ms and
    inclusive.
    """

    # Matches names that contain this string.
    query: Annotated[str, Meta(max_length=64)] = ""
    # Matches only these ids, separated by commas. The limit keeps the URL short enough.
    ids: Annotated[str, Meta(max_length=4000)] = ""
    role_id: Id | None = None
    joined_after_ms: _Moment | None = None
    joined_before_ms: _Moment | None = None
    in_timeout: bool | None = None
    bot: bool | None = None
    seen_after_ms: _Moment | None = None
    # Also matches members who were never seen.
    seen_before_ms: _Moment | None = None
    sort: Annotated[str, Meta(extra_json_schema={"enum": [*SORTS]})] = JOINED
    after: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 100

    @property
    def by_last_seen(self) -> bool:
        """Whether the result depends on when members were last seen."""
        bounds = (self.seen_after_ms, self.seen_before_ms)
        return self.sort.endswith(LAST_SEEN) or bounds != (None, None)


def page(
    members: Mapping[str, Member],
    orders: Mapping[str, OrderedItems[Member]],
    wanted: MembersQuery,
    now: float,
    last_seen: Mapping[str, int],
) -> tuple[list[Member], str | None]:
    """Return the matching members after the member `after` in the requested order, and the `after` value for
    the next page.

    Raises ChatError if the member `after` has left, unless the members are sorted by join time.
    """
    sort, backwards = wanted.sort.removeprefix(BACKWARDS), wanted.sort.startswith(BACKWARDS)
    ids, query = frozenset(filter(None, wanted.ids.split(","))), fold(wanted.query)
    order = orders.get(sort) or OrderedItems(members, lambda m: (f"{last_seen.get(m.id, 0):020}", m.id))
    after = _sort_key(members, wanted.after, sort, order) if wanted.after else None
    if ids:
        order = OrderedItems({i: members[i] for i in ids if i in members}, order.sort_key)
    ordered = order.iterate(after, backwards=backwards)
    matching = (m for m in ordered if _matches(m, wanted, query, now, last_seen))
    listed = list(islice(matching, wanted.limit + 1))
    return listed[: wanted.limit], listed[wanted.limit - 1].id if len(listed) > wanted.limit else None


def _sort_key(members: Mapping[str, Member], after: str, sort: str, order: OrderedItems[Member]) -> SortKey:
    if sort == JOINED:
        # Ids ascend in join order, so even a former member's id is a sort key.
        return "", after
    if after not in members:
        raise ChatError("unknown_member")
    return order.sort_key(members[after])


def _matches(
    member: Member, wanted: MembersQuery, query: str, now: float, last_seen: Mapping[str, int]
) -> bool:
    seen_at_ms = last_seen.get(member.id, 0)
    return (
        (not query or query in fold_name(member.nickname))
        and (not wanted.role_id or wanted.role_id in member.role_ids)
        and (wanted.joined_after_ms is None or member.joined_at_ms >= wanted.joined_after_ms)
        and (wanted.joined_before_ms is None or member.joined_at_ms <= wanted.joined_before_ms)
        and (wanted.in_timeout is None or wanted.in_timeout == (member.timeout_until > now))
        and (wanted.bot is None or wanted.bot == member.bot)
        and (wanted.seen_after_ms is None or seen_at_ms >= wanted.seen_after_ms)
        and (wanted.seen_before_ms is None or seen_at_ms <= wanted.seen_before_ms)
    )
