"""Moderators can mute, disconnect and move members in voice channels. Mutes survive restarts."""

import dataclasses
from functools import partial
from typing import Any

import pytest

from svc.chat.access.permissions import Override, Overrides, Permission, Role
from svc.chat.audit.log import WantedEntries
from svc.chat.community import Community
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import newcomer
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.voice.conftest import World
from tests.kit.wait import wait_until


def override(world: World, channel_id: str, member_id: str, own: Override) -> None:
    channel = world.community.directory.channels[channel_id]
    changed = dataclasses.replace(channel, overrides=Overrides(members={member_id: own}))
    world.community.directory.put_channel(changed)


async def error(request: Any) -> str:
    reply = await request
    assert reply["event"] == "error", reply
    return str(reply["data"]["error"])


async def test_a_mute_is_sent_to_the_sfu_and_visible_to_all_members(world: World) -> None:
    await world.enters(world.ada)
    reply = await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True)
    assert reply["data"] == {
        "muted": True,
        "deafened": False,
        "self_muted": False,
        "self_deafened": False,
    }
    lobby = {"room_id": "lobby", "user_id": world.ada.id}
    assert await world.command("user_audio_control") == {**lobby, "is_muted": True, "is_deafened": False}
    key = {"channel_id": "lobby", "member_id": world.ada.id}
    assert await world.bob.pushed("voice_updated") == {**key, "muted": True}
    await world.mod.ask("voice_mute", member_id=world.ada.id, muted=False, deafened=True)
    assert await world.command("user_audio_control", 2) == {**lobby, "is_muted": False, "is_deafened": True}
    assert await world.bob.pushed("voice_updated") == {**key, "muted": False, "deafened": True}


async def test_a_muted_member_who_returns_is_muted_before_they_are_connected(world: World) -> None:
    await world.enters(world.ada)
    await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True)
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.ada.pushed("voice_left")
    await world.ada.ask("voice_join", channel_id="side-room")
    assert (await world.command("user_audio_control", 2))["room_id"] == "side-room"
    async with world.chat.member("Eve") as eve:
        await world.sfu.send_event("peer_joined", "side-room", world.ada.id)
        assert (await eve.pushed("voice_joined"))["member"]["muted"] is True


async def test_mutes_survive_restarts_of_both_servers(world: World) -> None:
    await world.enters(world.ada)
    await world.mod.ask("voice_mute", member_id=world.ada.id, deafened=True)
    await world.command("user_audio_control")
    # The moderator mutes the member again while the connection to the SFU is down.
    world.sfu.people = {"lobby": [world.ada.id]}
    await world.sfu.stop()
    world.sfu.received.clear()
    await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True)
    world.sfu.people = {"lobby": [world.ada.id]}
    await world.sfu.start()
    command = await world.command("user_audio_control")
    assert (command["is_muted"], command["is_deafened"]) == (True, True)
    stored = type(world.community.voice.states)(world.community.directory.person_of)
    world.community.voice.states = stored
    await world.community.voice_moderation.load()
    assert stored.of(world.ada.id).muted


async def test_only_moderators_of_the_whole_server_can_mute_absent_members(world: World) -> None:
    assert (await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True))["event"] == "voice_mute"
    assert await error(world.bob.ask("voice_mute", member_id=world.ada.id, muted=True)) == "rank_too_low"
    give_role(world.community, world.bob.id, "admin")
    override(world, "lobby", world.bob.id, Override(deny=Permission.MUTE_MEMBERS))
    await world.enters(world.ada)
    give_role(world.community, world.bob.id, "moderator")
    assert await error(world.bob.ask("voice_mute", member_id=world.ada.id, muted=True)) == "forbidden"


async def test_a_permission_in_one_channel_does_not_allow_muting_or_unmuting_everywhere(world: World) -> None:
    await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True)
    directory = world.community.directory
    directory.put_role(Role("above", "Above", directory.roles["moderator"].rank, Permission(0)))
    give_role(world.community, world.bob.id, "member", "above")
    override(world, "lobby", world.bob.id, Override(allow=Permission.MUTE_MEMBERS))
    await world.enters(world.ada)
    assert await error(world.bob.ask("voice_mute", member_id=world.ada.id, muted=False)) == "forbidden"
    assert world.community.voice.states.of(world.ada.id).muted


async def test_disconnecting_a_member_is_logged(world: World) -> None:
    await world.enters(world.ada)
    assert (await world.mod.ask("voice_disconnect", member_id=world.ada.id))["event"] == "voice_disconnect"
    assert await world.command("disconnect_user") == {"room_id": "lobby", "user_id": world.ada.id}
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    assert await world.bob.pushed("voice_left") == {"channel_id": "lobby", "member_id": world.ada.id}


async def test_a_moved_member_learns_the_new_channel_and_is_disconnected_from_the_old_one(
    world: World,
) -> None:
    await world.enters(world.ada)
    reply = await world.mod.ask("voice_move", member_id=world.ada.id, channel_id="side-room")
    assert reply["event"] == "voice_move"
    moved = {"from_channel_id": "lobby", "channel_id": "side-room"}
    assert await world.ada.pushed("voice_moved") == moved
    assert await world.command("disconnect_user") == {"room_id": "lobby", "user_id": world.ada.id}
    # Moving members to their current channel does nothing.
    await world.enters(world.bob, "side-room")
    await world.mod.ask("voice_move", member_id=world.bob.id, channel_id="side-room")
    await world.nothing_more()
    assert world.sfu.count("disconnect_user") == 1


