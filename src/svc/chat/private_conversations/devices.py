"""Manages the devices that take part in private conversations, and their key packages.

A device's sign-in key signs a statement with its MLS signature key, so others can verify that key without
trusting the server. Each key package is handed out once. When none is left, the last-resort package is used.
This module contains neither HTTP nor SQL code. See RFC 9420 sections 5.3 and 10, RFC 9750 section 5.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.tokens import Session
from svc.chat.authentication import jwt_verification as proofs
from svc.chat.authentication.devices import Devices
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.private_conversations import devices_store as store
from svc.chat.private_conversations.devices_store import MAX_KEY_PACKAGES, PrivateDevice
from svc.chat.private_conversations.framing import FramingError, KeyPackage, read_key_package
from svc.chat.private_conversations.responses import LOW_STOCK, ClaimedPackage, KeysLow, PackageStock
from svc.chat.private_conversations.store import conversations_of
from svc.chat.services import Services

# The maximum number of devices per member. Each device is a leaf in all its member's groups, so a group of 25
# members with 8 devices each has 200 leaves.
MAX_DEVICES = 8
# The longest permitted lifetime of a key package. A device that is offline for longer has probably lost its
# keys.
MAX_LIFETIME_S = 92 * 24 * 60 * 60
STATEMENT = "mls"


@dataclass(frozen=True, slots=True)
class RegisteredDevice:
    device_id: str
    is_new: bool
    # The conversations whose group now lacks the device.
    lacking_in: Sequence[str] = ()


class PrivateDevices:
    """The devices in private conversations. `on_lacking` is called with the conversations whose group lacks a
    device.
    """

    def __init__(self, services: Services, own: Devices, audience: str) -> None:
        self._database, self._hub = services.database, services.hub
        self._own = own
        # Returns the id of the requesting device, even if it is not registered for private conversations.
        self.current = own.current
        self._audience = audience
        self.on_lacking: list[Callable[[Sequence[str]], None]] = []

    @shared_write
    def register(self, session: Session, text: str, now: float) -> Write[RegisteredDevice, str]:
        """Register the requesting device with the key in the statement. Return its id. Raises ChatError."""
        thumbprint, _ = self._statement(text, session.member_id, now)

        def write(connection: Connection) -> RegisteredDevice:
            current = self._own.current_in(connection, session)
            if current is None or current[1] != thumbprint:
                raise ChatError("proof_invalid", "The statement must be signed with the key of this device")
            device_id = current[0]
            if store.proof_of(connection, device_id) == text:
                return RegisteredDevice(device_id, is_new=False)
            device = PrivateDevice(device_id, session.member_id, thumbprint)
            store.put(connection, device, text, int(now * 1000))
            store.remove_oldest(connection, session.member_id, MAX_DEVICES)
            return RegisteredDevice(device_id, True, conversations_of(connection, session.member_id))

        def registered(device: RegisteredDevice) -> str:
            self._notify_lacking(device.lacking_in)
            return device.device_id

        return Write(write, registered)

    @shared_write
    def publish(
        self, session: Session, packages: Sequence[bytes], last_resort: bytes | None, now: float
    ) -> Write[tuple[int, Sequence[str]], int]:
        """Store key packages. If the device had none, other devices can now add it to groups.

        Returns the device's number of key packages. Raises ChatError.
        """
        read = [(self._package(body, now), body, False) for body in packages]
        if last_resort is not None:
            read.append((self._package(last_resort, now), last_resort, True))

        def write(connection: Connection) -> tuple[int, Sequence[str]]:
            device_id, proof = self.require(connection, session)
            is_waited_for = bool(read) and not store.may_be_added(connection, device_id, int(now * 1000))
            key = self._statement(proof, session.member_id, now)[1]
            if any(
                package.signature_key != key or package.identity != proof.encode() for package, _, _ in read
            ):
                raise ChatError("invalid_request", "A key package must have this device's key and statement")
            if last_resort is not None:
                store.drop_last_resort(connection, device_id)
            for package, body, is_last in read:
                store.put_package(connection, device_id, package.ref, body, is_last, package.not_after * 1000)
            left = store.count_stock(connection, device_id, int(now * 1000))
            if left > MAX_KEY_PACKAGES:
                raise ChatError("too_many")
            return left, conversations_of(connection, session.member_id) if is_waited_for else ()

        def published(done: tuple[int, Sequence[str]]) -> int:
            left, lacking_in = done
            self._notify_lacking(lacking_in)
            return left

        return Write(write, published)

    async def require_device(self, session: Session) -> str:
        """Return the id of the requesting device. Raises ChatError if it is not registered."""
        device_id = await self.current(session)
        if device_id is None or await store.DEVICES.one(self._database, device_id=device_id) is None:
            raise ChatError("no_device")
        return device_id

    async def stock(self, device_id: str | None, now: float) -> PackageStock:
        device = await store.DEVICES.one(self._database, device_id=device_id) if device_id else None
        if device is None:
            return PackageStock(None, 0)
        return PackageStock(device, await store.stock(self._database, device.id, int(now * 1000)))

    def _notify_lacking(self, conversation_ids: Sequence[str]) -> None:
        for notify in self.on_lacking:
            notify(conversation_ids)

    # Methods to call within a write transaction.

    def require(self, connection: Connection, session: Session) -> tuple[str, str]:
        """Return the requesting device's id and statement. Raises ChatError if it is not registered."""
        current = self._own.current_in(connection, session)
        proof = store.proof_of(connection, current[0]) if current else None
        if current is None or proof is None:
            raise ChatError("no_device")
        return current[0], proof

    def take(
        self, connection: Connection, device_ids: Sequence[str], now: float
    ) -> tuple[list[ClaimedPackage], list[KeysLow]]:
        """Take a key package from each device that has one. Return the packages, and the number left for each
        device that is running low.
        """
        now_ms = int(now * 1000)
        taken: list[ClaimedPackage] = []
        low: list[KeysLow] = []
        for device_id in device_ids:
            if (body := store.take(connection, device_id, now_ms)) is not None:
                taken.append(ClaimedPackage(device_id, body))
            if (left := store.count_stock(connection, device_id, now_ms)) < LOW_STOCK:
                low.append(KeysLow(device_id, left))
        return taken, low

    def report_low(self, low: Sequence[KeysLow], member_of: dict[str, str]) -> None:
        for stock in low:
            self._hub.push("private_keys_low", stock, only(member_of[stock.device_id]), kept=False)

    def _statement(self, text: str, member_id: str, now: float) -> tuple[str, bytes]:
        """Verify a statement. Return the thumbprint of the signing key, and the MLS signature key in the
        statement.
        """
        try:
            thumbprint, claims = proofs.statement(proofs.read(text), self._audience, now)
        except proofs.InvalidProof as refusal:
            raise ChatError("proof_invalid", f"The statement is not valid: {refusal}") from None
        if claims.get("use") != STATEMENT or claims.get("sub") != member_id:
            raise ChatError("proof_invalid", "The statement must be about MLS and about yourself")
        key = claims.get("mls_key")
        try:
            return thumbprint, _decode_key(key if isinstance(key, str) else "")
        except ValueError:
            raise ChatError("proof_invalid", "mls_key must be a key in base64url") from None

    def _package(self, body: bytes, now: float) -> KeyPackage:
        try:
            package = read_key_package(body)
        except FramingError as fault:
            raise ChatError("invalid_request", f"This key package cannot be used: {fault}") from None
        if not now < package.not_after <= now + MAX_LIFETIME_S:
            raise ChatError(
                "invalid_request", "A key package must expire within 92 days, and not have expired"
            )
        return package


def _decode_key(text: str) -> bytes:
    """Decode base64url without padding. Raises ValueError."""
    key = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if not 32 <= len(key) <= 133:
        raise ValueError("no key has that size")
    return key
