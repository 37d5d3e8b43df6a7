"""The /client connection admits valid joins, rejects all others, and withstands misbehaving clients.

See docs/signalling.md.
"""

import asyncio
import json

import aiohttp
import pytest

from svc.base.grants import client_credential, issue_user_token
from svc.base.signalling_codec import MAX_FRAME_BYTES
from svc.sfu import signalling_connection
from svc.sfu.admission import REFUSAL
from svc.sfu.participant_connection import MAX_JOIN_CHARACTERS
from tests.kit.sdp_answers import AnsweringClient
from tests.kit.signalling_server import SECRET, Socket, signalling_server
from tests.kit.virtual_time import in_virtual_time


@in_virtual_time
async def test_a_join_with_the_raw_secret_gets_a_welcome_and_an_offer() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.ask_to_join("ann")
        assert await ann.hear("room_joined") == {
            "message": "Joined",
            "room_id": "lobby",
            "user_id": "ann",
            "peers": [],
        }
        assert (await ann.hear("offer"))["type"] == "offer"


@in_virtual_time
async def test_a_join_with_client_credential_and_user_token_is_welcomed_once() -> None:
    async with signalling_server() as server:
        await server.control()
        token = issue_user_token(
            SECRET,
            "home",
            user_id="ann",
            room_id="lobby",
            caps=["speak"],
            now=server.sfu.wall_clock(),
            jti="one",
        )
        grant = {"server_password": client_credential(SECRET, "home"), "user_token": token}
        ann = await server.ask_to_join("ann", **grant)
        await ann.hear("room_joined")
        assert (await ann.hear("offer"))["sdp"].count("a=recvonly") == 1
        again = await server.ask_to_join("ann", **grant)
        assert await again.hear("room_error") == REFUSAL


@pytest.mark.parametrize("path", ["/", "/client", "/sfu/client", "/any/other/path"])
@in_virtual_time
async def test_a_connection_to_any_other_path_is_treated_as_a_participant(path: str) -> None:
    async with signalling_server() as server:
        await server.control()
        await (await server.ask_to_join("ann", path=path)).hear("room_joined")


@pytest.mark.parametrize(
    "first",
    [
        *(
            '{"event":"keep_alive","data":"{}"}',
            '{"event":"answer","data":"{}"}',
            "{",
            "",
            "[]",
            '{"data":"{}"}',
        ),
        # Long messages from unauthenticated clients are not parsed.
        '{"event":"client_join","data":"' + MAX_JOIN_CHARACTERS * "a" + '"}',
    ],
)
@in_virtual_time
async def test_a_first_message_other_than_client_join_closes_the_connection_with_a_reason(first: str) -> None:
    async with signalling_server() as server:
        stranger = await server.connect("/client")
        await stranger.raw(first)
        assert await stranger.ending() == (1008, "Expected client_join event")


@in_virtual_time
async def test_a_connection_without_a_message_within_10_s_closes_with_a_reason() -> None:
    async with signalling_server() as server:
        now = asyncio.get_running_loop().time
        stranger, start = await server.connect("/client"), now()
        assert await stranger.ending() == (1008, "Expected client_join event")
        assert now() - start == pytest.approx(10, abs=1)


@pytest.mark.parametrize(
    "wrong",
    [{"room_id": "attic"}, {"server_id": "away"}, {"server_password": "guess"}, {"server_password": ""}],
)
@in_virtual_time
async def test_a_refused_join_gets_the_common_reason_as_room_error_and_then_4003(
    wrong: dict[str, str],
) -> None:
    async with signalling_server() as server:
        await server.control()
        stranger = await server.ask_to_join("ann", **wrong)
        assert await stranger.hear("room_error") == "Room does not exist or credentials do not match"
        assert await stranger.ending() == (4003, "Room does not exist or credentials do not match")
        assert server.plane.transports == []


@in_virtual_time
async def test_the_error_for_an_incomplete_client_join_names_the_field() -> None:
    async with signalling_server() as server:
        stranger = await server.ask_to_join("")
        assert await stranger.hear("room_error") == "user_id must not be empty"
        assert (await stranger.ending())[0] == 4003


@in_virtual_time
async def test_joins_beyond_max_peers_across_all_rooms_and_servers_are_rejected() -> None:
    async with signalling_server({"MAX_PEERS": "2"}) as server:
        await server.control("home", "lobby", "attic")
        await server.control("away")
        await server.join("ann", room_id="attic")
        await server.join("ben", server_id="away")
        late = await server.ask_to_join("cai")
        assert await late.hear("room_error") == "No seats left in this voice server"
        assert await late.ending() == (4003, "No seats left in this voice server")


