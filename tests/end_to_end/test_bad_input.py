"""Invalid input gets a clear error, or the connection is closed with a code and a reason. Later calls still
work.

Each test ends with a call between two people in the same room of the same service. `conftest` checks that the
service logged no traceback. See docs/signalling.md, "Why a WebSocket is closed".
"""

import asyncio
import random
import socket
import time
from contextlib import ExitStack, suppress
from itertools import product

from aiohttp import ClientWebSocketResponse, WSMsgType

from svc.base.signalling_codec import MAX_FRAME_BYTES
from tests.chat.live_member import abort
from tests.kit.aiortc_client import ClientOptions
from tests.kit.aiortc_guests import Guests
from tests.kit.sdp_answers import AnsweringClient
from tests.kit.sfu_process import SECRET, ControlConnection, SfuProcess
from tests.kit.signalling_server import Socket
from tests.kit.wait import wait_until

NOT_EVEN_FRAMES = [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    "[" * 100_000,
    '{"event": "answer"',
    '{"event": 7, "data": ""}',
    '{"event": "answer", "data": {"type": "answer"}}',
    '{"data": "{}"}',
    '{"event": "\\ud800", "data": "\\u0000"}',
    '{"event": "answer", "data": "' + "[" * 100_000 + '"}',
]
WRONG_EVENTS = [
    '{"event": "dance", "data": "{}"}',
    '{"event": "server_register", "data": "{}"}',
    '{"event": "room_joined", "data": "{}"}',
    '{"event": "client_join", "data": "{}"}',
    '{"event": "answer", "data": "{\\"type\\": \\"answer\\", \\"sdp\\": \\"v=0\\"}"}',
    '{"event": "candidate", "data": "{\\"candidate\\": \\"candidate:1 1 udp 1 nowhere 0 typ host\\"}"}',
    '{"event": "set_layer", "data": "{\\"track_id\\": \\"none\\", \\"max_temporal_layer\\": 1e400}"}',
]
NOT_HTTP = [
    b"",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # the start of a TLS ClientHello
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"x" * 100_000,
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nmany\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    b"GET /client HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    b"\r\n" * 100,
    b"x" * 100_000,
]
# The service reads a burst of `REQUESTS_AT_ONCE` messages from a participant, and then this many per second.
REQUESTS_AT_ONCE, REQUESTS_PER_S = 200, 20
# An address on which nothing is listening.
NOBODY = "candidate:1 1 udp 2130706431 127.0.0.1 9 typ host"


async def a_call_works(guests: Guests) -> None:
    """Check that two new people see and hear each other. Then disconnect them."""
    edsger, barbara = await guests.arrive("edsger"), await guests.arrive("barbara")
    await asyncio.gather(edsger.sees(barbara), barbara.sees(edsger))
    await asyncio.gather(edsger.hears(barbara), barbara.hears(edsger))
    await asyncio.gather(edsger.leave(), barbara.leave())


async def join_silently(sfu: SfuProcess, user_id: str) -> Socket:
    """Join as a participant and wait for the first offer. After that, the test itself sends all messages."""
    participant = Socket(await sfu.connect())
    join = {"room_id": "lobby", "server_id": "home", "server_password": SECRET, "user_id": user_id}
    await participant.send("client_join", join)
    await participant.hear("room_joined")
    participant.offer = await participant.hear("offer")
    return participant


async def test_an_invalid_first_message_closes_the_connection_with_a_reason(
    sfu: SfuProcess, guests: Guests
) -> None:
    expected = {"/client": "client_join", "/server": "server_register", "/any": "client_join"}
    for path, text in product(expected, [*NOT_EVEN_FRAMES, '{"event": "dance", "data": "{}"}']):
        stranger = Socket(await sfu.connect(path))
        await stranger.raw(text)
        assert await stranger.ending() == (1008, f"Expected {expected[path]} event"), text[:50]
    await a_call_works(guests)


