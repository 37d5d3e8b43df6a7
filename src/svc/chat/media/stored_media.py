"""Stores media and tracks the references to it. Contains no HTTP code.

A row is inserted before its object is stored, and then marked as stored. A crash in between leaves an
unreferenced row, which the sweep finds. An object without references is deleted. See docs/configuration.md,
"Chat server".
"""

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from svc.base.database import Connection, Database
from svc.base.object_store import ObjectMissing, ObjectStore, StoreFailed
from svc.base.pictures import Picture
from svc.base.tables import Table, value
from svc.chat.access.media_urls import PREFIX, MediaUrls
from svc.chat.errors import ChatError
from svc.chat.media.usage import StoredBytes, require_room

# The kinds of owners that can refer to objects.
MESSAGE, WEBHOOK, MEMBER, EMOJI, DRAFT, JOB, SERVER, PREVIEW, PRIVATE = (
    *("message", "webhook", "member", "emoji", "draft", "job", "server", "preview", "private"),
)
# The holder of objects that do not count against any member's limit.
NOBODY = ""
# How long a new object without references is protected. The images in a webhook message are referenced
# together, up to 12 s after the first one was stored.
IN_HAND_S = 60.0
_EXTENSION = re.compile("[a-z0-9]{1,8}")
STORING, STORED, GOING = "storing", "stored", "going"


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """The known properties of an object's content."""

    content_type: str
    bytes: int = 0
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
    placeholder: str = ""
    colour: str = ""


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    state: str
    facts: ObjectInfo
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class _Reference:
    kind: str
    owner_id: str
    key: str


_COLUMNS = {f"facts.{field.name}": field.name for field in fields(ObjectInfo)}
_OBJECTS = Table("objects", StoredObject, names=_COLUMNS)
_REFERENCES = Table("object_references", _Reference)


def facts_of(picture: Picture) -> ObjectInfo:
    """Return the properties of an image except its size. The size is set when the image is stored."""
    return ObjectInfo(
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        duration_ms=picture.duration_ms or None,
        placeholder=picture.placeholder,
        colour=picture.colour,
    )