async def test_nobody_can_be_moved_to_a_channel_that_they_may_not_join(world: World) -> None:
    await world.enters(world.ada)
    override(world, "side-room", world.ada.id, Override(deny=Permission.JOIN_VOICE))
    body = {"member_id": world.ada.id, "channel_id": "side-room"}
    assert await error(world.mod.ask("voice_move", **body)) == "forbidden"
    override(world, "side-room", world.mod.id, Override(deny=Permission.VIEW_CHANNEL))
    assert await error(world.mod.ask("voice_move", **body)) == "unknown_channel"
    body["channel_id"] = "general"
    assert await error(world.mod.ask("voice_move", **body)) == "unknown_channel"


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("voice_mute", {"muted": True}),
        ("voice_stop_screen", {}),
        ("voice_disconnect", {}),
        ("voice_move", {"channel_id": "side-room"}),
    ],
)
async def test_every_moderation_action_reports_its_errors(
    world: World, event: str, more: dict[str, object]
) -> None:
    mod, ada, bob = world.mod, world.ada, world.bob
    await world.enters(ada)
    assert await error(mod.ask(event, member_id="nobody", **more)) == "unknown_member"
    assert await error(mod.ask(event, **more)) == "invalid_request"
    assert await error(bob.ask(event, member_id=ada.id, **more)) == "rank_too_low"
    assert await error(mod.ask(event, member_id=mod.id, **more)) == "rank_too_low"
    give_role(world.community, ada.id, "admin")
    assert await error(mod.ask(event, member_id=ada.id, **more)) == "rank_too_low"
    give_role(world.community, ada.id, "guest")
    assert await error(bob.ask(event, member_id=ada.id, **more)) == "forbidden"
    if event != "voice_mute":
        assert await error(mod.ask(event, member_id=bob.id, **more)) == "not_in_voice"
        # A moderator who cannot see the channel does not learn that the member is in it.
        override(world, "lobby", mod.id, Override(deny=Permission.VIEW_CHANNEL))
        assert await error(mod.ask(event, member_id=ada.id, **more)) == "not_in_voice"
    assert world.sfu.count("disconnect_user") == world.sfu.count("user_audio_control") == 0


@pytest.mark.parametrize("data", [{}, {"muted": None}, {"muted": 1}, {"muted": "yes"}, {"deafened": []}])
async def test_a_mute_request_must_name_a_change(world: World, data: dict[str, object]) -> None:
    assert await error(world.mod.ask("voice_mute", member_id=world.ada.id, **data)) == "invalid_request"
    assert await error(world.ada.ask("voice_mute_self", **data)) == "invalid_request"


async def test_disconnecting_a_member_fails_while_the_sfu_is_unavailable(world: World) -> None:
    await world.enters(world.ada)
    await world.sfu.stop()
    while world.community.link.synchronised:
        await world.mod.ask("voice_mute_self", muted=False)
    body = {"member_id": world.ada.id}
    assert await error(world.mod.ask("voice_disconnect", **body)) == "voice_unavailable"


async def test_a_member_kicked_while_the_connection_is_down_is_disconnected_when_it_returns(
    variables: dict[str, str], sfu: FakeSfu
) -> None:
    async with server_with_insight(variables) as (chat, community):
        await sfu.until("sync_request")
        owner, ada = await newcomer(chat, "Owner"), await newcomer(chat, "Ada")
        give_role(community, owner.id, "owner")
        await sfu.send_event("peer_joined", "lobby", ada.id)
        await sfu.stop()
        await wait_until("the connection is lost", partial(is_lost, community), within_s=10)
        await owner.done("POST", f"/api/members/{ada.id}/kick")
        sfu.people["lobby"] = [ada.id]
        await sfu.start()
        await sfu.until("disconnect_user")
    # After a restart, the server sends the disconnect command again.
    async with server_with_insight(variables):
        await sfu.until("disconnect_user", 2)


async def is_lost(community: Community) -> bool:
    return not community.link.synchronised


async def test_moderation_actions_are_in_the_audit_log(world: World) -> None:
    await world.enters(world.ada)
    await world.mod.ask("voice_mute", member_id=world.ada.id, muted=True)
    await world.mod.ask("voice_move", member_id=world.ada.id, channel_id="side-room")
    await world.mod.ask("voice_disconnect", member_id=world.ada.id)
    page = (await world.community.audit.page(world.mod.id, WantedEntries(), 10)).entries
    assert [(entry.action, entry.target_id, entry.details) for entry in page][:3] == [
        ("voice_disconnect", world.ada.id, {"channel_id": "lobby"}),
        ("voice_move", world.ada.id, {"channel_id": "side-room"}),
        ("voice_mute", world.ada.id, {"muted": True, "deafened": False}),
    ]


async def test_a_members_self_mute_is_visible_and_survives_reconnections(world: World) -> None:
    await world.enters(world.ada)
    reply = await world.ada.ask("voice_mute_self", muted=True)
    assert reply["data"]["self_muted"] is True
    key = {"channel_id": "lobby", "member_id": world.ada.id}
    assert await world.bob.pushed("voice_updated") == {**key, "self_muted": True}
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.bob.pushed("voice_left")
    await world.sfu.send_event("peer_joined", "lobby", world.ada.id)
    assert (await world.bob.pushed("voice_joined"))["member"] == {
        "id": world.ada.id,
        "nickname": "Ada",
        "muted": False,
        "deafened": False,
        "self_muted": True,
        "self_deafened": False,
        "hand": 0,
        "camera": False,
        "screen": False,
        "may_speak": True,
    }
    await world.nothing_more()
    assert world.sfu.count("user_audio_control") == 0, "the member's own page mutes the microphone"
