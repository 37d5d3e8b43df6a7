"""Two chat servers that share a media service and use the same room and user ids do not affect each other.

Rooms, sync responses and peer events belong to a single registration. See docs/signalling.md, "From the chat
server".
"""

import asyncio

from tests.kit.aiortc_client import AiortcClient
from tests.kit.aiortc_guests import BARBARA, EDSGER, Guests
from tests.kit.sfu_process import SECRET, ControlConnection, SfuProcess

OTHER_SECRET = "another control secret"


async def both_talk(ada: AiortcClient, grace: AiortcClient) -> None:
    """Wait until these two people can see and hear each other. Each tenant's audio pitches and video shades
    are different.
    """
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))


async def test_tenants_with_identical_room_and_user_ids_are_isolated_from_each_other(
    sfu: SfuProcess, control: ControlConnection, guests: Guests
) -> None:
    away = await sfu.control("lobby", server_id="away", secret=OTHER_SECRET)
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    away_ada = await guests.arrive("ada", voice=EDSGER, server_id="away", server_password=OTHER_SECRET)
    away_grace = await guests.arrive("grace", voice=BARBARA, server_id="away", server_password=OTHER_SECRET)
    everybody = (ada, grace, away_ada, away_grace)

    await asyncio.gather(both_talk(ada, grace), both_talk(away_ada, away_grace))
    assert [len(person.incoming) for person in everybody] == [2, 2, 2, 2]
    assert (grace.welcome["peers"], away_grace.welcome["peers"]) == (["ada"], ["ada"])
    for server in (control, away):
        assert await server.sync() == {"lobby": ["ada", "grace"]}
        joined = [data["user_id"] for event, data in server.received if event == "peer_joined"]
        assert joined == ["ada", "grace"], "each tenant got events only for its own users"

    # A request with the other server's id but this server's secret is dropped. With its own id, a server can
    # affect only its own users.
    grace_here = {"room_id": "lobby", "user_id": "grace"}
    silence = {"is_muted": True, "is_deafened": True}
    for server_id in ("away", "home"):
        await control.send("user_audio_control", **grace_here, **silence, server_id=server_id)
        await control.send("user_caps", **grace_here, caps=[], server_id=server_id)
        await control.send("disconnect_user", **grace_here, server_id=server_id)
    await control.sync()
    assert (await grace.ending())[0] == 4004
    await ada.lost(grace)
    await both_talk(away_ada, away_grace)
    assert (await sfu.metrics())["svc_sfu_dropped_control_messages_total"] == 3
    assert await away.sync() == {"lobby": ["ada", "grace"]}
    assert "peer_left" not in dict(away.received)


async def test_the_secret_of_one_tenant_does_not_give_access_to_the_rooms_of_another(
    sfu: SfuProcess, guests: Guests
) -> None:
    await sfu.control("lobby", server_id="away", secret=OTHER_SECRET)
    refused = [
        await guests.arrive("ada", server_id="away", server_password=SECRET),
        await guests.arrive("ada", server_id="home", server_password=OTHER_SECRET),
    ]
    for person in refused:
        reason = "Room does not exist or credentials do not match"
        assert (await person.ending(), person.errors) == ((4003, reason), [reason])


async def test_a_second_registration_with_a_different_secret_is_rejected(
    sfu: SfuProcess, control: ControlConnection, guests: Guests
) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await both_talk(ada, grace)
    intruder = await sfu.control("lobby", "cellar", server_id="intruder", secret=OTHER_SECRET)
    for room_id in ("lobby", "cellar"):
        await intruder.send("server_register", server_id="home", room_id=room_id)
    await intruder.send("sync_request", server_id="home")
    await intruder.send("disconnect_user", server_id="home", room_id="lobby", user_id="ada")
    assert await intruder.sync() == {"lobby": [], "cellar": []}
    assert await control.sync() == {"lobby": ["ada", "grace"]}
    await both_talk(ada, grace)
