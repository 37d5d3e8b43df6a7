"""A resumed connection gets the events it missed, filtered by the member's current permissions."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import pytest

from svc.chat.access import rate_limits
from svc.chat.access.directory import TEXT, Channel, Directory, Member
from svc.chat.access.permissions import GUEST, Override, Overrides, Permission
from svc.chat.community import Community
from svc.chat.live import socket
from svc.chat.live.frames import CloseCode
from svc.chat.live.hub import (
    EVERYONE,
    Audience,
    Hub,
    PermissionHolders,
    Push,
    Recipients,
    ReplayBuffer,
    Viewers,
    only,
)
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember, abort
from tests.chat.members_by_role import members_by_role

HIDDEN = Channel(
    "hidden", "Hidden", TEXT, overrides=Overrides(roles={GUEST: Override(deny=Permission.VIEW_CHANNEL)})
)


def kept(*pushes: tuple[int, bytes], start: int = 0, **bounds: int) -> ReplayBuffer:
    ring = ReplayBuffer(start, **bounds)
    for seq, frame in pushes:
        ring.add(Push(ring.next_seq(seq), frame, EVERYONE, None))
    return ring


@dataclass
class Inside:
    chat: ChatServer
    community: Community


@pytest.fixture
async def inside(variables: dict[str, str]) -> AsyncIterator[Inside]:
    async with server_with_insight(variables) as (chat, community):
        yield Inside(chat, community)


@pytest.mark.parametrize(
    ("clock", "expected"),
    [([5, 6, 7], [5, 6, 7]), ([5, 5, 5], [5, 6, 7]), ([9, 3, 20], [9, 10, 20])],
)
def test_sequence_numbers_increase_even_if_the_clock_does_not(clock: list[int], expected: list[int]) -> None:
    ring = ReplayBuffer(0)
    assert [ring.next_seq(now) for now in clock] == expected


@pytest.mark.parametrize(
    ("seq", "expected"),
    [(9, None), (10, [b"a", b"b"]), (11, [b"b"]), (12, []), (13, None)],
)
def test_events_after_a_sequence_number_are_either_sent_again_or_reported_as_lost(
    seq: int, expected: list[bytes] | None
) -> None:
    pushes = kept((11, b"a"), (12, b"b"), start=10).after(seq)
    assert expected == (None if pushes is None else [push.frame for push in pushes])


@pytest.mark.parametrize("bounds", [{"max_count": 2}, {"max_bytes": 2}])
def test_the_oldest_events_are_dropped_when_there_are_too_many(bounds: dict[str, int]) -> None:
    ring = kept((1, b"a"), (2, b"b"), (3, b"c"), **bounds)
    assert ring.after(0) is None
    assert [push.frame for push in ring.after(1) or ()] == [b"b", b"c"]


@pytest.mark.parametrize(
    ("audience", "ada", "gus"),
    [
        (EVERYONE, True, True),
        (Viewers("hidden"), True, False),
        (Viewers("gone"), False, False),
        (only("gus"), False, True),
        (Recipients(frozenset({"ada", "gus"}), "hidden"), True, False),
        (PermissionHolders(Permission.KICK_MEMBERS), True, False),
        (PermissionHolders(Permission.VIEW_CHANNEL | Permission.CHANGE_NICKNAME, "hidden"), True, False),
    ],
)
def test_missed_events_are_filtered_by_current_permissions(audience: Audience, ada: bool, gus: bool) -> None:
    directory = Directory(lambda: 1.0)
    directory.put_channel(HIDDEN)
    directory.put_member(Member("ada", "Ada", ("owner",)))
    directory.put_member(Member("gus", "Gus", (GUEST,)))
    hub = Hub(directory, lambda: 1.0)
    start = hub.seq
    hub.push("event", {}, audience)
    assert [len(hub.missed_frames(who, start) or ()) for who in ("ada", "gus", "stranger")] == [ada, gus, 0]


def test_events_that_are_not_stored_have_no_sequence_number_and_are_not_sent_again() -> None:
    directory = Directory(lambda: 1.0)
    directory.put_member(Member("ada", "Ada"))
    hub = Hub(directory, lambda: 1.0)
    start = hub.seq
    hub.push("typing", {}, EVERYONE, kept=False)
    hub.push("event", {}, EVERYONE, but_not="ada")
    assert hub.missed_frames("ada", start) == []
    assert hub.seq == start + 1


async def resumed(chat: ChatServer, token: str, seq: int) -> tuple[LiveMember, str]:
    ws = await chat.http.ws_connect("/live", max_msg_size=0)
    member = LiveMember(ws, token)
    member.hello = (await member.receive())["data"]
    reply = await member.ask("resume", access_token=token, seq=seq)
    member.welcome = reply["data"]
    return member, reply["event"]


async def test_a_returning_client_gets_the_events_it_missed(chat: ChatServer) -> None:
    token = await chat.join("Ada")
    async with chat.member("Ada", token) as ada:
        seq = ada.welcome["seq"]
        abort(ada.ws)
    await chat.join("Bob")
    again, event = await resumed(chat, token, seq)
    assert event == "resumed"
    assert set(again.welcome) >= {"seq", "token_expires_at_ms"}
    frame = await again.receive()
    assert (frame["event"], frame["data"]["nickname"]) == ("member_joined", "Bob")
    assert seq < frame["seq"] == again.welcome["seq"]
    await again.ws.close()


@pytest.mark.parametrize("seq", [0, 2**53 - 1])
async def test_a_client_that_missed_too_many_events_gets_the_complete_state(
    chat: ChatServer, seq: int
) -> None:
    token = await chat.join("Ada")
    again, event = await resumed(chat, token, seq)
    assert event == "authenticated"
    assert again.welcome["member"]["nickname"] == "Ada"
    await again.ws.close()


@pytest.mark.parametrize("seq", [-1, "1", None, 2**53 + 1])
async def test_a_sequence_number_that_is_not_an_integer_is_rejected(chat: ChatServer, seq: object) -> None:
    token = await chat.join("Ada")
    async with chat.http.ws_connect("/live") as ws:
        member = LiveMember(ws, token)
        await member.receive()
        reply = await member.ask("resume", access_token=token, seq=seq)
    assert reply["data"]["error"] == "invalid_request"


async def test_the_greeting_describes_the_server_and_its_limits(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        assert ada.hello["limits"] == {
            "max_message_bytes": 65536,
            "request_burst": rate_limits.REQUEST_BURST,
            "requests_per_s": rate_limits.REQUESTS_PER_S,
        }
        assert ada.hello["heartbeat_ms"] == 30_000
        assert ada.hello["server_id"]
        assert (await ada.ask("ping"))["data"] == {}


async def close_code(member: LiveMember) -> int | None:
    async with asyncio.timeout(30):
        async for _ in member.ws:
            pass
    return member.ws.close_code


async def test_a_client_is_disconnected_when_its_token_expires_unless_it_sends_a_new_one(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "CHECK_INTERVAL_S", 0.02)
    chat, community = inside.chat, inside.community
    token = await chat.join("Ada")
    session = community.tokens.verify(token, time.time())
    ada = community.directory.member(session.member_id)
    old = community.tokens.issue(ada, session.session_id, time.time() - 15 * 60 + 2)
    async with chat.member("Ada", old) as stale, chat.member("Ada", old) as fresh:
        reply = await fresh.ask("reauthenticate", access_token=token)
        assert reply["data"]["token_expires_at_ms"] > fresh.welcome["token_expires_at_ms"]
        assert await close_code(stale) == CloseCode.TOKEN_EXPIRED
        assert (await fresh.ask("ping"))["event"] == "ping"


async def test_a_client_cannot_stay_connected_with_the_token_of_another_member(chat: ChatServer) -> None:
    other = await chat.join("Bob")
    async with chat.member("Ada") as ada:
        for data, code in (({"access_token": other}, "token_invalid"), ({}, "invalid_request")):
            reply = await ada.ask("reauthenticate", **data)
            assert reply["data"]["error"] == code


async def test_a_new_client_beyond_the_limit_disconnects_the_oldest_client_of_the_member(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "max_pages_of_a_member", 1)
    token = await chat.join("Ada")
    async with chat.member("Ada", token) as first, chat.member("Ada", token) as second:
        assert await close_code(first) == CloseCode.TOO_MANY_PAGES
        assert (await second.ask("ping"))["event"] == "ping"


async def test_ending_a_session_disconnects_only_its_own_clients(inside: Inside) -> None:
    chat, hub = inside.chat, inside.community.hub
    token = await chat.join("Ada")
    session = inside.community.tokens.verify(token, time.time())
    ada = inside.community.directory.member(session.member_id)
    inside.community.directory.sessions[ada.id] |= {"another"}
    other = inside.community.tokens.issue(ada, "another", time.time())
    async with chat.member("Ada", token) as first_page, chat.member("Ada", other) as second_page:
        hub.push("goodbye", {}, only(ada.id))
        hub.cut_off(ada.id, session_id="another")
        assert (await second_page.receive())["event"] == "goodbye"
        assert await close_code(second_page) == CloseCode.SIGNED_OUT
        assert (await first_page.ask("ping"))["event"] == "ping"
        hub.cut_off(ada.id, reason="Kicked")
        assert not hub.online(ada.id)
        assert await close_code(first_page) == CloseCode.SIGNED_OUT


async def test_observers_are_notified_when_members_connect_and_disconnect(inside: Inside) -> None:
    seen: list[tuple[str, bool]] = []
    inside.community.hub.on_online.append(lambda member_id, online: seen.append((member_id, online)))
    token = await inside.chat.join("Ada")
    async with inside.chat.member("Ada", token) as ada, inside.chat.member("Ada", token):
        member_id = ada.id
    async with asyncio.timeout(30):
        while len(seen) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert seen == [(member_id, True), (member_id, False)]


async def test_the_number_of_sockets_is_limited(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "MAX_SOCKETS", 0)
    async with chat.http.get("/live", headers=UPGRADE) as answer:
        assert answer.status == 503
        assert (await answer.json())["error"] == "too_many_connections"


UPGRADE: Mapping[str, str] = {"Connection": "Upgrade", "Upgrade": "websocket"}


async def test_a_returning_client_gets_no_events_that_its_member_may_no_longer_see(inside: Inside) -> None:
    members = await members_by_role(inside.chat)
    hidden = [{"type": "role", "target_id": "member", "deny": ["view_channel"]}]
    body = {"name": "staff", "type": "voice", "overrides": hidden}
    channel_id = (await members.owner.done("POST", "/api/channels", body))["id"]
    async with inside.chat.member("", members.moderator.token) as page:
        seq = page.welcome["seq"]
    about = {"member_id": members.guest.id, "text": "a confidence"}
    await members.member.done("POST", "/api/reports", about)
    await members.owner.done("DELETE", f"/api/members/{members.moderator.id}/roles/moderator")
    override = f"/api/channels/{channel_id}/overrides/role/member"
    await members.owner.done("PUT", override, {"allow": [], "deny": []})
    await members.owner.done("PUT", override, {"allow": [], "deny": ["view_channel"]})
    missed = b"".join(inside.community.hub.missed_frames(members.moderator.id, seq) or ())
    assert b'"channel_deleted"' in missed
    for event in (b'"channel_created"', b'"voice_state"', b'"report_created"', b"a confidence"):
        assert event not in missed
