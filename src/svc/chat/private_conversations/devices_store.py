"""Stores devices in private conversations and their key packages. Contains only SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Database
from svc.base.tables import Table, number, value
from svc.chat.schemas import Id

# The maximum number of stored key packages per device, enough for a week offline in a busy community. Each
# takes about a kilobyte.
MAX_KEY_PACKAGES = 100
MAX_KEY_PACKAGE_BYTES = 4096

Thumbprint = Annotated[str, Meta(max_length=43)]
PackageBytes = Annotated[bytes, Meta(min_length=1, max_length=MAX_KEY_PACKAGE_BYTES)]


@dataclass(frozen=True, slots=True)
class PrivateDevice:
    id: Id
    member_id: Id
    thumbprint: Thumbprint


DEVICES = Table("private_devices", PrivateDevice, names={"id": "device_id"})


async def stock(database: Database, device_id: str, now_ms: int) -> int:
    """Return the number of unused key packages, not counting the last-resort one."""
    row = await database.row(_STOCK, (device_id, now_ms))
    return int(row[0]) if row else 0


_STOCK = (
    "SELECT count(*) FROM private_key_packages"
    " WHERE device_id = ? AND last_resort = 0 AND taken_at_ms IS NULL AND expires_at_ms > ?"
)


def count_stock(connection: Connection, device_id: str, now_ms: int) -> int:
    return number(connection.execute(_STOCK, (device_id, now_ms)))


def may_be_added(connection: Connection, device_id: str, now_ms: int) -> bool:
    """Return whether other devices can take one of the device's key packages."""
    cursor = connection.execute(
        "SELECT 1 FROM private_key_packages WHERE device_id = ? AND expires_at_ms > ?"
        " AND (last_resort = 1 OR taken_at_ms IS NULL) LIMIT 1",
        (device_id, now_ms),
    )
    return cursor.fetchone() is not None


def proof_of(connection: Connection, device_id: str) -> str | None:
    sql = "SELECT proof FROM private_devices WHERE device_id = ?"
    return value(connection.execute(sql, (device_id,)), str)


def put(connection: Connection, device: PrivateDevice, proof: str, now_ms: int) -> None:
    """Replace a device's registration. If its key has changed, the device is no longer in any group."""
    DEVICES.delete(connection, device_id=device.id)
    DEVICES.insert(connection, device, proof=proof, added_at_ms=now_ms)


def remove_oldest(connection: Connection, member_id: str, maximum: int) -> None:
    """Delete a member's oldest devices if there are more than `maximum`."""
    connection.execute(
        "DELETE FROM private_devices WHERE device_id IN (SELECT device_id FROM private_devices"
        " WHERE member_id = ? ORDER BY added_at_ms DESC, device_id DESC LIMIT -1 OFFSET ?)",
        (member_id, maximum),
    )


def put_package(
    connection: Connection, device_id: str, ref: bytes, body: bytes, last_resort: bool, expires_at_ms: int
) -> None:
    """Store a key package. An existing package is not replaced, because otherwise a used one could be used
    again.
    """
    connection.execute(
        "INSERT INTO private_key_packages (ref, device_id, body, last_resort, expires_at_ms)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (ref) DO NOTHING",
        (ref, device_id, body, int(last_resort), expires_at_ms),
    )


def drop_last_resort(connection: Connection, device_id: str) -> None:
    connection.execute(
        "DELETE FROM private_key_packages WHERE device_id = ? AND last_resort = 1", (device_id,)
    )


def take(connection: Connection, device_id: str, now_ms: int) -> bytes | None:
    """Return an unused key package and mark it as used. If there is none, return the last-resort one, or
    None.
    """
    row = connection.execute(
        "UPDATE private_key_packages SET taken_at_ms = ?2 WHERE n = (SELECT n FROM private_key_packages"
        " WHERE device_id = ?1 AND last_resort = 0 AND taken_at_ms IS NULL AND expires_at_ms > ?2"
        " ORDER BY n LIMIT 1) RETURNING body",
        (device_id, now_ms),
    ).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT body FROM private_key_packages"
            " WHERE device_id = ? AND last_resort = 1 AND expires_at_ms > ?",
            (device_id, now_ms),
        ).fetchone()
    return row["body"] if row else None


def devices_of(connection: Connection, refs: Sequence[bytes]) -> dict[str, PrivateDevice]:
    """Return the devices of the given key packages, by device id. Each must be a used package or a
    last-resort package.
    """
    devices = {}
    for ref in refs:
        row = connection.execute(
            "SELECT device_id, member_id, thumbprint FROM private_key_packages JOIN private_devices"
            " USING (device_id) WHERE ref = ? AND (last_resort = 1 OR taken_at_ms IS NOT NULL)",
            (ref,),
        ).fetchone()
        if row is not None:
            devices[row["device_id"]] = PrivateDevice(*row)
    return devices


def delete_used(connection: Connection, refs: Sequence[bytes]) -> None:
    """Delete used key packages. Call this after storing their Welcome."""
    connection.executemany(
        "DELETE FROM private_key_packages WHERE ref = ? AND last_resort = 0", [(ref,) for ref in refs]
    )


def expire(connection: Connection, now_ms: int, taken_before_ms: int) -> int:
    cursor = connection.execute(
        "DELETE FROM private_key_packages WHERE expires_at_ms <= ? OR taken_at_ms <= ?",
        (now_ms, taken_before_ms),
    )
    return cursor.rowcount


def member_of(connection: Connection, device_id: str) -> str:
    """Return the id of a device's member, or an empty string if the device is not registered."""
    device = DEVICES.get(connection, device_id=device_id)
    return device.member_id if device else ""
