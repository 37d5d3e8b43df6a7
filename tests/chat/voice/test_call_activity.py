"""Participants can raise their hands and send reactions, and moderators can stop a screen share."""

from typing import Any

from svc.chat.access.permissions import Override, Permission
from svc.chat.audit.log import WantedEntries
from svc.chat.voice.call_activity import REACTION_BURST
from tests.chat.voice.conftest import World
from tests.chat.voice.test_moderation import error, override


async def hand(member: Any, raised: bool = True) -> int:
    reply = await member.ask("voice_hand", channel_id="lobby", raised=raised)
    assert reply["event"] == "voice_hand", reply
    return int(reply["data"]["hand"])


async def test_raised_hands_are_listed_in_the_order_in_which_they_were_raised(world: World) -> None:
    for member in (world.mod, world.ada, world.bob):
        await world.enters(member)
    first, second = await hand(world.bob), await hand(world.ada)
    assert 0 < first < second
    key = {"channel_id": "lobby", "member_id": world.bob.id}
    assert await world.mod.pushed("voice_updated") == {**key, "hand": first}
    assert await hand(world.bob) == first, "a hand that is raised again keeps its place"
    assert await hand(world.bob, raised=False) == 0
    assert await hand(world.bob) > second, "a new hand comes last"
    async with world.chat.member("Eve") as eve:
        seen = {person["nickname"]: person["hand"] for person in eve.welcome["voice"]["lobby"]}
        assert seen["Mod"] == 0 < seen["Ada"] < seen["Bob"]


async def test_a_hand_lowered_by_a_moderator_can_be_raised_again(world: World) -> None:
    lowering: dict[str, object] = {"channel_id": "lobby", "member_id": world.ada.id}
    assert await error(world.mod.ask("voice_lower_hand", **lowering)) == "not_in_voice"
    await world.enters(world.ada)
    await world.enters(world.bob)
    first = await hand(world.ada)
    assert await error(world.bob.ask("voice_lower_hand", **lowering)) == "forbidden"
    elsewhere = {**lowering, "channel_id": "general"}
    assert await error(world.mod.ask("voice_lower_hand", **elsewhere)) == "unknown_channel"
    for _ in range(2):  # The second request finds no raised hand and sends no event.
        reply = await world.mod.ask("voice_lower_hand", **lowering)
        assert reply["data"] == {}
    assert await hand(world.ada) > first
    key = {"channel_id": "lobby", "member_id": world.ada.id}
    hands = [await world.bob.pushed("voice_updated") for _ in range(3)]
    assert [hand["hand"] for hand in hands[:2]] == [first, 0]
    assert hands[2]["hand"] > first and hands[2].items() >= key.items()


async def test_a_hand_disappears_when_its_member_leaves(world: World) -> None:
    await world.enters(world.ada)
    await hand(world.ada)
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.bob.pushed("voice_left")
    await world.sfu.send_event("peer_joined", "lobby", world.ada.id)
    assert (await world.bob.pushed("voice_joined"))["member"]["hand"] == 0


async def test_viewers_of_the_channel_see_who_is_sharing_a_camera_or_a_screen(world: World) -> None:
    body = {"channel_id": "lobby", "camera": True, "screen": False}
    assert await error(world.ada.ask("voice_send", **body)) == "not_in_voice"
    await world.enters(world.ada)
    reply = await world.ada.ask("voice_send", **body)
    assert reply["data"] == {"camera": True, "screen": False}
    key = {"channel_id": "lobby", "member_id": world.ada.id}
    assert await world.bob.pushed("voice_updated") == {**key, "camera": True}
    await world.ada.ask("voice_send", **body)
    await world.ada.ask("voice_send", **{**body, "screen": True})
    assert await world.bob.pushed("voice_updated") == {**key, "screen": True}
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.bob.pushed("voice_left")
    await world.sfu.send_event("peer_joined", "lobby", world.ada.id)
    person = (await world.bob.pushed("voice_joined"))["member"]
    assert (person["camera"], person["screen"]) == (False, False)


