"""Tests each event on the /server connection. See docs/signalling.md."""

import asyncio
import json
from typing import Any

import pytest

from tests.kit.negotiation import MIC
from tests.kit.sdp_answers import AnsweringClient
from tests.kit.signalling_server import SECRET, SignallingServer, signalling_server
from tests.kit.virtual_time import in_virtual_time

HOME = {"server_id": "home", "server_password": SECRET}
LOST = {"lost": True}
LOBBY = {"room_id": "lobby", **HOME}
LINE = {
    "local": "127.0.0.1",
    "remote": ("127.0.0.2", 3478),
    "local_key": "0" * 56,
    "remote_key": "1" * 56,
    "ssrcs": [70_000, 70_001],
    "rtcp_ssrc": 70_009,
}


async def published_mic(server: SignallingServer, user_id: str) -> Any:
    """Join with the microphone on. Return the participant's transport."""
    person = await server.join(user_id)
    await person.answer(AnsweringClient(sends={MIC: ""}))
    await asyncio.sleep(0.1)
    transport = server.plane.transports[-1]
    transport.listener.track_started(MIC, 7, 111)
    return transport


@in_virtual_time
async def test_server_register_creates_the_room_and_is_idempotent() -> None:
    async with signalling_server() as server:
        control = await server.control("home", "lobby", "lobby", "attic")
        assert await control.sync() == [
            {"room_id": "lobby", "user_ids": []},
            {"room_id": "attic", "user_ids": []},
        ]


@in_virtual_time
async def test_sync_response_lists_the_participants_in_the_rooms_of_the_registration() -> None:
    async with signalling_server() as server:
        home, away = await server.control("home", "lobby", "attic"), await server.control("away")
        await server.join("ann")
        await home.hear("peer_joined")
        await server.join("ben", server_id="away")
        await away.hear("peer_joined")
        assert await home.sync() == [
            {"room_id": "lobby", "user_ids": ["ann"]},
            {"room_id": "attic", "user_ids": []},
        ]
        assert await away.sync("away") == [{"room_id": "lobby", "user_ids": ["ben"]}]


@in_virtual_time
async def test_a_reconnecting_chat_server_may_sync_first_and_then_gets_events() -> None:
    async with signalling_server() as server:
        await (await server.control()).close()
        control = await server.connect("/server")
        assert await control.sync() == [{"room_id": "lobby", "user_ids": []}]
        await server.join("ann")
        assert await control.hear("peer_joined") == {"room_id": "lobby", "user_id": "ann"}


@in_virtual_time
async def test_peer_joined_and_peer_left_go_only_to_the_control_connections_of_the_registration() -> None:
    async with signalling_server() as server:
        first, second, away = [await server.control(name) for name in ("home", "home", "away")]
        ann = await server.join("ann")
        await ann.close()
        for control in (first, second):
            assert await control.hear("peer_joined") == {"room_id": "lobby", "user_id": "ann"}
            assert await control.hear("peer_left") == {"room_id": "lobby", "user_id": "ann"}
        assert await away.sync("away") == [{"room_id": "lobby", "user_ids": []}]


@in_virtual_time
async def test_a_participant_whose_connection_breaks_counts_as_lost_and_may_return() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ways = {"leaves": (1000, {}), "closes": (1001, {}), "returns": (4000, LOST), "dies": (None, LOST)}
        for user_id, (code, lost) in ways.items():
            ann = await server.join(user_id)
            if code is None:
                ann.vanish()
            else:
                await ann.close(code)
            await control.hear("peer_joined")
            assert await control.hear("peer_left") == {"room_id": "lobby", "user_id": user_id, **lost}


@in_virtual_time
async def test_when_a_participant_rejoins_peer_left_precedes_peer_joined() -> None:
    async with signalling_server() as server:
        control = await server.control()
        first = await server.join("ann")
        await server.join("ann")
        _, left, _ = [await control.hear(event) for event in ("peer_joined", "peer_left", "peer_joined")]
        assert left == {"room_id": "lobby", "user_id": "ann", **LOST}
        assert await first.ending() == (4001, "Joined again from elsewhere")
        assert await control.sync() == [{"room_id": "lobby", "user_ids": ["ann"]}]


