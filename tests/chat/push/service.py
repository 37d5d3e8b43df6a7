"""Runs a push service on the loopback interface.

The service stores the notifications it receives. Tests decrypt them as a device would.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from svc.chat.push.encryption import base64url, from_base64url, public_bytes

DEADLINE_S = 10.0


@dataclass
class Received:
    headers: dict[str, str]
    body: bytes


class Browser:
    """A device with a push subscription and its own keys."""

    def __init__(self, service: "PushService", name: str = "device") -> None:
        self.endpoint = f"{service.origin}/{name}"
        self.secret = bytes(range(16))
        self._key = generate_private_key(SECP256R1())
        self.public = public_bytes(self._key)

    def subscription(self) -> dict[str, object]:
        return {
            "endpoint": self.endpoint,
            "keys": {"p256dh": base64url(self.public), "auth": base64url(self.secret)},
        }

    def read(self, received: Received) -> Any:
        """Decrypt a message (RFC 8291 section 3.4)."""
        body = received.body
        salt, own_length = body[:16], body[20]
        theirs, record = body[21 : 21 + own_length], body[21 + own_length :]
        shared = self._key.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), theirs))

        def derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
            return HKDF(SHA256(), length, salt, info).derive(material)

        material = derived(shared, self.secret, b"WebPush: info\0" + self.public + theirs, 32)
        key = derived(material, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(material, salt, b"Content-Encoding: nonce\0", 12)
        return json.loads(AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")[:-1])


@dataclass
class PushService:
    origin: str = ""
    # The statuses and headers of the responses for each path. The last response repeats. By default, all
    # responses have status 201.
    answers: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)
    # The body of each response.
    response_text: str = ""
    received: "asyncio.Queue[Received]" = field(default_factory=asyncio.Queue)

    async def take(self, request: web.Request) -> web.Response:
        await self.received.put(Received(dict(request.headers), await request.read()))
        answers = self.answers.get(request.path, [(201, {})])
        status, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        return web.Response(status=status, headers=headers, text=self.response_text)

    async def next(self) -> Received:
        async with asyncio.timeout(DEADLINE_S):
            return await self.received.get()


@asynccontextmanager
async def push_service() -> AsyncIterator[PushService]:
    service = PushService()
    app = web.Application()
    app.router.add_post("/{device}", service.take)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        service.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()


def vouched(received: Received) -> dict[str, Any]:
    """Verify the server's VAPID claims with the key in the request (RFC 8292). Return the claims."""
    scheme, _, credentials = received.headers["Authorization"].partition(" ")
    fields = dict(part.strip().split("=", 1) for part in credentials.split(","))
    assert scheme == "vapid"
    point = from_base64url(fields["k"])
    key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    audience = jwt.decode(fields["t"], options={"verify_signature": False})["aud"]
    claims: dict[str, Any] = jwt.decode(fields["t"], key, algorithms=["ES256"], audience=audience)
    return claims | {"key": fields["k"]}
