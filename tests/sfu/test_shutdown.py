"""When the media service stops, it notifies everybody, admits nobody new, and exits promptly.

One test runs the whole process, and the other only the service.
"""

import asyncio

import aiohttp
import pytest
from aiohttp import WSMsgType, WSServerHandshakeError

from svc.sfu.close_codes import CloseCode
from tests.kit.sfu_process import running_sfu
from tests.kit.signalling_server import signalling_server
from tests.kit.wait import eventually


async def test_participants_are_notified_and_new_ones_are_rejected() -> None:
    async with signalling_server() as server:
        control = await server.control("home", "lobby")
        participant = await server.join("ada")
        server.sfu.leave(CloseCode.GOING_AWAY, "The voice server is shutting down")
        with pytest.raises(WSServerHandshakeError, match="503"):
            await server.http.ws_connect(server.url + "/client")
        while (message := await participant.socket.receive()).type is WSMsgType.TEXT:
            pass
        assert (message.data, message.extra) == (1001, "The voice server is shutting down")
        while (message := await control.socket.receive()).type is WSMsgType.TEXT:
            pass
        assert message.data == 1001


async def test_a_signal_ends_the_process_even_if_a_client_does_not_listen() -> None:
    async with running_sfu() as sfu:
        control = await sfu.control("lobby")
        # This client does not take part in the WebSocket closing handshake and reads nothing.
        reader, writer = await asyncio.open_connection("127.0.0.1", sfu.http_port)
        writer.write(
            b"GET /client HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert (await reader.readline()).startswith(b"HTTP/1.1 101")
        stopping = asyncio.create_task(sfu.stop())
        assert await control.ending() == 1001
        await stopping

        async def is_shut() -> bool:
            try:
                async with sfu.http.get(sfu.url + "/health"):
                    return False
            except aiohttp.ClientError:
                return True

        assert await is_shut()
        assert sfu.faults == []
        writer.close()
        await eventually(
            "the service has exited", lambda: reader.at_eof() or writer.is_closing(), within_s=30
        )