async def test_garbage_during_a_call_causes_errors_but_the_call_continues(guests: Guests) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await asyncio.gather(ada.sees(grace), grace.sees(ada))
    nonsense = [*NOT_EVEN_FRAMES, *WRONG_EVENTS]
    for text in nonsense:
        await ada.socket.send_str(text)
    await ada.socket.send_bytes(b"\x00" * 100)

    async def answered() -> bool:
        return len(ada.errors) == len(nonsense) + 1

    await wait_until(f"{len(nonsense) + 1} answers, {ada.errors}", answered, within_s=10)
    assert all(1 < len(error) < 200 for error in ada.errors)
    assert ada.closed is None
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
    await a_call_works(guests)


async def test_a_flood_of_requests_is_read_at_a_limited_rate_and_does_not_delay_others(
    guests: Guests,
) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    seen, _ = await asyncio.gather(ada.sees(grace), grace.sees(ada))
    began = time.monotonic()
    for number in range(500):
        layers = {
            "paused": number % 3 == 1,
            "max_spatial_layer": number % 4 - 1,
            "width": number,
            "adaptive": True,
        }
        await ada.send(
            "set_layer", {"track_id": seen.track_id, "max_temporal_layer": number % 4 - 1, **layers}
        )
        await ada.send("set_layer", {"track_id": "none", "max_temporal_layer": 0})
    await asyncio.gather(ada.hears(grace), grace.hears(ada), grace.sees(ada))
    await a_call_works(guests)
    # Every second request gets an error. The service would take 40 s to read all of them.
    refused = len(ada.errors)
    maximum = (REQUESTS_AT_ONCE + REQUESTS_PER_S * (time.monotonic() - began)) / 2 + 1
    assert REQUESTS_AT_ONCE / 2 - 10 <= refused <= maximum
    assert ada.closed is None


async def test_garbage_from_a_chat_server_is_dropped_and_the_connection_continues(
    sfu: SfuProcess, control: ControlConnection, guests: Guests
) -> None:
    nonsense: list[tuple[str, dict[str, object]]] = [
        ("disconnect_user", {}),
        ("disconnect_user", {"room_id": "lobby", "user_id": "nobody"}),
        ("disconnect_user", {"room_id": ["lobby"], "user_id": {}}),
        ("user_audio_control", {"room_id": "lobby", "user_id": "ada", "is_muted": "yes"}),
        ("user_caps", {"room_id": "lobby", "user_id": "ada", "caps": "speak"}),
        ("server_register", {"room_id": "x" * 1_000}),
        ("server_register", {"room_id": "", "server_password": ""}),
        ("dance", {}),
    ]
    for event, data in nonsense:
        await control.send(event, **data)
    assert await control.sync() == {"lobby": []}
    assert (await sfu.metrics())["svc_sfu_dropped_control_messages_total"] == len(nonsense)
    await a_call_works(guests)


async def test_an_oversized_message_closes_the_connection_with_1009_but_a_256_kb_message_does_not(
    sfu: SfuProcess, guests: Guests
) -> None:
    sizes = {MAX_FRAME_BYTES: 1008, MAX_FRAME_BYTES + 1: 1009, 8 * MAX_FRAME_BYTES: 1009}
    for path, (size, code) in product(("/client", "/server"), sizes.items()):
        stranger = Socket(await sfu.connect(path))
        await stranger.raw("x" * size)
        ending = await stranger.ending()
        assert ending[0] == code
        assert code == 1008 or ending[1] == "The message is larger than 256 KB"
    await a_call_works(guests)


async def test_connections_that_use_neither_websocket_nor_http_are_closed(
    sfu: SfuProcess, guests: Guests
) -> None:
    for frame in (b"\xff\xfe\xfd", b"\xc0\x80"):
        stranger = await sfu.connect()
        await stranger._writer.send_frame(frame, WSMsgType.TEXT)
        assert await Socket(stranger).ending() == (1007, "The message is not UTF-8")
    for data in NOT_HTTP:
        reader, writer = await asyncio.open_connection("127.0.0.1", sfu.http_port)
        # The service stops reading once it rejects the connection, so the unread data may cause a reset.
        async with asyncio.timeout(30):
            with suppress(OSError):
                writer.write(data)
                writer.write_eof()
                assert (await reader.read())[:13] in (b"HTTP/1.0 400 ", b"HTTP/1.1 400 ", b""), data[:50]
        writer.close()
    await a_call_works(guests)


