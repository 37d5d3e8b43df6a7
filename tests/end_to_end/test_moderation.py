"""Moderation by the chat server takes effect on people's media immediately during a call.

See `user_audio_control`, `disconnect_user` and `user_caps` in docs/signalling.md, "From the chat server".
"""

import asyncio

from tests.kit.aiortc_client import CAMERA, MIC, AiortcClient
from tests.kit.aiortc_guests import Guests
from tests.kit.incoming_track import Incoming
from tests.kit.sfu_process import ControlConnection
from tests.kit.synthetic_media import Picture

LOBBY = {"room_id": "lobby"}


async def talking(guests: Guests) -> tuple[AiortcClient, AiortcClient]:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await asyncio.gather(ada.hears(grace), grace.hears(ada), ada.sees(grace), grace.sees(ada))
    return ada, grace


async def control_audio(control: ControlConnection, user_id: str, **flags: bool) -> None:
    flags = {"is_muted": False, "is_deafened": False} | flags
    await control.send("user_audio_control", **LOBBY, user_id=user_id, **flags)
    await control.sync()


async def drain(listener: AiortcClient, speaker: AiortcClient) -> None:
    """Wait until the listener has received everything in transit.

    The speaker sends a video frame with a new shade through the same socket, after everything else. The wait
    ends when that frame arrives.
    """
    camera = speaker.sends[CAMERA]
    assert isinstance(camera, Picture)
    speaker.voice = speaker.voice.darker()
    camera.shade = speaker.voice.shade
    await listener.sees(speaker, frames=2)


def sequence_gaps(section: Incoming) -> int:
    """Count the sequence numbers that a receiver would consider lost."""
    numbers = section.numbers
    assert len(set(numbers)) == len(numbers)
    return max(numbers) - min(numbers) + 1 - len(numbers)


async def test_the_audio_of_a_muted_user_stops_immediately_and_resumes_without_a_gap(
    guests: Guests, control: ControlConnection
) -> None:
    ada, grace = await talking(guests)
    sound, offers = await grace.hears(ada), grace.offers
    for _ in range(2):
        await control_audio(control, "ada", is_muted=True)
        await drain(grace, ada)
        before = sound.packets
        await grace.sees(ada, frames=15)
        assert sound.packets == before, "half a second of video and no audio packet"
        await control_audio(control, "ada")
        await grace.hears(ada)
    assert sequence_gaps(sound) == 0
    assert grace.offers == offers, "nothing was negotiated"
    await ada.hears(grace)


async def test_a_deafened_user_hears_nobody_but_is_heard(guests: Guests, control: ControlConnection) -> None:
    ada, grace = await talking(guests)
    sound = await grace.hears(ada)
    await control_audio(control, "grace", is_deafened=True)
    await drain(grace, ada)
    before = sound.packets
    await asyncio.gather(grace.sees(ada, frames=15), ada.hears(grace))
    assert sound.packets == before
    await control_audio(control, "grace")
    await grace.hears(ada)
    assert sequence_gaps(sound) == 0


async def test_a_mute_survives_leaving_and_rejoining(guests: Guests, control: ControlConnection) -> None:
    ada, grace = await talking(guests)
    await control_audio(control, "ada", is_muted=True)
    await ada.leave()
    await grace.lost(ada, "mic")
    ada = await guests.arrive("ada")
    await grace.sees(ada, frames=15)
    sound = grace.section(ada, "mic")
    assert sound is None or sound.packets == 0
    await control_audio(control, "ada")
    await grace.hears(ada)


async def test_a_user_who_is_disconnected_disappears_for_the_others(
    guests: Guests, control: ControlConnection
) -> None:
    ada, grace = await talking(guests)
    await control.send("disconnect_user", **LOBBY, user_id="ada")
    assert await ada.ending() == (4004, "Disconnected by the server")
    assert (await control.hear("peer_left"))["user_id"] == "ada"
    await asyncio.gather(grace.lost(ada), grace.lost(ada, "mic"))
    assert await control.sync() == {"lobby": ["grace"]}
    ada = await guests.arrive("ada")
    await asyncio.gather(grace.sees(ada), ada.sees(grace))


async def test_revoking_a_permission_ends_only_the_track_that_needs_it(
    guests: Guests, control: ControlConnection
) -> None:
    ada, grace = await talking(guests)
    sound = await grace.hears(ada)
    await control.send("user_caps", **LOBBY, user_id="ada", caps=["speak"])
    await grace.lost(ada)
    await grace.hears(ada)
    assert (ada.directions[MIC], ada.directions[CAMERA]) == ("sendonly", "inactive")
    assert grace.section(ada, "mic") is sound and sequence_gaps(sound) == 0
    await control.send("user_caps", **LOBBY, user_id="ada", caps=["speak", "share_video"])
    await asyncio.gather(grace.sees(ada), grace.hears(ada))