@in_virtual_time
async def test_disconnect_user_closes_the_users_connection() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await server.join("ann")
        await control.send("disconnect_user", {**LOBBY, "user_id": "ann"})
        assert await ann.ending() == (4004, "Disconnected by the server")
        await control.hear("peer_joined")
        assert await control.hear("peer_left") == {"room_id": "lobby", "user_id": "ann"}


@in_virtual_time
async def test_user_audio_control_mutes_and_deafens_the_user_persistently() -> None:
    async with signalling_server() as server:
        control = await server.control()
        transport = await published_mic(server, "ann")
        await control.hear("peer_joined")
        await control.send(
            "user_audio_control", {**LOBBY, "user_id": "ann", "is_muted": True, "is_deafened": True}
        )
        await control.sync()
        assert transport.sections[MIC].muted and transport.deafened
        again = await published_mic(server, "ann")
        assert again is not transport and again.sections[MIC].muted and again.deafened


@in_virtual_time
async def test_user_caps_changes_what_a_participant_may_send() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await server.join("ann")
        await ann.answer()
        await control.send("user_caps", {**LOBBY, "user_id": "ann", "caps": ["speak", "fly"]})
        offer = await ann.hear("offer")
        assert offer["sdp"].count("a=recvonly") == 1 and offer["sdp"].count("a=inactive") == 3


@pytest.mark.parametrize("origin", ["http://127.0.0.1", "https://page.example", "null", "not an origin"])
@in_virtual_time
async def test_a_message_is_accepted_by_its_credentials_regardless_of_the_origin(origin: str) -> None:
    async with signalling_server() as server:
        await server.control()
        control = await server.connect("/server", headers={"Origin": origin})
        await control.send("server_register", {**LOBBY, "room_id": "den", "server_password": "guess"})
        await control.send("server_register", {**HOME, "room_id": "attic"})
        assert [room["room_id"] for room in await control.sync()] == ["lobby", "attic"]


@pytest.mark.parametrize("password", ["guess", "", None])
@in_virtual_time
async def test_a_message_with_wrong_credentials_is_dropped_silently(password: str | None) -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await server.join("ann")
        await control.hear("peer_joined")
        intruder = await server.connect("/server")
        for event, extra in (
            ("server_register", {"room_id": "attic"}),
            ("disconnect_user", {"user_id": "ann"}),
            ("user_audio_control", {"user_id": "ann", "is_muted": True, "is_deafened": True}),
            ("user_caps", {"user_id": "ann", "caps": []}),
            ("sync_request", {}),
        ):
            await intruder.send(event, {**LOBBY, **extra, "server_password": password})
        assert await control.sync() == [{"room_id": "lobby", "user_ids": ["ann"]}]
        assert not server.plane.transports[0].deafened
        # The intruder's first response is to a message with its own credentials.
        await intruder.send("server_register", {**HOME, "server_id": "intruder", "room_id": "den"})
        assert await intruder.sync("intruder") == [{"room_id": "den", "user_ids": []}]
        assert not ann.socket.closed


@pytest.mark.parametrize("event", ["server_register", "disconnect_user", "user_audio_control", "user_caps"])
@in_virtual_time
async def test_a_message_with_missing_fields_is_dropped(event: str) -> None:
    async with signalling_server() as server:
        control = await server.control()
        for data in (
            "",
            "[]",
            "{",
            json.dumps(HOME),
            json.dumps({**LOBBY, "user_id": 5}),
            json.dumps({**LOBBY, "user_id": "nobody"}),
        ):
            await control.send(event, data)
        assert await control.sync() == [{"room_id": "lobby", "user_ids": []}]


@in_virtual_time
async def test_an_unknown_event_from_a_newer_chat_server_does_not_close_the_connection() -> None:
    async with signalling_server() as server:
        control = await server.control()
        await control.send("room_colour", {**LOBBY, "colour": "red"})
        assert await control.sync()


