"""A profile shows an account on another server only if both accounts prove the link to each other."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.linked_accounts import rules
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.kit.account_statements import Account, digest_of, elsewhere, pair, statement
from tests.kit.device import Device

GARDEN = elsewhere().origin
OWN, CONFIRMATIONS = "/api/me/linked-accounts", "/api/me/account-confirmations"
# A sandboxed frame in another server's web client sends this origin.
FROM_A_FRAME = {"Origin": "null", "Content-Type": "text/plain;charset=UTF-8"}


@dataclass
class World:
    chat: ChatServer
    community: Community
    members: MembersByRole

    def account(self, person: HttpMember) -> Account:
        return Account(self.chat.address, person.id, person.device)


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community):
        yield World(chat, community, await members_by_role(chat))


async def links_of(asker: HttpMember, member_id: str) -> list[Mapping[str, Any]]:
    links: list[Mapping[str, Any]] = (await asker.done("GET", links_path(member_id)))["links"]
    return links


def links_path(member_id: str, *more: str) -> str:
    return "/".join(["/api/members", member_id, "linked-accounts", *more])


async def test_everybody_sees_a_link_until_it_is_removed(world: World) -> None:
    member, guest = world.members.member, world.members.guest
    proof = pair(world.account(member), elsewhere())
    made = await member.done("POST", OWN, proof)
    assert made["origin"] == GARDEN
    shown = await links_of(guest, member.id)
    assert shown == [made]
    assert {name: shown[0][name] for name in proof} == proof
    await member.done("DELETE", links_path(member.id, made["id"]))
    assert await links_of(guest, member.id) == []
    assert await member.refused("DELETE", links_path(member.id, made["id"])) == "unknown_linked_account"


async def test_a_new_link_replaces_the_previous_link_to_the_same_server(world: World) -> None:
    member = world.members.member
    for other in (elsewhere(), elsewhere(), elsewhere("http://localhost:8080")):
        last = await member.done("POST", OWN, pair(world.account(member), other))
    links = await links_of(member, member.id)
    assert [link["origin"] for link in links] == [GARDEN, "http://localhost:8080"]
    assert links[-1] == last


async def test_a_statement_for_another_account_server_or_key_is_rejected(world: World) -> None:
    member, owner = world.members.member, world.members.owner
    own, other_account, stranger = world.account(member), elsewhere(), Account(GARDEN, "eve", Device())
    third = Account("https://third.example", member.id, member.device)
    good = pair(own, other_account)
    forged = statement(Account(GARDEN, other_account.id, stranger.device), own)
    head, claims, _ = good["other"].split(".")
    wrong = {
        "signed by another key of that server": good | {"other": forged},
        "with another signature": good | {"other": f"{head}.{claims}.{forged.split('.')[2]}"},
        "about another member": good | {"other": statement(other_account, world.account(owner))},
        "replayed from a third server": good | {"other": statement(other_account, third)},
        "both replayed from a third server": pair(third, other_account),
        "about another key": good
        | {"other": statement(other_account, Account(own.origin, own.id, Device()))},
        "whose own half names somebody else": good | {"own": statement(own, stranger)},
        "by another member": pair(world.account(owner), other_account),
        "by another key than this device's": pair(Account(own.origin, own.id, Device()), other_account),
        "from this server twice": {
            "own": statement(own, world.account(owner)),
            "other": statement(world.account(owner), own),
        },
        "for another purpose": good | {"other": statement(other_account, own, use="mls")},
        "for no purpose": good | {"other": statement(other_account, own, use=None)},
        "from an address that is no origin": pair(
            own, Account(GARDEN + "/", other_account.id, other_account.device)
        ),
        "from an address of another kind": pair(
            own, Account("file://x", other_account.id, other_account.device)
        ),
        "from letters that look alike": pair(
            own, Account("https://gаrden.example", "x", other_account.device)
        ),
        "that is no statement": good | {"other": "a.b.c"},
        "that holds no claims": good
        | {"other": other_account.device.sign({}, {"jwk": other_account.device.jwk})},
    }
    for what, body in wrong.items():
        assert await member.refused("POST", OWN, body) == "link_invalid", what
    too_long = good | {"other": good["other"] + "A" * 2048}
    assert await member.refused("POST", OWN, too_long) == "invalid_request"
    assert await links_of(member, member.id) == []
    await member.done("POST", OWN, good)


async def test_a_profile_shows_at_most_ten_links(world: World) -> None:
    member = world.members.member
    for n in range(rules.MAX_LINKS):
        await member.done("POST", OWN, pair(world.account(member), elsewhere(f"https://s{n}.example")))
    assert await member.refused("POST", OWN, pair(world.account(member), elsewhere())) == "too_many"
    again = elsewhere("https://s3.example")
    await member.done("POST", OWN, pair(world.account(member), again))
    assert len(await links_of(member, member.id)) == rules.MAX_LINKS


async def test_moderators_can_remove_links_and_members_in_timeout_cannot_add_any(world: World) -> None:
    members = world.members
    link = await members.member.done("POST", OWN, pair(world.account(members.member), elsewhere()))
    of_owner = await members.owner.done("POST", OWN, pair(world.account(members.owner), elsewhere()))
    path = links_path(members.member.id, link["id"])
    assert await members.guest.refused("DELETE", path) == "forbidden"
    wrong = links_path(members.owner.id, of_owner["id"])
    assert await members.moderator.refused("DELETE", wrong) == "rank_too_low"
    borrowed = links_path(members.member.id, of_owner["id"])
    assert await members.moderator.refused("DELETE", borrowed) == "unknown_linked_account"
    await members.moderator.done("DELETE", path)
    entry = (await members.owner.done("GET", "/api/audit?action=member_link_remove"))["entries"][0]
    assert (entry["actor_id"], entry["target_id"]) == (members.moderator.id, members.member.id)
    assert entry["details"] == {"origin": GARDEN}
    timeout = {"duration_s": 300, "reason": ""}
    await members.moderator.done("PUT", f"/api/members/{members.member.id}/timeout", timeout)
    refusal = await members.member.refused("POST", OWN, pair(world.account(members.member), elsewhere()))
    assert refusal == "in_timeout"


async def verify(world: World, token: str, digest: str) -> tuple[int, Any, str | None]:
    """Verify a statement from a page without an origin. Return the status, body and allowed origin."""
    body = {"token": token, "digest": digest}
    async with world.chat.http.post(
        "/api/account-confirmations", json=body, headers=FROM_A_FRAME
    ) as response:
        return response.status, await response.json(), response.headers.get("Access-Control-Allow-Origin")


async def token_of(person: HttpMember) -> str:
    return str((await person.done("POST", "/api/me/counts-token"))["token"])


async def test_members_of_both_servers_verify_a_statement_until_it_is_withdrawn(world: World) -> None:
    member, guest = world.members.member, world.members.guest
    digest = digest_of(statement(world.account(member), elsewhere()))
    token = await token_of(guest)
    assert await verify(world, token, digest) == (200, {"account": None}, "*")
    await member.done("PUT", f"{CONFIRMATIONS}/{digest}")
    await member.done("PUT", f"{CONFIRMATIONS}/{digest}")
    nickname = (await member.done("GET", f"/api/members/{member.id}"))["nickname"]
    account = {"member_id": member.id, "nickname": nickname, "key": member.device.thumbprint}
    assert await verify(world, token, digest) == (200, {"account": account}, "*")
    status, answer, readers = await verify(world, "svcrail.x.y", digest)
    assert (status, answer["error"], readers) == (401, "token_invalid", None)
    assert [
        confirmation["digest"] for confirmation in (await member.done("GET", CONFIRMATIONS))["confirmations"]
    ] == [digest]
    assert await guest.refused("PUT", f"{CONFIRMATIONS}/{digest}") == "link_invalid"
    await guest.done("DELETE", f"{CONFIRMATIONS}/{digest}")
    assert (await verify(world, token, digest))[1] == {"account": account}
    await member.done("DELETE", f"{CONFIRMATIONS}/{digest}")
    assert await verify(world, token, digest) == (200, {"account": None}, "*")
    assert await member.refused("PUT", f"{CONFIRMATIONS}/short") == "invalid_request"


async def test_the_number_of_a_members_confirmations_is_limited(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_CONFIRMATIONS", 2)
    member = world.members.member
    for text in ("one", "two"):
        await member.done("PUT", f"{CONFIRMATIONS}/{digest_of(text)}")
    assert await member.refused("PUT", f"{CONFIRMATIONS}/{digest_of('three')}") == "too_many"


async def test_links_and_confirmations_end_when_the_signing_device_is_unlinked(world: World) -> None:
    member = world.members.member
    await member.done("POST", OWN, pair(world.account(member), elsewhere()))
    digest = digest_of("a statement")
    await member.done("PUT", f"{CONFIRMATIONS}/{digest}")
    token = await token_of(world.members.guest)
    code = (await member.done("POST", "/api/me/devices/link"))["code"]
    second = Device()
    answer = await world.chat.sign_in(second, link_code=code)
    other = HttpMember(world.chat, second, member.id, answer["access_token"])
    first = next(d for d in (await member.done("GET", "/api/me/devices"))["devices"] if d["current"])
    await other.done("DELETE", f"/api/me/devices/{first['id']}")
    assert await links_of(world.members.guest, member.id) == []
    assert await verify(world, token, digest) == (200, {"account": None}, "*")


@pytest.mark.parametrize("ending", ["leave", "delete", "kick", "ban"])
async def test_links_and_confirmations_end_with_the_membership_permanently(world: World, ending: str) -> None:
    members, database = world.members, world.community._database
    member, digest = members.member, digest_of("a statement")
    await member.done("POST", OWN, pair(world.account(member), elsewhere()))
    await member.done("PUT", f"{CONFIRMATIONS}/{digest}")
    token = await token_of(members.guest)
    match ending:
        case "leave":
            await member.done("POST", "/api/me/leave")
        case "delete":
            await member.done("DELETE", "/api/me")
        case "kick":
            await members.owner.done("POST", f"/api/members/{member.id}/kick", {"reason": ""})
        case "ban":
            await members.owner.done("PUT", f"/api/bans/{member.id}", {"reason": ""})
    assert await verify(world, token, digest) == (200, {"account": None}, "*")
    assert await members.guest.refused("GET", links_path(member.id)) == "unknown_member"
    for table in ("linked_accounts", "account_confirmations"):
        assert await database.rows(f"SELECT * FROM {table}") == []


async def test_a_members_export_contains_links_and_confirmations(world: World) -> None:
    member = world.members.member
    link = await member.done("POST", OWN, pair(world.account(member), elsewhere()))
    await member.done("PUT", f"{CONFIRMATIONS}/{digest_of('a statement')}")
    export = await member.done("GET", "/api/me/export")
    assert export["linked_accounts"] == [link]
    assert [confirmation["digest"] for confirmation in export["account_confirmations"]] == [
        digest_of("a statement")
    ]


async def test_two_servers_link_the_accounts_of_one_person(
    world: World, variables: dict[str, str], tmp_path: Path
) -> None:
    second = variables | {"DATA_DIR": str(tmp_path / "second"), "SERVER_ID": "second", "JWT_SECRET": "x" * 32}
    async with server_with_insight(second) as (chat, community):
        other = World(chat, community, await members_by_role(chat))
        own, other_account = world.account(world.members.member), other.account(other.members.member)
        mine, theirs = statement(own, other_account), statement(other_account, own)
        await world.members.member.done("POST", OWN, {"own": mine, "other": theirs})
        await other.members.member.done("POST", OWN, {"own": theirs, "other": mine})
        await other.members.member.done("PUT", f"{CONFIRMATIONS}/{digest_of(theirs)}")
        shown = await links_of(world.members.guest, world.members.member.id)
        token = await token_of(other.members.guest)
        _, answer, _ = await verify(other, token, digest_of(shown[0]["other"]))
        assert answer["account"]["member_id"] == other_account.id
        assert answer["account"]["key"] == other_account.device.thumbprint
