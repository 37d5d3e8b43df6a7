"""Members of a private conversation can call each other in its voice room. Nobody else can find the room."""

from typing import Any

from tests.chat.http_member import HttpMember
from tests.chat.live_member import LiveMember
from tests.chat.private_conversations.test_private import second_device
from tests.chat.push.service import Browser, push_service
from tests.chat.voice.conftest import World


def person(world: World, member: LiveMember) -> HttpMember:
    return world.people[member.id]


async def conversation(world: World, *others: LiveMember) -> str:
    """Open a conversation of Ada with these members. Return its id."""
    members = [other.id for other in others]
    await world.take_part(world.ada, *others)
    opened = await person(world, world.ada).done("POST", "/api/private/conversations", {"members": members})
    return str(opened["id"])


async def request(member: LiveMember, event: str, **data: object) -> Any:
    """Send a request. Return the response or the error code."""
    data = (await member.ask(event, **data))["data"]
    return data.get("error", data)


async def test_only_members_of_the_conversation_can_join_or_see_its_call(world: World) -> None:
    room_id = await conversation(world, world.bob)
    way = await request(world.ada, "voice_join", channel_id=room_id, sealed=True)
    assert way["client_join"]["room_id"] == room_id
    # Clients that do not encrypt cannot join, and neither can devices that would get no keys.
    assert await request(world.ada, "voice_join", channel_id=room_id) == "sealing_differs"
    another = await second_device(person(world, world.ada))
    async with world.chat.member("", another.token) as live:
        assert await request(live, "voice_join", channel_id=room_id, sealed=True) == "no_device"
    # A moderator who may move people between channels has no access to this room.
    assert await request(world.mod, "voice_join", channel_id=room_id, sealed=True) == "unknown_channel"
    await world.sfu.send_event("peer_joined", room_id, world.ada.id)
    for member in (world.ada, world.bob):
        joined = await member.pushed("voice_joined")
        assert (joined["channel_id"], joined["member"]["id"]) == (room_id, world.ada.id)
    await world.nothing_more()
    assert "voice_joined" not in world.mod.kept_events()
    for event, more in (("voice_disconnect", {}), ("voice_move", {"channel_id": "lobby"})):
        assert await request(world.mod, event, member_id=world.ada.id, **more) == "not_in_voice"


async def test_leaving_the_conversation_disconnects_the_member_from_its_call(world: World) -> None:
    room_id = await conversation(world, world.bob, world.mod)
    for member in (world.ada, world.bob):
        await world.enters(member, room_id)
    await person(world, world.bob).done("POST", f"/api/private/conversations/{room_id}/leave")
    assert await world.command("disconnect_user") == {"room_id": room_id, "user_id": world.bob.id}
    assert await request(world.bob, "voice_join", channel_id=room_id, sealed=True) == "unknown_channel"


async def test_a_blocked_member_cannot_start_a_call(world: World) -> None:
    room_id = await conversation(world, world.bob)
    await person(world, world.bob).done("PUT", f"/api/me/blocks/{world.ada.id}")
    assert await request(world.ada, "voice_join", channel_id=room_id, sealed=True) == "private_refused"


async def test_only_members_of_the_conversation_can_decline_its_call(world: World) -> None:
    room_id = await conversation(world, world.bob)
    assert await request(world.mod, "private_call_decline", conversation_id=room_id) == "unknown_conversation"
    assert await request(world.bob, "private_call_decline", conversation_id=room_id) == {}
    event = {"conversation_id": room_id, "member_id": world.bob.id}
    assert await world.ada.pushed("private_call_declined") == event
    await world.nothing_more()
    assert "private_call_declined" not in world.mod.kept_events()


async def test_starting_a_call_rings_the_devices_of_absent_members_but_joining_it_does_not(
    world: World,
) -> None:
    room_id = await conversation(world, world.bob)
    async with push_service() as service:
        world.community.notifications.poster.exempt.add(service.origin)
        browsers = [Browser(service, name) for name in ("ada", "bob")]
        for member, browser in zip((world.ada, world.bob), browsers, strict=True):
            await person(world, member).done("PUT", "/api/me/push", browser.subscription())
        await request(world.ada, "voice_join", channel_id=room_id, sealed=True)
        received = await service.next()
        assert browsers[1].read(received) == {"kind": "call", "talk_id": room_id}
        assert (received.headers["Urgency"], received.headers["TTL"]) == ("high", "45")
        world.sfu.people[room_id] = [world.ada.id]
        await world.sfu.send_event("peer_joined", room_id, world.ada.id)
        await world.bob.pushed("voice_joined")
        await request(world.bob, "voice_join", channel_id=room_id, sealed=True)
        await world.nothing_more()
        assert service.received.empty()
