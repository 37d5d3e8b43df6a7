"""The member list can be filtered and sorted.

Only members with a management permission can see when others were last online.
"""

import pytest

from svc.chat.access.directory import Directory, Member, orders_of
from svc.chat.errors import ChatError
from svc.chat.members.member_list import SORTS, MembersQuery, page
from tests.chat.members_by_role import MembersByRole, member_with

NOW = 1_000.0
MEMBERS = {
    m.id: m
    for m in (
        Member("1", "Ｂob", ("member",), joined_at_ms=10),
        Member("2", "ada", ("member", "cook"), joined_at_ms=20, timeout_until=NOW + 1),
        Member("3", "Cid", ("cook",), joined_at_ms=30, timeout_until=NOW - 1),
        Member("4", "bob", ("member",), joined_at_ms=40),
    )
}
SEEN = {"1": 500, "2": 900, "4": 900}


def ids(wanted: MembersQuery) -> str:
    listed, following = page(MEMBERS, orders_of(MEMBERS), wanted, NOW, SEEN)
    assert following is None
    return "".join(member.id for member in listed)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (MembersQuery(), "1234"),
        (MembersQuery(sort="-joined"), "4321"),
        (MembersQuery(sort="name"), "2143"),
        (MembersQuery(sort="-name"), "3412"),
        (MembersQuery(sort="last_seen"), "3124"),
        (MembersQuery(sort="-last_seen"), "4213"),
        (MembersQuery(query="BOB"), "14"),
        (MembersQuery(ids="3,1,gone"), "13"),
        (MembersQuery(role_id="cook"), "23"),
        (MembersQuery(role_id="nothing"), ""),
        (MembersQuery(joined_after_ms=20, joined_before_ms=30), "23"),
        (MembersQuery(in_timeout=True), "2"),
        (MembersQuery(in_timeout=False), "134"),
        (MembersQuery(seen_after_ms=600), "24"),
        (MembersQuery(seen_before_ms=600), "13"),
        (MembersQuery(query="b", role_id="member", seen_before_ms=600), "1"),
    ],
)
def test_filters_return_the_matching_members(wanted: MembersQuery, expected: str) -> None:
    assert ids(wanted) == expected


@pytest.mark.parametrize("sort", SORTS)
def test_the_pages_of_the_member_list_have_no_gaps(sort: str) -> None:
    listed, after = list[str](), ""
    while True:
        members, following = page(
            MEMBERS, orders_of(MEMBERS), MembersQuery(sort=sort, after=after, limit=1), NOW, SEEN
        )
        listed += [member.id for member in members]
        if following is None:
            break
        after = following
    assert "".join(listed) == ids(MembersQuery(sort=sort))


def test_a_cursor_that_points_to_a_former_member_works_only_in_join_order() -> None:
    assert page(MEMBERS, orders_of(MEMBERS), MembersQuery(after="25"), NOW, SEEN)[0] == [
        MEMBERS["3"],
        MEMBERS["4"],
    ]
    with pytest.raises(ChatError, match="unknown_member"):
        page(MEMBERS, orders_of(MEMBERS), MembersQuery(sort="name", after="25"), NOW, SEEN)


@pytest.mark.parametrize("sort", [sort for sort in SORTS if "seen" not in sort])
def test_the_list_is_updated_when_members_join_change_their_name_or_leave(sort: str) -> None:
    directory = Directory(lambda: NOW)

    def agrees() -> bool:
        members, wanted = directory.members, MembersQuery(sort=sort)
        listed = page(members, directory.orders, wanted, NOW, {})
        return listed == page(members, orders_of(members), wanted, NOW, {})

    for member in MEMBERS.values():
        directory.put_member(member)
        assert agrees()
    directory.put_member(Member("2", "Zoe"))
    assert agrees()
    directory.put_member(Member("2", "Zoe", status_text="away"))
    assert agrees()
    directory.drop_member("1")
    directory.drop_member("1")
    assert agrees()


async def test_members_are_listed_over_http(members: MembersByRole) -> None:
    keeper = await member_with(members, "kick_members")
    await members.owner.done("PUT", f"/api/members/{members.guest.id}/timeout", {"duration_s": 600})

    async def names(query: str) -> list[str]:
        listed = (await members.member.done("GET", f"/api/members?{query}"))["members"]
        return [member["nickname"] for member in listed]

    assert await names("in_timeout=true") == ["Guest"]
    assert await names("role_id=moderator") == ["Moderator"]
    assert (await names("sort=-name"))[0] == "Owner"
    assert await names(f"ids={members.guest.id},nobody,{members.owner.id}") == ["Owner", "Guest"]
    assert await names("joined_after_ms=9999999999999") == []
    for person in (members.owner, keeper):
        response = await person.done("GET", "/api/members?sort=-last_seen&seen_after_ms=1")
        assert set(response["last_seen"]) == {member["id"] for member in response["members"]}
    assert "last_seen" not in await members.member.done("GET", "/api/members")
    for query in ("sort=last_seen", "sort=-last_seen", "seen_after_ms=1", "seen_before_ms=1"):
        assert await members.member.refused("GET", f"/api/members?{query}") == "forbidden"
    for query in (
        "sort=rank",
        "in_timeout=perhaps",
        "joined_after_ms=-1",
        "seen_after_ms=x",
        f"ids={',' * 4001}",
    ):
        assert await keeper.refused("GET", f"/api/members?{query}") == "invalid_request"
    assert await keeper.refused("GET", "/api/members?sort=name&after=nobody") == "unknown_member"