@in_virtual_time
async def test_a_freed_seat_can_be_taken() -> None:
    async with signalling_server({"MAX_PEERS": "1"}) as server:
        await server.control()
        await (await server.join("ann")).close()
        await server.join("ben")
        await server.join("ben")


@in_virtual_time
async def test_an_unanswered_offer_closes_the_session_with_4002_after_15_s() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        assert await ann.ending() == (4002, "No answer to the offer within 15 s")


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ("{", "The message is not valid JSON"),
        ("[1]", "The message is not a JSON object"),
        ('{"event":"answer","data":{}}', "The data of the message is not a string containing JSON"),
        ('{"event":"dance"}', "Unknown event 'dance'"),
        ('{"event":"answer","data":"{}"}', "type is missing"),
    ],
)
@in_virtual_time
async def test_invalid_input_gets_a_room_error_and_the_call_continues(frame: str, error: str) -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        await ann.raw(frame)
        assert await ann.hear("room_error") == error
        await ann.answer()
        await ann.send("renegotiate", "{}")
        await ann.hear("offer")


@in_virtual_time
async def test_a_binary_frame_gets_a_room_error() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        await ann.socket.send_bytes(b"{}")
        assert await ann.hear("room_error") == "The message is not a text frame"


@pytest.mark.parametrize("path", ["/client", "/server"])
@in_virtual_time
async def test_a_message_over_256_kb_closes_the_connection_with_1009_and_the_reason(path: str) -> None:
    async with signalling_server() as server:
        stranger = await server.connect(path)
        await stranger.raw("x" * (MAX_FRAME_BYTES + 1))
        assert await stranger.ending() == (1009, "The message is larger than 256 KB")


@in_virtual_time
async def test_a_message_of_256_kb_is_accepted() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        frame = json.dumps({"event": "dance", "data": ""})
        await ann.raw(frame[:-1] + " " * (MAX_FRAME_BYTES - len(frame)) + "}")
        assert await ann.hear("room_error") == "Unknown event 'dance'"


@in_virtual_time
async def test_only_a_client_that_sends_many_messages_is_read_more_slowly() -> None:
    async with signalling_server() as server:
        await server.control()
        ann, ben = await server.join("ann"), await server.join("ben")
        await asyncio.gather(ann.answer(), ben.answer())
        for _ in range(400):
            await ann.send("keep_alive", "{}")
        await ann.send("renegotiate", "{}")
        now = asyncio.get_running_loop().time
        start = now()
        await ben.send("renegotiate", "{}")
        await ben.hear("offer")
        assert now() - start < 0.1
        await ann.hear("offer")
        assert now() - start == pytest.approx(200 * 0.05, abs=1)


@in_virtual_time
async def test_a_client_that_sends_a_lot_of_data_at_once_is_read_more_slowly() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        start = asyncio.get_running_loop().time()
        for _ in range(20):
            await ann.raw("x" * MAX_FRAME_BYTES)
        for _ in range(20):
            await ann.hear("room_error")
        assert asyncio.get_running_loop().time() - start > (20 * 16 - 200) * 0.05


@in_virtual_time
async def test_a_client_that_reads_too_slowly_is_disconnected_and_frees_its_seat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signalling_connection, "MAX_QUEUED_CHARACTERS", 100_000)
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        await ann.answer()
        for _ in range(20_000):
            for session in list(server.sfu.sessions):
                session._client.send_error("x" * 1000)
        await asyncio.sleep(60)
        assert server.sfu.rooms.peers == 0 and len(server.sfu.connections) == 1


@in_virtual_time
async def test_a_shutdown_closes_connections_with_1001() -> None:
    async with aiohttp.ClientSession() as http:
        async with signalling_server() as server:
            client = Socket(await http.ws_connect(server.url + "/client"))
            goodbye = asyncio.create_task(client.ending())
            await asyncio.sleep(1)
        assert await goodbye == (1001, "The voice server is shutting down")


@in_virtual_time
async def test_no_input_from_a_client_reaches_the_error_log(caplog: pytest.LogCaptureFixture) -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.join("ann")
        sdp = AnsweringClient().answer(ann.offer["sdp"])
        mutilated = [sdp[:cut] for cut in range(0, len(sdp), 997)]
        for event in ("answer", "candidate", "renegotiate", "set_layer", "keep_alive", "client_join", "\x00"):
            for data in (
                "",
                "null",
                "[]",
                "{",
                "7",
                '{"candidate":"candidate:1 1 udp 1 ::1 9 typ host"}',
                '{"sdp":null}',
            ):
                await ann.send(event, data)
        for text in mutilated:
            await ann.send("answer", {"type": "answer", "sdp": text})
        await ann.answer()
        await asyncio.sleep(5)
        assert server.sfu.rooms.peers == 1
        assert not [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]
