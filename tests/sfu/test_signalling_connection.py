"""The service pings both kinds of WebSocket clients, and closes connections that stay silent."""

import asyncio
from itertools import pairwise

import pytest
from aiohttp import WSMsgType

from svc.sfu.signalling_connection import PING_INTERVAL_S, SILENCE_LIMIT_S
from tests.kit.signalling_server import SECRET, SignallingServer, Socket, signalling_server
from tests.kit.virtual_time import in_virtual_time


async def chat_server(server: SignallingServer) -> Socket:
    """Return a control connection whose pings the test has to answer."""
    control = await server.connect("/server", autoping=False)
    register = {"server_id": "home", "server_password": SECRET, "room_id": "lobby"}
    await control.send("server_register", register)
    return control


async def next_ping(control: Socket) -> float:
    while (message := await control.socket.receive()).type is WSMsgType.TEXT:
        pass
    assert message.type is WSMsgType.PING
    return asyncio.get_running_loop().time()


@in_virtual_time
async def test_a_ping_is_sent_every_30_s_and_a_pong_keeps_the_connection_open() -> None:
    async with signalling_server() as server:
        control = await chat_server(server)
        moments = []
        for _ in range(10):
            moments.append(await next_ping(control))
            await control.socket.pong()
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert gaps == [pytest.approx(PING_INTERVAL_S, abs=0.1)] * 9


@in_virtual_time
async def test_a_connection_that_is_silent_for_90_s_is_closed_with_4000() -> None:
    async with signalling_server() as server:
        control = await chat_server(server)
        start = asyncio.get_running_loop().time()
        await next_ping(control)
        await next_ping(control)
        assert await control.hear("keep_alive")
        assert await control.ending() == (4000, "No sign of life for 90 s")
        assert asyncio.get_running_loop().time() - start == pytest.approx(SILENCE_LIMIT_S, abs=1)


@in_virtual_time
async def test_a_clients_ping_is_answered_with_the_same_payload() -> None:
    async with signalling_server() as server:
        control = await chat_server(server)
        await control.socket.ping(b"are you there")
        message = await control.socket.receive()
        assert (message.type, message.data) == (WSMsgType.PONG, b"are you there")
