"""A chat server is notified of the speakers in the rooms that it watches, at a limited rate."""

import asyncio
from typing import Any

from svc.sfu.speaker_reports import INTERVAL_S
from tests.kit.negotiation import MIC
from tests.kit.sdp_answers import AnsweringClient
from tests.kit.signalling_server import SECRET, SignallingServer, Socket, signalling_server
from tests.kit.virtual_time import in_virtual_time

LOBBY = {"room_id": "lobby", "server_id": "home", "server_password": SECRET}
QUIET, LOUD = 90, 20


async def speaker(server: SignallingServer, control: Socket, user_id: str) -> Any:
    """Join with a microphone. Return the listener for the participant's audio levels.

    When this returns, `control` has been notified of the join.
    """
    person = await server.join(user_id)
    await control.hear("peer_joined")
    await person.answer(AnsweringClient(sends={MIC: ""}))
    await asyncio.sleep(0.1)
    return server.plane.transports[-1].listener


async def request_speakers(control: Socket, wanted: bool, room_id: str = "lobby") -> None:
    await control.send("speakers_wanted", {**LOBBY, "room_id": room_id, "wanted": wanted})


async def hears(control: Socket, *user_ids: str) -> None:
    assert await control.hear("speakers") == {"room_id": "lobby", "user_ids": list(user_ids)}


@in_virtual_time
async def test_a_subscriber_gets_the_current_state_and_every_change() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await speaker(server, control, "ann")
        await request_speakers(control, True)
        await hears(control)
        ann.speaking_changed(MIC, True, LOUD)
        await hears(control, "ann")
        ann.speaking_changed(MIC, False, QUIET)
        await hears(control)


@in_virtual_time
async def test_many_changes_become_one_event_and_reverted_changes_cause_none() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann, ben, cem = [await speaker(server, control, name) for name in ("ann", "ben", "cem")]
        await request_speakers(control, True)
        await hears(control)
        for user in (cem, ann, ben):
            user.speaking_changed(MIC, True, LOUD)
        await hears(control, "ann", "ben", "cem")
        for level in (20, 40, 60):
            ann.speaking_changed(MIC, False, QUIET)
            ann.speaking_changed(MIC, True, level)
        await asyncio.sleep(10 * INTERVAL_S)
        await control.sync()  # No event arrives before the response.


@in_virtual_time
async def test_only_current_subscribers_receive_updates() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await speaker(server, control, "ann")
        silent = await server.control()
        await request_speakers(control, True)
        await hears(control)
        await request_speakers(control, False)
        await request_speakers(control, True, "nowhere")
        await control.sync()
        ann.speaking_changed(MIC, True, LOUD)
        await asyncio.sleep(10 * INTERVAL_S)
        await control.sync()
        await silent.sync()
