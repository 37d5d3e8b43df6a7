"""Creates a test user's device with its key, and the proofs that a client creates with that key."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

import jwt
from aiohttp import ClientSession
from cryptography.hazmat.primitives.asymmetric import ec


class Device:
    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.jwk = public_jwk(self.key)

    @property
    def private_jwk(self) -> dict[str, str]:
        """The key pair as a browser imports it."""
        number = self.key.private_numbers().private_value
        return self.jwk | {"d": base64url(number.to_bytes(32, "big"))}

    @property
    def thumbprint(self) -> str:
        """The key's thumbprint (RFC 7638 section 3)."""
        text = '{{"crv":"{crv}","kty":"{kty}","x":"{x}","y":"{y}"}}'.format(**self.jwk)
        return base64url(hashlib.sha256(text.encode()).digest())

    def certificate(self, **changes: object) -> str:
        """Return a certificate signed with its own key."""
        return self.sign({"jwk": self.jwk, "sub": self.thumbprint} | changes)

    def assertion(
        self,
        challenge: Mapping[str, object],
        origin: object,
        header: dict[str, Any] | None = None,
        **changes: object,
    ) -> str:
        claims = {
            "aud": challenge["audience"],
            "nonce": challenge["nonce"],
            "sub": self.thumbprint,
            "origin": origin,
        }
        return self.sign(claims | changes, header)

    def sign(self, claims: Mapping[str, object], header: dict[str, Any] | None = None) -> str:
        # jwt.encode would reject the claims that a hostile client may make.
        payload = json.dumps(claims).encode()
        return jwt.PyJWS().encode(payload, self.key, algorithm="ES256", headers=header)

    async def proof(self, http: ClientSession, address: str) -> dict[str, object]:
        """Return the body of a join request, with a nonce that the server has just issued."""
        async with http.post(f"{address}/api/auth/challenge") as response:
            challenge = await response.json()
            assert response.status == 200, challenge
        return {"certificate": self.certificate(), "assertion": self.assertion(challenge, address)}


def public_jwk(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    size = (key.curve.key_size + 7) // 8
    return {
        "kty": "EC",
        "crv": {256: "P-256", 384: "P-384"}[key.curve.key_size],
        "x": base64url(numbers.x.to_bytes(size, "big")),
        "y": base64url(numbers.y.to_bytes(size, "big")),
    }


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