class Media:
    """The rules for stored media. `objects` is None if no storage is configured. `now` returns seconds since
    1970.
    """

    def __init__(
        self, database: Database, objects: ObjectStore | None, urls: MediaUrls, now: Callable[[], float]
    ) -> None:
        self._database = database
        self._objects = objects
        self.urls = urls
        self._now = now
        # The keys of objects that are being stored or were just stored, and when each one's protection ends.
        self._in_hand: dict[str, float] = {}
        # The number of stored objects that could not be read, by reason.
        self.failed_reads: Counter[tuple[str, ...]] = Counter()

    @property
    def enabled(self) -> bool:
        return self._objects is not None

    @property
    def objects(self) -> ObjectStore:
        """The object store. Raises ChatError if no storage is configured."""
        if self._objects is None:
            raise ChatError("uploads_disabled")
        return self._objects

    async def keep(self, data: bytes | Path, ext: str, facts: ObjectInfo, holder: str = NOBODY) -> str:
        """Store an object that counts against the holder's storage limit. Return its key.

        Raises StoreFailed, StorageFailed or ChatError.
        """
        key, size = new_key(ext), await _size(data)
        facts = replace(facts, bytes=size)
        # The key is protected while its object is being stored and until it has had time to get a reference.
        self._in_hand[key] = float("inf")
        try:
            await self._database.write(lambda connection: self._reserve_room(connection, key, facts, holder))
            await self.objects.put(key, data, facts.content_type)
            await self._database.write(lambda connection: self.mark_stored(connection, key, facts))
        finally:
            self._in_hand[key] = self._now() + IN_HAND_S
        return key

    def in_hand(self) -> list[str]:
        """Return the keys of new objects. They are protected until they have had time to get a reference."""
        now = self._now()
        self._in_hand = {key: until for key, until in self._in_hand.items() if until > now}
        return list(self._in_hand)

    # Methods to call within a write transaction.

    def reserve(self, connection: Connection, key: str, facts: ObjectInfo, holder: str = NOBODY) -> None:
        """Reserve a key for an object that is about to be stored and counts against the holder's limit."""
        now_ms = self._now_ms()
        reserved = StoredObject(key, STORING, facts, now_ms)
        _OBJECTS.insert(connection, reserved, idle_since_ms=now_ms, holder=holder)

    def stored_bytes(self, connection: Connection, holder: str) -> StoredBytes:
        """Return the number of bytes stored for the holder, and for all holders together."""
        sql = "SELECT coalesce(sum(iif(holder = ?, bytes, 0)), 0), coalesce(sum(bytes), 0) FROM kept"
        return StoredBytes(*connection.execute(sql, (holder,)).fetchone())

    def mark_stored(self, connection: Connection, key: str, facts: ObjectInfo) -> None:
        """Mark a reserved object as stored, and store its properties. Raises ChatError."""
        changed = {"state": STORED, **asdict(facts), "idle_since_ms": self._now_ms()}
        if not _OBJECTS.edit(connection, changed, key=key, state=STORING):
            raise ChatError("media_gone")

    def refer(self, connection: Connection, key: str, kind: str, owner_id: str) -> None:
        """Add an owner's reference to an object. Raises ChatError if the object no longer exists."""
        if not _refer(connection, key, kind, owner_id):
            raise ChatError("media_gone")

    def refer_only(self, connection: Connection, kind: str, owner_id: str, keys: Sequence[str]) -> set[str]:
        """Replace an owner's references with references to the given objects.

        Return the keys of the objects that still exist.
        """
        self.release(connection, kind, owner_id)
        return {key for key in keys if _refer(connection, key, kind, owner_id)}

    def release(self, connection: Connection, kind: str, owner_id: str, *, late_s: float = 0.0) -> None:
        """Remove all of an owner's references. The objects' grace period begins after `late_s`."""
        connection.execute(
            "UPDATE objects SET idle_since_ms = ? WHERE key IN"
            " (SELECT key FROM object_references WHERE kind = ? AND owner_id = ?)",
            (self._now_ms() + int(late_s * 1000), kind, owner_id),
        )
        _REFERENCES.delete(connection, kind=kind, owner_id=owner_id)

    def release_some(self, connection: Connection, kind: str, owner_id: str, keys: Sequence[str]) -> None:
        """Remove an owner's references to the given objects. The objects' grace period begins now."""
        for key in keys:
            _OBJECTS.edit(connection, {"idle_since_ms": self._now_ms()}, key=key)
            _REFERENCES.delete(connection, kind=kind, owner_id=owner_id, key=key)

    def referenced_keys(self, connection: Connection, kind: str, owner_id: str) -> list[str]:
        """Return the keys of the objects that an owner refers to."""
        return _REFERENCES.column(connection, "key", "ORDER BY key", kind=kind, owner_id=owner_id)

    def owners(self, connection: Connection, key: str, kind: str) -> list[str]:
        """Return the ids of the owners of the given kind that refer to an object."""
        return _REFERENCES.column(connection, "owner_id", "ORDER BY owner_id", key=key, kind=kind)

    def condemn(self, connection: Connection, kind: str, owner_id: str) -> list[str]:
        """Mark an owner's objects for immediate removal. No other owner may refer to them.

        Return their keys, for `remove`.
        """
        keys = self.referenced_keys(connection, kind, owner_id)
        self.release(connection, kind, owner_id)
        mark_going(connection, keys)
        return keys

    # Methods that read or remove objects outside write transactions.

    async def keys_of(self, kind: str, owner_id: str) -> list[str]:
        """Return the keys of the objects that an owner refers to."""
        which = "WHERE kind = ? AND owner_id = ? ORDER BY key"
        return [reference.key for reference in await _REFERENCES.all(self._database, which, kind, owner_id)]

    async def remove(self, keys: Sequence[str]) -> list[str]:
        """Remove as many condemned objects from the store as possible. Return their keys."""
        deleted: list[str] = []
        for key in keys if self._objects is not None else ():
            with suppress(StoreFailed):
                await self.objects.delete(key)
                deleted.append(key)

        if deleted:
            await self._database.write(lambda connection: delete(connection, deleted))
        return deleted

    async def find(self, key: str) -> StoredObject | None:
        """Return the object, or None if it is not stored or is about to be removed."""
        stored = await _OBJECTS.one(self._database, key=key)
        return stored if stored is not None and stored.state == STORED else None

    def url(self, key: str) -> str:
        return self.urls.url(key)

    def _reserve_room(self, connection: Connection, key: str, facts: ObjectInfo, holder: str) -> None:
        require_room(self.stored_bytes(connection, holder), facts.bytes)
        self.reserve(connection, key, facts, holder)

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _refer(connection: Connection, key: str, kind: str, owner_id: str) -> bool:
    """Add a reference. Return False if the object does not exist or is about to be removed."""
    connection.execute(
        "INSERT OR IGNORE INTO object_references SELECT ?, ?, key FROM objects WHERE key = ? AND state != ?",
        (kind, owner_id, key, GOING),
    )
    return _REFERENCES.has(connection, kind=kind, owner_id=owner_id, key=key)


