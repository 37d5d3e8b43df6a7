"""A peer that violates the WebSocket protocol receives the reason and is disconnected.

Other connections lose no messages.
"""

import asyncio
import json

import pytest

from svc.base.websocket import MESSAGES_AT_ONCE
from svc.tools.bench.attack.anonymous_attacks import frame
from svc.tools.bench.attack.target import Target
from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.wait import counted_turns

# The first frame sets reserved bits although no extension was negotiated. The second declares a length beyond
# any limit.
RESERVED_BITS = b"\xf1\x80\0\0\0\0"
HUGE = b"\x81\xff" + (1 << 62).to_bytes(8, "big") + b"\0\0\0\0"
FRAMES = pytest.mark.parametrize("bad", [RESERVED_BITS, HUGE])


async def connected(chat: ChatServer, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a live socket and send `data` in the same packet as the upgrade request."""
    host, port = chat.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(Target(chat.address).upgrade("/live") + data)
    return reader, writer


async def post(member: LiveMember, text: str) -> None:
    channels = member.welcome["channels"]
    channel_id = next(channel["id"] for channel in channels if channel["name"] == "general")
    reply = await member.ask("message_send", channel_id=channel_id, text=text)
    assert reply["event"] == "message_send", reply


def signing_in(token: str) -> bytes:
    request = {"event": "authenticate", "id": 1, "data": {"access_token": token}}
    return frame(json.dumps(request).encode())


@FRAMES
async def test_members_miss_no_message_while_another_member_is_being_disconnected(
    chat: ChatServer, bad: bytes
) -> None:
    token = await chat.join("Ada")
    async with chat.member("Ben") as ben:
        reader, writer = await connected(chat, signing_in(token))
        await reader.readuntil(b'"authenticated"')
        async with chat.member("Cem") as cem:
            # The event loop always serves Ada's connection before Cem's. It stays open, because the test does
            # not close its side.
            writer.write(bad)
            await reader.read()
            await post(ben, "hello")
            assert (await cem.pushed("message_posted"))["text"] == "hello"
        writer.close()


@FRAMES
async def test_protocol_violations_by_unauthenticated_peers_cost_members_no_frames(
    chat: ChatServer, bad: bytes
) -> None:
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        for number in range(20):
            _, writer = await connected(chat, bad)
            await post(ada, f"message {number}")
            assert (await ben.pushed("message_posted"))["text"] == f"message {number}"
            writer.transport.abort()


PULSES = pytest.mark.parametrize("opcode", [0x89, 0x8A], ids=["pings", "pongs"])


@PULSES
async def test_a_flood_of_pings_is_read_more_slowly_and_does_not_delay_members(
    chat: ChatServer, opcode: int
) -> None:
    flood = frame(b"x", opcode=opcode) * 20_000
    async with chat.member("Ada") as ada, chat.member("Ben") as ben:
        reader, writer = await connected(chat, flood)
        await reader.readuntil(b'"hello"')
        for number in range(5):
            await post(ada, f"message {number}")
            assert (await ben.pushed("message_posted"))["text"] == f"message {number}"
        # Fewer than 1 % of the pings have been answered, because the server has not read the others yet.
        answered = await asyncio.wait_for(reader.read(65_536), 30) if opcode == 0x89 else b""
        assert len(answered) < len(flood) / 100
        writer.transport.abort()


async def test_a_client_that_sends_pings_gets_pongs(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        for _ in range(3):
            await ada.ws.ping(b"still there?")
        await post(ada, "hello")


async def test_other_connections_are_served_while_a_closing_socket_discards_messages(
    chat: ChatServer,
) -> None:
    discarded = frame(b"") * 1_000
    reader, writer = await connected(chat, frame(b"no request") + discarded + frame(b"", opcode=0x88))
    await reader.readuntil(b"\x03\xf0invalid_json")
    async with counted_turns() as turns:
        await reader.read()
    assert len(turns) > 1_000 // MESSAGES_AT_ONCE // 2
    writer.close()


@FRAMES
async def test_nothing_is_sent_after_a_close_frame(chat: ChatServer, bad: bytes) -> None:
    """Check the requirement of RFC 6455 section 5.5.1."""
    reader, writer = await connected(chat, signing_in(await chat.join("Ada")))
    await reader.readuntil(b'"authenticated"')
    async with chat.member("Ben") as ben:
        writer.write(bad)
        await reader.readuntil(
            b"Not the WebSocket protocol" if bad is RESERVED_BITS else b"larger than 64 KB"
        )
        await post(ben, "hello")
        assert await reader.read() == b""
    writer.close()
