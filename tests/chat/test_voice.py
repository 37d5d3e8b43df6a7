"""Members see who is in a voice channel and can join it, even after the media service restarts."""

import asyncio
import hashlib
import hmac
import logging

import jwt
import pytest

from svc.base.signalling_codec import payload
from svc.chat.voice import sfu_link
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu


async def test_every_voice_channel_is_registered_before_the_first_request(
    sfu: FakeSfu, chat: ChatServer
) -> None:
    await sfu.until("sync_request")
    assert [envelope.event for envelope in sfu.received] == [
        "server_register",
        "server_register",
        "sync_request",
    ]
    assert sfu.rooms == {"lobby", "side-room"}


async def test_the_greeting_contains_the_channels_and_their_participants(
    sfu: FakeSfu, chat: ChatServer
) -> None:
    async with chat.member("Ada") as ada:
        assert ada.welcome["member"]["nickname"] == "Ada"
        assert [(channel["id"], channel["name"], channel["type"]) for channel in ada.welcome["channels"]] == [
            ("general", "general", "text"),
            ("lobby", "Lobby", "voice"),
            ("side-room", "Side Room", "voice"),
        ]
        assert ada.welcome["voice"] == {"lobby": [], "side-room": []}


async def test_a_member_gets_a_grant_for_a_room(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        reply = await ada.ask("voice_join", channel_id="lobby")
        join = reply["data"]["client_join"]
        token = join.pop("user_token")
        credential = hmac.digest(b"p1", b"client:s1", hashlib.sha256).hex()
        assert reply["event"] == "voice_join"
        assert reply["data"] == {
            "urls": ["/sfu/client"],
            "stun_servers": [],
            "ice_servers": [],
            "bitrate_kbps": 0,
            "client_join": {
                "room_id": "lobby",
                "server_id": "s1",
                "server_password": credential,
                "user_id": ada.id,
            },
        }
        claims = jwt.decode(token, hmac.digest(b"p1", b"token:s1", hashlib.sha256), algorithms=["HS256"])
        assert (claims["iss"], claims["sub"], claims["room"]) == ("s1", ada.id, "lobby")
        assert set(claims["caps"]) == {"speak", "share_video", "share_screen"}


async def test_every_grant_is_unique(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        tokens = [
            (await ada.ask("voice_join", channel_id="lobby"))["data"]["client_join"]["user_token"]
            for _ in range(2)
        ]
        assert len({jwt.decode(token, options={"verify_signature": False})["jti"] for token in tokens}) == 2


async def test_a_room_is_registered_again_before_each_grant(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await sfu.until("sync_request")
        sfu.rooms.clear()  # The SFU had removed the room because it was empty.
        sfu.received.clear()
        await ada.ask("voice_join", channel_id="side-room")
        assert [envelope.event for envelope in sfu.received] == ["server_register", "sync_request"]
        assert payload(sfu.received[0])["room_id"] == "side-room"


async def test_concurrent_joins_share_registrations(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await sfu.until("sync_request")
        sfu.received.clear()
        for number in range(20):
            request = {"event": "voice_join", "id": 100 + number, "data": {"channel_id": "lobby"}}
            await ada.ws.send_json(request)
        async with chat.member("Bob") as bob, chat.member("Eve") as eve:
            replies = await asyncio.gather(
                bob.ask("voice_join", channel_id="lobby"), eve.ask("voice_join", channel_id="lobby")
            )
        assert {reply["event"] for reply in replies} == {"voice_join"}
        assert sfu.count("sync_request") <= sfu.count("server_register")


@pytest.mark.parametrize(
    ("channel_id", "error"),
    [
        ("general", "unknown_channel"),
        ("nowhere", "unknown_channel"),
        ("", "invalid_request"),
        (7, "invalid_request"),
        (None, "invalid_request"),
    ],
)
async def test_a_grant_for_a_channel_without_voice_is_rejected(
    chat: ChatServer, channel_id: object, error: str
) -> None:
    async with chat.member("Ada") as ada:
        reply = await ada.ask("voice_join", channel_id=channel_id)
        assert (reply["event"], reply["data"]["error"]) == ("error", error)


async def test_every_member_is_notified_when_someone_joins_or_leaves_a_call(
    sfu: FakeSfu, chat: ChatServer
) -> None:
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", ada.id)
        assert await ada.people("lobby") == await bob.people("lobby") == ["Ada"]
        await sfu.send_event("peer_joined", "lobby", bob.id)
        assert await ada.people("lobby") == ["Ada", "Bob"]
        await sfu.send_event("peer_left", "lobby", ada.id)
        assert await ada.people("lobby") == ["Bob"]


async def test_every_member_is_notified_of_participants_that_the_sfu_has_lost(
    sfu: FakeSfu, chat: ChatServer
) -> None:
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        await sfu.until("sync_request")
        gone = {"channel_id": "lobby", "member_id": ada.id}
        for lost in ({"lost": True}, {}):
            await sfu.send_event("peer_joined", "lobby", ada.id)
            await sfu.send_event("peer_left", "lobby", ada.id, **lost)
            assert await bob.pushed("voice_left") == {**gone, **lost}
        # Members who disappear while the connection is down may rejoin on a new service.
        await sfu.send_event("peer_joined", "lobby", ada.id)
        await sfu.drop_control()
        assert await bob.pushed("voice_left") == {**gone, "lost": True}


async def test_a_restored_connection_updates_the_participants(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", ada.id)
        assert await bob.people("lobby") == ["Ada"]
        sfu.people = {"lobby": [bob.id]}
        await sfu.drop_control()
        assert [await bob.people("lobby") for _ in range(2)] == [[], ["Bob"]]


async def test_all_rooms_are_registered_again_with_a_restarted_sfu(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", ada.id)
        assert await ada.people("lobby") == ["Ada"]
        await sfu.stop()
        await sfu.start()
        assert await ada.people("lobby") == []
        assert sfu.rooms == {"lobby", "side-room"}
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


async def test_a_grant_waits_while_the_sfu_restarts(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await sfu.until("sync_request")
        await sfu.stop()
        task = asyncio.ensure_future(ada.ask("voice_join", channel_id="lobby"))
        await asyncio.sleep(0)
        await sfu.start()
        assert (await task)["event"] == "voice_join"


async def test_without_an_sfu_the_member_gets_an_error(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sfu_link, "CONFIRM_DEADLINE_S", 0.05)
    await sfu.stop()
    async with chat.member("Ada") as ada:
        reply = await ada.ask("voice_join", channel_id="lobby")
        assert (reply["event"], reply["data"]["error"]) == ("error", "voice_unavailable")


async def test_the_connection_to_an_unresponsive_sfu_is_reopened_and_the_reason_logged(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sfu_link, "ANSWER_DEADLINE_S", 0.05)
    sfu.answers_sync = False
    await sfu.until("sync_request", 3)
    faults = [vars(record).get("fault", "") for record in caplog.records]
    assert any("SERVER_PASSWORD is not the one that it knows" in fault for fault in faults)
    sfu.answers_sync = True
    async with chat.member("Ada") as ada:
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


async def test_an_sfu_that_stays_unreachable_is_reported_once(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sfu.until("sync_request")
    logged: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
    monkeypatch.setattr(
        sfu_link.logger, "log", lambda level, message, extra: logged.put_nowait((level, message))
    )
    await sfu.stop()
    levels = [(await logged.get()) for _ in range(3)]
    assert levels == [
        (level, "no media service") for level in (logging.WARNING, logging.DEBUG, logging.DEBUG)
    ]


@pytest.mark.parametrize(
    "frame",
    [
        "nonsense",
        '{"event":"peer_joined","data":"{}"}',
        '{"event":"sync_response","data":"{\\"rooms\\":7}"}',
        '{"event":"sync_response","data":"{\\"rooms\\":[{}]}"}',
    ],
)
async def test_garbage_on_the_control_connection_closes_only_that_connection(
    sfu: FakeSfu, chat: ChatServer, frame: str
) -> None:
    await sfu.until("sync_request")
    await sfu.send_text(frame)
    await sfu.until("sync_request", 2)
    async with chat.member("Ada") as ada:
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"


async def test_a_former_member_in_a_call_is_listed_without_a_name(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await sfu.until("sync_request")
        await sfu.send_event("peer_joined", "lobby", "who left long ago")
        assert await ada.people("lobby") == ["Someone"]


async def test_the_public_address_of_the_sfu_is_listed_first(variables: dict[str, str]) -> None:
    variables["SFU_PUBLIC_HOST"] = "media.example:5005,http://127.0.0.1:5005/"
    variables["DISABLE_STUN"] = "false"
    variables["STUN_SERVERS"] = "stun.example:3478"
    async with chat_server(variables) as chat, chat.member("Ada") as ada:
        reply = await ada.ask("voice_join", channel_id="lobby")
        assert reply["data"]["urls"] == [
            "wss://media.example:5005/client",
            "ws://127.0.0.1:5005/client",
            "/sfu/client",
        ]
        assert reply["data"]["stun_servers"] == ["stun:stun.example:3478"]
        async with chat.http.get("/") as page:
            policy = page.headers["Content-Security-Policy"]
            assert "connect-src 'self' wss://media.example:5005 ws://127.0.0.1:5005;" in policy