@in_virtual_time
async def test_keep_alive_needs_no_credentials_and_the_service_also_sends_keep_alives() -> None:
    async with signalling_server() as server:
        control = await server.connect("/server")
        await control.send("keep_alive", {"timestamp": 1})
        envelope = await control.hear("keep_alive")
        assert envelope["timestamp"] == pytest.approx(server.sfu.wall_clock() * 1000, abs=1000)


@pytest.mark.parametrize("first", ['{"event":"client_join","data":"{}"}', "{", "[]", '"x"', '{"event":7}'])
@in_virtual_time
async def test_a_wrong_first_message_closes_the_connection_with_1008(first: str) -> None:
    async with signalling_server() as server:
        control = await server.connect("/server")
        await control.raw(first)
        assert await control.ending() == (1008, "Expected server_register event")


@in_virtual_time
async def test_a_connection_closes_with_1008_if_its_first_message_is_late() -> None:
    async with signalling_server() as server:
        assert await (await server.connect("/server")).ending() == (1008, "Expected server_register event")


@in_virtual_time
async def test_a_malformed_later_message_closes_the_connection_with_1008_and_the_reason() -> None:
    async with signalling_server() as server:
        control = await server.control()
        await control.raw("{")
        assert await control.ending() == (1008, "The message is not valid JSON")


@in_virtual_time
async def test_two_servers_with_the_same_room_ids_do_not_affect_each_other() -> None:
    async with signalling_server() as server:
        home, away = await server.control("home"), await server.control("away")
        ann, ben = await server.join("ann"), await server.join("ann", server_id="away")
        await away.send("disconnect_user", {**LOBBY, "user_id": "ann"} | {"server_id": "away"})
        assert (await ben.ending())[0] == 4004
        await home.hear("peer_joined")
        assert await home.sync() == [{"room_id": "lobby", "user_ids": ["ann"]}]
        assert not ann.socket.closed


@in_virtual_time
async def test_a_sweep_every_5_minutes_removes_rooms_that_were_empty_for_30_minutes() -> None:
    async with signalling_server() as server:
        control = await server.control()
        reading = asyncio.create_task(_pong(control))
        await asyncio.sleep(29 * 60)
        assert [room.room_id for room in server.sfu.rooms.rooms()] == ["lobby"]
        await asyncio.sleep(6 * 60 + 1)
        assert list(server.sfu.rooms.rooms()) == []
        reading.cancel()


async def _pong(control: Any) -> None:
    """Read messages until cancelled. Reading also answers pings."""
    while True:
        await control.socket.receive()


@in_virtual_time
async def test_a_chat_server_with_an_older_epoch_is_disconnected_and_refused() -> None:
    async with signalling_server() as server:
        older = await server.control()
        ann = await server.join("ann")
        await older.hear("peer_joined")
        newer = await server.connect("/server")
        assert await newer.sync(epoch=5) == [{"room_id": "lobby", "user_ids": ["ann"]}]
        assert await older.ending() == (4007, "Another chat server owns the community now")

        for event in (
            ("disconnect_user", {**LOBBY, "user_id": "ann", "epoch": 4}),
            ("server_register", {**LOBBY, "room_id": "cellar"}),
            # Relay events are rejected as well, because they determine where media is sent.
            ("span_room", {**LOBBY, "spans": False, "relays": [], "epoch": 4}),
            ("end_relay", {**LOBBY, "relay_id": "r", "epoch": 4}),
            ("send_relay", {**LOBBY, "relay_id": "r", "track_id": "t", "line": LINE, "epoch": 4}),
        ):
            older = await server.connect("/server")
            await older.send(*event)
            assert await older.ending() == (4007, "Another chat server owns the community now")
        again = await server.connect("/server")
        assert await again.sync(epoch=5) == [{"room_id": "lobby", "user_ids": ["ann"]}]
        # Other communities have their own epochs.
        assert await (await server.control("away")).sync("away") == [{"room_id": "lobby", "user_ids": []}]
        assert not ann.socket.closed
