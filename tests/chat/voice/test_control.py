"""Permissions and limits of voice channels remain enforced when roles, channels or connections change."""

import asyncio
import dataclasses
from unittest.mock import Mock

import pytest

from svc.base.server_events import DisconnectUser
from svc.chat.access.directory import VOICE, Channel
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.voice.rules import RESERVED_S, Seats
from svc.chat.voice.sfu_link import SfuLink
from tests.chat.fake_sfu import FakeSfu
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.voice.conftest import World


def changed(world: World, *member_ids: str) -> None:
    """Announce changed permissions, as the role rules do after a change to the directory."""
    for notify in world.community.changes.permissions_changed:
        notify(member_ids)


async def test_a_role_change_during_a_call_changes_the_media_that_may_be_sent(world: World) -> None:
    await world.ada.ask("voice_join", channel_id="lobby")
    await world.enters(world.ada)
    give_role(world.community, world.ada.id, "guest")
    changed(world, world.ada.id, world.bob.id)
    lobby = {"room_id": "lobby", "user_id": world.ada.id}
    assert await world.command("user_caps") == {**lobby, "caps": ["speak"]}
    changed(world, world.ada.id)
    give_role(world.community, world.ada.id, "member")
    changed(world, world.ada.id)
    every = ["share_screen", "share_video", "speak"]
    assert await world.command("user_caps", 2) == {**lobby, "caps": every}
    await world.nothing_more()
    assert world.sfu.count("user_caps") == 2, "unchanged caps are not sent again"


async def test_all_members_see_who_may_speak_and_every_change(world: World) -> None:
    directory = world.community.directory
    own = Overrides(members={world.ada.id: Override(deny=Permission.SPEAK)})
    directory.put_channel(dataclasses.replace(directory.channels["lobby"], overrides=own))
    await world.sfu.send_event("peer_joined", "lobby", world.ada.id)
    assert (await world.bob.pushed("voice_joined"))["member"]["may_speak"] is False
    changed(world, world.ada.id)
    directory.put_channel(dataclasses.replace(directory.channels["lobby"], overrides=Overrides()))
    changed(world, world.ada.id, world.bob.id)
    key = {"channel_id": "lobby", "member_id": world.ada.id}
    assert await world.bob.pushed("voice_updated") == {**key, "may_speak": True}


async def test_the_current_permissions_apply_even_if_a_grant_is_used_late(world: World) -> None:
    await world.ada.ask("voice_join", channel_id="lobby")
    await world.bob.ask("voice_join", channel_id="lobby")
    give_role(world.community, world.ada.id, "guest")
    await world.enters(world.ada)
    assert (await world.command("user_caps"))["caps"] == ["speak"]
    world.community.directory.drop_member(world.bob.id)
    await world.sfu.send_event("peer_joined", "lobby", world.bob.id)
    assert (await world.command("disconnect_user"))["user_id"] == world.bob.id


@pytest.mark.parametrize("lost", [Permission.JOIN_VOICE, Permission.VIEW_CHANNEL])
async def test_a_participant_who_loses_permission_is_disconnected(world: World, lost: Permission) -> None:
    await world.enters(world.ada)
    directory = world.community.directory
    own = Overrides(members={world.ada.id: Override(deny=lost)})
    directory.put_channel(dataclasses.replace(directory.channels["lobby"], overrides=own))
    changed(world, world.ada.id)
    assert await world.command("disconnect_user") == {"room_id": "lobby", "user_id": world.ada.id}


@pytest.mark.parametrize(("claimed", "disconnect"), [(None, True), ("one", True), ("another", False)])
async def test_a_member_leaves_the_call_when_their_clients_session_ends(
    world: World, claimed: str | None, disconnect: bool
) -> None:
    # After a restart, the server does not know which session joined the call until a client claims it. Until
    # then, the end of any session ends the call.
    await world.enters(world.ada)
    if claimed:
        world.community.voice.control.claim(Session(world.ada.id, claimed), "lobby")
        world.community.voice.control.claim(Session(world.ada.id, "a later one"), "lobby")
    for notify in world.community.changes.sessions_ended:
        notify(world.ada.id, ["one"])
    if disconnect:
        assert await world.command("disconnect_user") == {"room_id": "lobby", "user_id": world.ada.id}
    else:
        await world.nothing_more()
        assert world.sfu.count("disconnect_user") == 0