async def test_participants_see_a_reaction(world: World) -> None:
    await world.enters(world.ada)
    await world.enters(world.bob)
    reply = await world.ada.ask("voice_react", channel_id="lobby", emoji="🎉")
    assert reply["event"] == "voice_react"
    for member in (world.ada, world.bob):
        seen = await member.pushed("voice_reacted")
        assert seen == {"channel_id": "lobby", "member_id": world.ada.id, "emoji": "🎉"}
    # A member outside the call does not get the reaction, so their next event is a different one.
    await hand(world.ada)
    assert "hand" in (await world.mod.receive())["data"]


async def test_reactions_are_limited(world: World) -> None:
    await world.enters(world.ada)
    body = {"channel_id": "lobby", "emoji": "👏"}
    codes = []
    # The general rate limit delays these requests, so the limit for reactions recovers a little in the
    # meantime.
    while "rate_limited" not in codes:
        reply = await world.ada.ask("voice_react", **body)
        codes.append(reply["data"].get("error", ""))
    assert len(codes) > REACTION_BURST
    assert reply["data"]["retry_after_ms"] > 0


async def test_only_participants_with_permission_can_raise_hands_and_react(world: World) -> None:
    raising: dict[str, object] = {"channel_id": "lobby", "raised": True}
    reacting: dict[str, object] = {"channel_id": "lobby", "emoji": "👏"}
    assert await error(world.ada.ask("voice_hand", **raising)) == "not_in_voice"
    assert await error(world.ada.ask("voice_react", **reacting)) == "not_in_voice"
    await world.enters(world.ada)
    assert await error(world.ada.ask("voice_react", channel_id="lobby", emoji="no emoji")) == "invalid_emoji"
    assert await error(world.ada.ask("voice_react", channel_id="lobby")) == "invalid_request"
    assert await error(world.ada.ask("voice_hand", channel_id="lobby", raised=1)) == "invalid_request"
    for event, data in (("voice_hand", raising), ("voice_react", reacting)):
        assert await error(world.ada.ask(event, **{**data, "channel_id": "general"})) == "unknown_channel"
    override(world, "lobby", world.ada.id, Override(deny=Permission.ADD_REACTIONS))
    assert await error(world.ada.ask("voice_react", **reacting)) == "forbidden"


async def test_a_member_whose_screen_share_was_stopped_cannot_restart_it_until_they_leave(
    world: World,
) -> None:
    await world.enters(world.ada)
    reply = await world.mod.ask("voice_stop_screen", member_id=world.ada.id)
    assert reply["event"] == "voice_stop_screen"
    assert await world.ada.pushed("voice_screen_stopped") == {"channel_id": "lobby"}
    command = await world.command("user_caps")
    # Skip the permissions that were sent when the member joined.
    while "share_screen" in command["caps"]:
        command = await world.command("user_caps", world.sfu.count("user_caps") + 1)
    assert (command["user_id"], command["caps"]) == (world.ada.id, ["share_video", "speak"])
    count = world.sfu.count("user_caps")
    override(world, "lobby", world.ada.id, Override(deny=Permission.SHARE_VIDEO))
    world.community.voice.control.permissions_changed([world.ada.id])
    assert (await world.command("user_caps", count + 1))["caps"] == ["speak"], (
        "the right is not restored with other permissions"
    )
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.bob.pushed("voice_left")
    await world.enters(world.ada)
    assert (await world.command("user_caps", count + 2))["caps"] == ["share_screen", "speak"]
    page = (await world.community.audit.page(world.mod.id, WantedEntries(), 10)).entries
    entry = page[0]
    assert (entry.action, entry.target_id, entry.details) == (
        "voice_stop_screen",
        world.ada.id,
        {"channel_id": "lobby"},
    )
