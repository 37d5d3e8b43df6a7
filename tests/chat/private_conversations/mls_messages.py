"""Builds MLS messages as a server sees them: valid framing around random data."""

import os
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any

from svc.chat.private_conversations.framing import APPLICATION, COMMIT, SUITE, key_package_ref
from svc.chat.private_conversations.franking import COMMITMENT_BYTES, bound
from tests.chat.http_member import HttpMember
from tests.kit.device import base64url

MLS = b"\0\1"
BEGINNING, END = 1_000_000_000, 90 * 24 * 60 * 60


def vector(data: bytes) -> bytes:
    """Encode a vector (RFC 9420 section 2.1.2)."""
    for bits, size in ((6, 1), (14, 2), (30, 4)):
        if len(data) < 1 << bits:
            return (len(data) | (size.bit_length() - 1) << (8 * size - 2)).to_bytes(size) + data
    raise AssertionError("too long")


# The default commitment of messages.
COMMITMENT = b"c" * COMMITMENT_BYTES


def private_message(
    group_id: str,
    epoch: int,
    content_type: int,
    ciphertext: bytes | None = None,
    commitment: bytes = COMMITMENT,
) -> bytes:
    head = MLS + b"\0\2" + vector(group_id.encode()) + epoch.to_bytes(8) + content_type.to_bytes(1)
    return head + vector(bound(commitment)) + vector(os.urandom(28)) + vector(ciphertext or os.urandom(64))


def welcome(*packages: bytes, size: int = 300) -> bytes:
    """Return a Welcome for the given key packages (MLSMessages), with `size` bytes of group information."""
    secrets = b"".join(
        vector(key_package_ref(package[4:])) + vector(os.urandom(65)) + vector(os.urandom(80))
        for package in packages
    )
    return MLS + b"\0\3" + SUITE.to_bytes(2) + vector(secrets) + vector(os.urandom(size))


def key_package(signature_key: bytes, identity: str, not_after: int) -> bytes:
    leaf = vector(os.urandom(65)) + vector(signature_key) + b"\0\1" + vector(identity.encode())
    leaf += b"".join(vector(b"\0\1") for _ in range(5)) + b"\1"
    leaf += BEGINNING.to_bytes(8) + not_after.to_bytes(8) + vector(b"") + vector(os.urandom(70))
    package = MLS + SUITE.to_bytes(2) + vector(os.urandom(65)) + leaf + vector(b"") + vector(os.urandom(70))
    return MLS + b"\0\5" + package


def text(data: bytes) -> str:
    return b64encode(data).decode()


@dataclass
class Client:
    """A member's device from the server's point of view."""

    person: HttpMember
    server_id: str
    now: float
    signature_key: bytes = field(default_factory=lambda: os.urandom(65))
    device_id: str = ""
    statement: str = ""

    async def take_part(self, packages: int = 3, last_resort: bool = False) -> "Client":
        self.statement = self.stated()
        answer = await self.person.done("PUT", "/api/private/device", {"statement": self.statement})
        self.device_id = answer["device_id"]
        await self.publish(packages, last_resort)
        return self

    def stated(self, **changes: object) -> str:
        device = self.person.device
        claims = {
            "use": "mls",
            "aud": self.server_id,
            "sub": self.person.id,
            "mls_key": base64url(self.signature_key),
        }
        return device.sign(claims | changes, {"jwk": device.jwk})

    def package(self) -> bytes:
        return key_package(self.signature_key, self.statement, int(self.now) + END)

    async def publish(self, packages: int, last_resort: bool = False) -> int:
        body: dict[str, object] = {"key_packages": [text(self.package()) for _ in range(packages)]}
        if last_resort:
            body["last_resort"] = text(self.package())
        return int((await self.person.done("POST", "/api/private/key-packages", body))["left"])

    async def open(self, *others: "Client") -> dict[str, Any]:
        members = [other.person.id for other in others]
        opened: dict[str, Any] = await self.person.done(
            "POST", "/api/private/conversations", {"members": members}
        )
        return opened

    async def look(self, conversation: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = await self.person.done("GET", path(conversation))
        return state

    async def take(self, conversation: dict[str, Any], *devices: "Client") -> list[dict[str, str]]:
        wanted = {"devices": [device.device_id for device in devices]}
        answer = await self.person.done("POST", path(conversation, "key-packages"), wanted)
        return list(answer["key_packages"])

    async def commit(
        self,
        conversation: dict[str, Any],
        epoch: int,
        packages: list[bytes] | None = None,
        removed: list[str] | None = None,
        body: bytes | None = None,
    ) -> tuple[int, Any]:
        request: dict[str, object] = {
            "commit": text(body or private_message(conversation["id"], epoch, COMMIT)),
            "removed": removed or [],
        }
        if packages:
            request["welcome"] = text(welcome(*packages))
        return await self.person.ask("POST", path(conversation, "commits"), request)

    async def send(
        self,
        conversation: dict[str, Any],
        epoch: int,
        body: bytes | None = None,
        commitment: bytes = COMMITMENT,
    ) -> tuple[int, Any]:
        body = body or private_message(conversation["id"], epoch, APPLICATION, commitment=commitment)
        request = {"message": text(body), "commitment": text(commitment)}
        return await self.person.ask("POST", path(conversation, "messages"), request)

    async def log(self, conversation: dict[str, Any], after: int = 0) -> list[dict[str, Any]]:
        log = await self.person.done("GET", path(conversation, f"log?after={after}"))
        return list(log["entries"])

    async def welcomes(self) -> list[dict[str, Any]]:
        return list((await self.person.done("GET", "/api/private/welcomes"))["welcomes"])


def path(conversation: dict[str, Any], suffix: str = "") -> str:
    return f"/api/private/conversations/{conversation['id']}" + (f"/{suffix}" if suffix else "")
