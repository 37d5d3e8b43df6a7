"""`/sfu/client` forwards signalling between browsers and the media service without parsing or changing it."""

import asyncio

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from svc.base.signalling_codec import MAX_FRAME_BYTES
from svc.chat.voice import pass_through
from svc.chat.voice.pass_through import FRAMES_AT_ONCE
from svc.tools.bench.attack.anonymous_attacks import frame
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu
from tests.chat.live_member import abort
from tests.kit.wait import counted_turns


@pytest.fixture(autouse=True)
def deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_through, "CLOSE_DEADLINE_S", 1.0)


async def closed(ws: ClientWebSocketResponse) -> tuple[int | None, str | None]:
    """Wait until the connection closes. Return the close code and reason."""
    async with asyncio.timeout(30):
        message = await ws.receive()
    assert message.type is WSMsgType.CLOSE, message
    return message.data, message.extra


async def test_frames_pass_both_ways_unchanged(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        await browser.send_str('{"event":"client_join","data":"{}"}')
        assert await participant.receive_str() == '{"event":"client_join","data":"{}"}'
        await participant.send_str("not even JSON \u2603")
        assert await browser.receive_str() == "not even JSON \u2603"
        await browser.send_bytes(b"\x00\xff")
        assert await participant.receive_bytes() == b"\x00\xff"


async def test_pings_are_forwarded_to_the_browser_and_its_pongs_come_back(
    sfu: FakeSfu, chat: ChatServer
) -> None:
    async with chat.http.ws_connect("/sfu/client", autoping=False) as browser:
        participant = await sfu.participants.get()
        await participant.ping(b"are you there?")
        message = await browser.receive()
        assert (message.type, bytes(message.data)) == (WSMsgType.PING, b"are you there?")
        await browser.pong(b"yes")
        message = await participant.receive()
        assert (message.type, bytes(message.data)) == (WSMsgType.PONG, b"yes")


async def test_a_frame_of_the_maximum_size_is_forwarded(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        await browser.send_str("x" * MAX_FRAME_BYTES)
        assert len(await participant.receive_str()) == MAX_FRAME_BYTES
        await participant.send_str("y" * MAX_FRAME_BYTES)
        assert len(await browser.receive_str()) == MAX_FRAME_BYTES


async def test_other_connections_are_served_between_a_browsers_frames(sfu: FakeSfu, chat: ChatServer) -> None:
    # A single write can contain thousands of frames, and forwarding them never waits for anything else.
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        assert browser._response.connection is not None
        transport = browser._response.connection.transport
        assert isinstance(transport, asyncio.Transport)
        transport.write(frame(b"") * (FRAMES_AT_ONCE // 2))
        await participant.receive()
        async with counted_turns() as turns:
            for _ in range(FRAMES_AT_ONCE // 2 - 1):
                await participant.receive()
        assert len(turns) > FRAMES_AT_ONCE // 4


async def test_a_frame_over_the_maximum_size_closes_both_sides(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        await browser.send_str("x" * (MAX_FRAME_BYTES + 2))
        assert (await closed(browser))[0] == 1009
        message = await participant.receive()
        assert (message.type, message.data) == (WSMsgType.CLOSE, 4000)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (4003, "Expected client_join event"),
        (4001, "Another session of yours joined"),
        (1008, ""),
        (1000, "é" * 61),
    ],
)
async def test_a_close_by_the_sfu_is_passed_to_the_browser(
    sfu: FakeSfu, chat: ChatServer, code: int, reason: str
) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        closing = asyncio.ensure_future(participant.close(code=code, message=reason.encode()))
        assert await closed(browser) == (code, reason)
        await closing


async def test_a_close_by_the_browser_is_passed_to_the_sfu(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        closing = asyncio.ensure_future(browser.close(code=4999, message=b"bye"))
        message = await participant.receive()
        assert (message.type, message.data, message.extra) == (WSMsgType.CLOSE, 4999, "bye")
        await participant.close()
        await closing
    while "svc_chat_signalling_connections_active 0.0" not in await chat.metrics():
        pass


async def test_the_sfu_is_notified_when_the_browser_vanishes(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        abort(browser)
        async with asyncio.timeout(30):
            message = await participant.receive()
        assert (message.type, message.data) == (WSMsgType.CLOSE, 4000)


async def test_the_browser_is_notified_when_the_sfu_vanishes(sfu: FakeSfu, chat: ChatServer) -> None:
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        participant._req.transport.abort()  # type: ignore[union-attr]
        assert (await closed(browser))[0] == 1014


async def test_without_an_sfu_the_browser_gets_an_error(sfu: FakeSfu, chat: ChatServer) -> None:
    await sfu.stop()
    async with chat.http.ws_connect("/sfu/client") as browser:
        assert await closed(browser) == (1014, "The voice server cannot be reached")


async def test_a_silent_side_is_closed_after_a_timeout(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pass_through, "SILENCE_DEADLINE_S", 0.05)
    async with chat.http.ws_connect("/sfu/client", autoping=False) as browser:
        assert (await closed(browser))[0] in (1001, 1014)


async def test_a_browser_that_does_not_read_slows_the_sfu_down_and_is_disconnected(
    sfu: FakeSfu, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pass_through, "WRITE_DEADLINE_S", 0.3)
    async with chat.http.ws_connect("/sfu/client") as browser:
        participant = await sfu.participants.get()
        browser._response.connection.transport.pause_reading()  # type: ignore[union-attr]

        async def write_for_ever() -> None:
            while True:
                await participant.send_str("x" * MAX_FRAME_BYTES)

        writing = asyncio.ensure_future(write_for_ever())
        async with asyncio.timeout(30):
            while "svc_chat_signalling_connections_active 0.0" not in await chat.metrics():
                pass
            with pytest.raises(ConnectionError):
                await writing
        abort(browser)


async def test_a_stopping_server_notifies_browsers(sfu: FakeSfu, variables: dict[str, str]) -> None:
    async with ClientSession() as http:
        async with chat_server(variables) as chat:
            token = await chat.join("Ada")
            browser = await http.ws_connect(f"{chat.address}/sfu/client")
            live = await http.ws_connect(f"{chat.address}/live")
            await live.send_json({"event": "authenticate", "id": 1, "data": {"access_token": token}})
            await live.receive_str()  # the event `hello`
            await live.receive_str()  # the response to `authenticate`
            await sfu.participants.get()
            both = asyncio.gather(closed(browser), closed(live))
        assert tuple(await both) == ((1012, "The server is stopping"), (1001, "The server is stopping"))
