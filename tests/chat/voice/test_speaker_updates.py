"""Only members who are watching a call from outside get speaker updates from the chat server."""

from svc.base.signalling_codec import serialise
from tests.chat.voice.conftest import World


async def speak(world: World, *user_ids: str) -> None:
    await world.sfu.send_text(serialise("speakers", {"room_id": "lobby", "user_ids": list(user_ids)}))


async def test_viewers_outside_the_call_see_who_is_speaking(world: World) -> None:
    await world.enters(world.ada)
    await world.bob.ask("in_sight", visible=True)
    assert await world.command("speakers_wanted") == {"room_id": "lobby", "wanted": True}
    await speak(world, world.ada.id)
    event = {"channel_id": "lobby", "member_ids": [world.ada.id]}
    assert await world.bob.pushed("voice_speaking") == event
    # A member who starts watching later gets the current speakers.
    await world.mod.ask("in_sight", visible=True)
    assert await world.mod.pushed("voice_speaking") == event
    await speak(world)
    for member in (world.bob, world.mod):
        assert await member.pushed("voice_speaking") == {**event, "member_ids": []}


async def test_the_sfu_sends_speaker_updates_only_while_somebody_is_watching_a_call(world: World) -> None:
    await world.enters(world.ada)
    # Participants in the call get speaker updates from the media service.
    await world.ada.ask("in_sight", visible=True)
    await world.bob.ask("in_sight", visible=True)
    await world.command("speakers_wanted")
    await world.bob.ask("in_sight", visible=False)
    assert await world.command("speakers_wanted", 2) == {"room_id": "lobby", "wanted": False}
    # An update that was already in transit is dropped.
    await speak(world, world.ada.id)
    await world.nothing_more()
    await world.enters(world.bob)
    await world.mod.ask("in_sight", visible=True)
    assert await world.command("speakers_wanted", 3) == {"room_id": "lobby", "wanted": True}
    await speak(world, world.bob.id)
    assert (await world.mod.pushed("voice_speaking"))["member_ids"] == [world.bob.id]
    await world.sfu.send_event("peer_left", "lobby", world.ada.id)
    await world.sfu.send_event("peer_left", "lobby", world.bob.id)
    assert await world.command("speakers_wanted", 4) == {"room_id": "lobby", "wanted": False}


async def test_speaker_updates_are_requested_again_from_a_restarted_sfu(world: World) -> None:
    await world.enters(world.ada)
    await world.bob.ask("in_sight", visible=True)
    await world.command("speakers_wanted")
    world.sfu.people["lobby"] = [world.ada.id]
    await world.sfu.drop_control()
    assert await world.command("speakers_wanted", 2) == {"room_id": "lobby", "wanted": True}