def mark_going(connection: Connection, keys: Sequence[str]) -> None:
    """Mark objects for removal, to prevent new references to them."""
    connection.executemany("UPDATE objects SET state = 'going' WHERE key = ?", [(key,) for key in keys])


def delete(connection: Connection, keys: Sequence[str]) -> None:
    """Delete the rows of objects that are no longer in the store."""
    connection.executemany("DELETE FROM objects WHERE key = ? AND state = 'going'", [(key,) for key in keys])


def new_key(ext: str) -> str:
    """Return an unguessable key that is unique among all servers sharing the bucket."""
    assert _EXTENSION.fullmatch(ext), "extensions are ours"
    return f"{PREFIX}{uuid.uuid4()}.{ext}"


async def _size(data: bytes | Path) -> int:
    return len(data) if isinstance(data, bytes) else (await asyncio.to_thread(data.stat)).st_size


_OWNER_ID = "icon"


class ServerIcon:
    """The server's icon, which anyone can see, even before joining."""

    def __init__(self, database: Database, media: Media) -> None:
        self._database = database
        self._media = media
        self.key: str | None = None

    async def load(self) -> None:
        sql = "SELECT value FROM facts WHERE name = 'icon_key'"
        self.key = await self._database.write(lambda connection: value(connection.execute(sql), str))

    def address(self) -> str | None:
        """Return the public URL of the icon. A new icon has a new URL."""
        return None if self.key is None else f"/icon?v={self.key.removeprefix(PREFIX)[:8]}"

    async def content(self, max_bytes: int) -> bytes | None:
        """Return the icon, or None if it is missing, larger than `max_bytes`, or unreadable."""
        stored = await self._media.find(self.key) if self.key is not None else None
        if stored is None or stored.facts.bytes > max_bytes:
            return None
        chunks = self._media.objects.read(stored.key, 0, stored.facts.bytes)
        try:
            async with aclosing(chunks):
                return b"".join([chunk async for chunk in chunks])
        except (ObjectMissing, StoreFailed):
            return None

    def set(self, connection: Connection, key: str | None) -> None:
        """Set the icon. Call this within a write transaction, and `changed` after it."""
        self._media.release(connection, SERVER, _OWNER_ID)
        if key is None:
            connection.execute("DELETE FROM facts WHERE name = 'icon_key'")
        else:
            connection.execute("INSERT OR REPLACE INTO facts VALUES ('icon_key', ?)", (key,))
            self._media.refer(connection, key, SERVER, _OWNER_ID)

    def changed(self, key: str | None) -> None:
        self.key = key
