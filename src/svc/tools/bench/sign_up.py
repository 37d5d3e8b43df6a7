"""Creates members. Each joins over HTTP, with its own device key, the invite and a name.

Opens no live sockets. `docs/http.md` describes how members join.
"""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping

import jwt
from aiohttp import ClientError, ClientSession, TCPConnector
from cryptography.hazmat.primitives.asymmetric import ec

from svc.tools.bench.chat_server import ChatServer
from svc.tools.bench.errors import BenchError


async def join_all(
    server: ChatServer, count: int, at_once: int, arrive: Callable[[str], Awaitable[None]]
) -> None:
    """Create `count` members, and call `arrive` with each member's access token. Raises BenchError."""
    # Generate the keys in advance, so that generating them is not measured.
    devices = iter([(number, ec.generate_private_key(ec.SECP256R1())) for number in range(count)])

    async def one_by_one(http: ClientSession) -> None:
        for number, key in devices:
            await arrive(await _join(http, server, key, f"Bench {number}"))

    try:
        # False turns off certificate verification, as in all of `svc bench`.
        async with (
            ClientSession(server.address, connector=TCPConnector(ssl=False)) as http,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(at_once):
                group.create_task(one_by_one(http))
    except ExceptionGroup as faults:
        # Do not use except*: before 3.11.4, Python wraps an exception raised there in a group again.
        expected, others = faults.split((ClientError, OSError, BenchError))
        if expected is None or others is not None:
            raise
        raise BenchError(str(expected.exceptions[0])) from None


async def _join(
    http: ClientSession, server: ChatServer, key: ec.EllipticCurvePrivateKey, nickname: str
) -> str:
    """Join, and return the new member's access token."""
    challenge = await _ask(http, "/api/auth/challenge", {})
    body = {
        "certificate": jwt.encode({"jwk": _public_jwk(key)}, key, algorithm="ES256"),
        "assertion": jwt.encode(
            {"aud": challenge["audience"], "nonce": challenge["nonce"], "origin": server.address},
            key,
            algorithm="ES256",
        ),
        "nickname": nickname,
        "invite_code": server.invite,
    }
    return str((await _ask(http, "/api/auth/join", body))["access_token"])


async def _ask(http: ClientSession, path: str, body: Mapping[str, object]) -> dict[str, object]:
    async with http.post(path, json=body) as response:
        answer: dict[str, object] = await response.json()
    if response.status != 200:
        raise BenchError(f"nobody can join: {answer.get('message', response.status)}")
    return answer


def _public_jwk(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    x, y = (urlsafe_b64encode(n.to_bytes(32, "big")).rstrip(b"=").decode() for n in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}