async def test_a_participant_who_leaves_or_whose_channel_is_deleted_is_disconnected(world: World) -> None:
    await world.enters(world.ada)
    await world.enters(world.bob, "side-room")
    world.community.directory.drop_member(world.ada.id)
    for notify in world.community.changes.member_gone:
        notify(world.ada.id)
    assert (await world.command("disconnect_user"))["user_id"] == world.ada.id
    side_room = world.community.directory.channels["side-room"]
    world.community.directory.drop_channel("side-room")
    for remove in world.community.changes.channel_removed:
        remove(side_room)
    assert (await world.command("disconnect_user", 2))["user_id"] == world.bob.id


async def test_a_new_voice_channel_is_registered_immediately(world: World) -> None:
    channel = Channel("attic", "Attic", VOICE)
    world.community.directory.put_channel(channel)
    for notify in world.community.changes.channel_added:
        notify(channel)
    assert (await world.command("server_register", 3))["room_id"] == "attic"


async def test_a_channel_that_becomes_visible_is_sent_with_its_participants(world: World) -> None:
    await world.enters(world.ada)
    lobby = world.community.directory.channels["lobby"]
    for notify in world.community.changes.channel_shown:
        notify(lobby, frozenset({world.bob.id}))
    state = await world.bob.pushed("voice_state")
    assert [member["nickname"] for member in state["members"]] == ["Ada"]


async def test_a_new_connection_restores_the_state_of_every_room(world: World) -> None:
    await world.enters(world.ada)
    give_role(world.community, world.bob.id, "guest")
    directory = world.community.directory
    own = Overrides(members={world.ada.id: Override(deny=Permission.JOIN_VOICE)})
    directory.put_channel(dataclasses.replace(directory.channels["lobby"], overrides=own))
    world.sfu.people = {"lobby": [world.ada.id, world.bob.id]}
    await world.sfu.drop_control()
    assert (await world.command("disconnect_user"))["user_id"] == world.ada.id
    assert await world.command("user_caps") == {
        "room_id": "lobby",
        "user_id": world.bob.id,
        "caps": ["speak"],
    }


async def test_the_number_of_participants_on_a_server_is_limited(
    variables: dict[str, str], sfu: FakeSfu
) -> None:
    variables["VOICE_MAX_USERS"] = "1"
    async with server_with_insight(variables) as (chat, _):
        await sfu.until("sync_request")
        async with chat.member("Ada") as ada, chat.member("Bob") as bob:
            for _ in range(2):
                assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"
            refused = await bob.ask("voice_join", channel_id="side-room")
            assert refused["data"]["error"] == "voice_full"
            await sfu.send_event("peer_joined", "lobby", ada.id)
            assert await bob.people("lobby") == ["Ada"]
            assert (await bob.ask("voice_join", channel_id="lobby"))["data"]["error"] == "voice_full"
            # A member who joins the SFU nevertheless is disconnected.
            await sfu.send_event("peer_joined", "side-room", bob.id)
            assert await bob.people("side-room") == ["Bob"]
            await sfu.until("disconnect_user")
            await sfu.send_event("peer_left", "side-room", bob.id)
            await sfu.send_event("peer_left", "lobby", ada.id)
            assert await bob.people("lobby") == []
            assert (await bob.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


def test_a_reserved_slot_is_released_if_it_is_not_used() -> None:
    seats = Seats(1)
    seats.reserve(("lobby", "ada"), [], now=0.0)
    with pytest.raises(ChatError, match="voice_full"):
        seats.reserve(("lobby", "bob"), [], now=RESERVED_S - 1)
    seats.reserve(("lobby", "bob"), [], now=RESERVED_S)
    assert Seats(0).exceeded_by([("lobby", str(number)) for number in range(1000)]) == 0


async def test_grants_expire(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc.chat.voice.enforcement.MAX_GRANTED", 1)
    control = world.community.voice.control
    await world.enters(world.ada)
    control.grant(Session(world.ada.id, "s1"), "lobby")
    for channel_id in ("lobby", "side-room"):
        control.grant(Session(world.bob.id, "s2"), channel_id)
    assert set(control._granted) == {("lobby", world.ada.id), ("side-room", world.bob.id)}


async def test_an_unknown_participant_on_the_sfu_is_listed_and_stays_connected(world: World) -> None:
    await world.sfu.send_event("peer_joined", "lobby", "a load generator")
    assert await world.bob.people("lobby") == ["Someone"]
    await world.nothing_more()
    assert world.sfu.count("disconnect_user") == world.sfu.count("user_caps") == 0


async def test_an_sfu_that_does_not_read_is_disconnected(world: World) -> None:
    link = world.community.link._links[0]
    assert isinstance(link, SfuLink)
    conversation = link._conversation
    assert conversation is not None
    conversation._outbox = Mock(put_nowait=Mock(side_effect=asyncio.QueueFull))
    link.send(DisconnectUser, "lobby", user_id="x")
    await world.sfu.until("sync_request", 2)
