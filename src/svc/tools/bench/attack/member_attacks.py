"""Implements the attacks by members and by programs on the server's machine. Each runs until it is cancelled.

The attackers use their own accounts. Constants limit the load, as in `anonymous_attacks`.
"""

import asyncio
import json
import socket
from collections.abc import Iterator
from itertools import count, cycle, repeat
from pathlib import Path
from urllib.parse import quote

from svc.base.control_socket import SOCKET_NAME
from svc.tools.bench.attack.anonymous_attacks import AT_ONCE, frame
from svc.tools.bench.attack.load import REFUSED_PAUSE_S, Load
from svc.tools.bench.errors import BenchError
from svc.tools.bench.members import Member, Tally

# The sizes of the announced files: almost the maximum for a message, then smaller sizes to use up the quota.
RESERVED_BYTES = (255 << 20, 255 << 20, 8 << 20, 1 << 20, 4096)
SLOW_READERS = 300
# The number of requests that a member sends on a live socket before the first response.
PIPELINED = 64
# The number of connections from a program that floods the control socket.
CONTROL_CONNECTIONS = 64
_CONTROL_DEADLINE_S = 20.0


async def search(load: Load) -> None:
    """Run expensive searches as some of the members, 40 at a time."""
    target = load.target
    queries = ("the " * 16, '"the quick brown fox" ' * 6, "the quick brown fox jumps over lazy dog")
    paths = [f"/api/search?query={quote(query.strip())}&limit=50" for query in queries]
    requests = [target.request("GET", path, token=token) for path in paths for token in target.tokens]
    await load.flood(40, cycle(requests))


async def posting(load: Load) -> None:
    """Post and react as fast as possible, as one member, over HTTP and on live sockets."""
    token, channel = load.target.tokens[0], load.target.channel_id
    body = json.dumps({"text": "attack " * 50}).encode()
    posts = repeat(load.target.request("POST", f"/api/channels/{channel}/messages", token=token, body=body))
    async with asyncio.TaskGroup() as group:
        group.create_task(load.flood(AT_ONCE, posts))
        for _ in range(4):
            group.create_task(_post_live(load, token))


async def reading(load: Load) -> None:
    """Read pages, lists, exports and media as fast as possible, as one member."""
    token, channel = load.target.tokens[0], load.target.channel_id
    paths = [
        f"/api/channels/{channel}/messages?limit=100",
        f"/api/channels/{channel}/messages?limit=100&before=zzzz",
        "/api/members?limit=100",
        "/api/me/export",
        "/openapi.json",
        *([load.target.media] if load.target.media else ()),
    ]
    await load.flood(AT_ONCE, cycle([load.target.request("GET", path, token=token) for path in paths]))


async def reservations(load: Load) -> None:
    """Announce uploads of the maximum size as some of the members, and send no content."""
    target = load.target
    path = f"/api/channels/{target.channel_id}/uploads"
    tus = {"Tus-Resumable": "1.0.0", "Content-Length": "0", "Upload-Metadata": "filename YS5wbmc="}
    reserving = [
        target.request("POST", path, token=token, headers=tus | {"Upload-Length": str(length)})
        for length in RESERVED_BYTES
        for token in target.tokens
    ]
    await load.flood(AT_ONCE, cycle(reserving))


async def slow_readers(load: Load) -> None:
    """Open connections that request a lot and read nothing: media, pages and live sockets."""
    token = load.target.tokens[0]
    path = load.target.media or f"/api/channels/{load.target.channel_id}/messages?limit=100"
    greedy = load.target.request("GET", path, token="" if load.target.media else token) * 32
    sign_in = json.dumps({"event": "authenticate", "id": 1, "data": {"access_token": token}}).encode()
    live = load.target.upgrade("/live") + frame(sign_in)
    async with asyncio.TaskGroup() as group:
        group.create_task(load.hold(SLOW_READERS, repeat(greedy), reading=False))
        group.create_task(load.hold(32, repeat(live), reading=False))


async def control(load: Load) -> None:
    """Flood the control socket from a program of the same user and leave connections open."""
    path = Path(load.target.folder) / SOCKET_NAME
    lines = cycle([b'{"command":"none","arguments":{},"token":""}\n', b"{\n", b"[" * 60_000 + b"\n", b"x"])
    async with asyncio.TaskGroup() as group:
        for _ in range(CONTROL_CONNECTIONS):
            group.create_task(_ask_control(load, path, lines))


async def _post_live(load: Load, token: str) -> None:
    """Sign in and keep requests pending. Sign in again when the server closes the socket."""
    numbers = count()
    while True:
        member = Member(Tally())
        try:
            await member.sign_in(load.target.live, token)
            await asyncio.gather(*(_post_on(load, member, numbers) for _ in range(PIPELINED)))
        except (BenchError, TimeoutError) as fault:
            load.count(type(fault).__name__)
            await asyncio.sleep(REFUSED_PAUSE_S)
        finally:
            member.leave()


async def _post_on(load: Load, member: Member, numbers: Iterator[int]) -> None:
    while member.close_code is None:
        text = f"attack {next(numbers)} " * 20
        reply = await member.ask("message_send", {"channel_id": load.target.channel_id, "text": text})
        data = reply["data"]
        load.count(data.get("error", "live") if isinstance(data, dict) else "live")


async def _ask_control(load: Load, path: Path, lines: Iterator[bytes]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        sock = socket.socket(socket.AF_UNIX)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(_CONTROL_DEADLINE_S):
                await loop.sock_connect(sock, str(path))
                await loop.sock_sendall(sock, next(lines))
                load.count("answered" if await loop.sock_recv(sock, 65_536) else "closed")
        except OSError as fault:
            load.count(type(fault).__name__)
            await asyncio.sleep(REFUSED_PAUSE_S)
        finally:
            sock.close()