async def test_an_answer_that_does_not_match_the_offer_is_rejected_and_the_offer_stays_open(
    sfu: SfuProcess, guests: Guests
) -> None:
    ada = await join_silently(sfu, "ada")
    right = AnsweringClient().answer(ada.offer["sdp"])
    first, *sections = right.split("m=")
    wrong = {
        "The offer has 4 media sections, the answer 3": "m=".join([first, *sections[:3]]),
        "Section 0 of the answer is not the audio section of the offer": "m=".join(
            [first, *reversed(sections)]
        ),
        "The answer needs a fingerprint": right.replace("a=fingerprint:sha-256", "a=fingerprint:md5"),
        "The answer does not bundle": right.replace("BUNDLE 0 1 2 3", "BUNDLE 0 1"),
        "The answer rejects every media section": AnsweringClient(rejects="0123").answer(ada.offer["sdp"]),
        "Section 0 of the answer is sendrecv": right.replace("a=inactive", "a=sendrecv"),
        "An ice-pwd has 22": right.replace("a=ice-pwd:clientPassword", "a=ice-pwd:"),
    }
    for reason, sdp in wrong.items():
        await ada.send("answer", {"type": "answer", "sdp": sdp})
        assert (await ada.hear("room_error")).startswith(reason)
    await ada.answer()
    await ada.send("renegotiate", {})
    ada.offer = await ada.hear("offer")
    await ada.answer()
    await a_call_works(guests)


async def test_an_unannounced_certificate_ends_only_the_session_of_that_participant(guests: Guests) -> None:
    def other_certificate(sdp: str) -> str:
        lines = sdp.split("\r\n")
        return "\r\n".join(line[:-5] + "00:00" if "a=fingerprint" in line else line for line in lines)

    ada = await guests.arrive("ada")
    mallory = await guests.arrive("mallory", voice=ada.voice, means=ClientOptions(answered=other_certificate))
    code, reason = await mallory.ending()
    assert code == 4005 and reason.startswith("Media encryption: ")
    grace = await guests.arrive("grace")
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
    await a_call_works(guests)


async def test_garbage_datagrams_with_any_first_byte_do_not_affect_calls(
    sfu: SfuProcess, guests: Guests
) -> None:
    ada, grace = await guests.arrive("ada"), await guests.arrive("grace")
    await asyncio.gather(ada.sees(grace), grace.sees(ada))
    numbers = random.Random(7)
    garbage = [
        bytes([first]) + numbers.randbytes(size)
        for first in range(256)
        for size in (0, 1, 11, 19, 27, 60, 1199, 1471)
    ]
    before = await sfu.metrics()
    with ExitStack() as stack:
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            stranger = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
            for data in (b"", *garbage):
                stranger.sendto(data, (host, sfu.udp_port))
                await asyncio.sleep(0)
    for data in garbage:
        await ada.send_datagram(data)
        await asyncio.sleep(0)
    await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
    after = await sfu.metrics()
    dropped = [name for name in after if "dropped" in name and after[name] > before[name]]
    assert {"svc_sfu_dropped_unknown_source_total", "svc_sfu_dropped_unauthenticated_total"} <= set(dropped)
    await a_call_works(guests)


async def test_half_open_connections_leave_no_state_behind(
    sfu: SfuProcess, control: ControlConnection, guests: Guests
) -> None:
    streams = [await asyncio.open_connection("127.0.0.1", sfu.http_port) for _ in range(20)]
    for _, writer in streams[10:]:
        writer.write(b"GET /client HTTP/1.1\r\nHost: x\r\nUpgrade: webso")
    sockets: list[ClientWebSocketResponse] = [await sfu.connect() for _ in range(20)]
    for number in range(10):
        unanswered = await join_silently(sfu, f"unanswered {number}")
        answered = await join_silently(sfu, f"answered {number}")
        # This participant's DTLS handshake never starts.
        await answered.answer(AnsweringClient(sends={"0": "", "1": ""}, candidates=(NOBODY,)))
        sockets += [unanswered.socket, answered.socket]
    await a_call_works(guests)
    for websocket in sockets:
        abort(websocket)
    for _, writer in streams:
        writer.transport.abort()

    async def empty() -> bool:
        return await control.sync() == {"lobby": []}

    await wait_until("every seat is available again", empty, within_s=10)
    await a_call_works(guests)
