"""Keeping media: stored and known, referred to, let go of. No HTTP.

A row comes before the object and is marked when the object is stored: a crash in between leaves
a row that nothing refers to, which the sweep finds. Who refers to an object keeps it; nobody
else does. docs/configuration.md, "Chat server".
"""

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from svc.base.database import Connection, Database
from svc.base.objects import ObjectStore, StoreFailed
from svc.base.pictures import Picture
from svc.base.tables import Table, value
from svc.chat.access.media_urls import PREFIX, MediaUrls
from svc.chat.errors import ChatError
from svc.chat.media.usage import Kept, require_room

# Who refers to objects: the kinds of owners.
MESSAGE, WEBHOOK, MEMBER, EMOJI, DRAFT, JOB, SERVER, PREVIEW, PRIVATE = (
    *("message", "webhook", "member", "emoji", "draft", "job", "server", "preview", "private"),
)
# Whoever keeps what is kept for nobody in particular.
NOBODY = ""
# For so long after it was kept, an object is in somebody's hands who is about to refer to it: a
# webhook's pictures wait for each other, 12 s at most.
IN_HAND_S = 60.0
_EXTENSION = re.compile("[a-z0-9]{1,8}")
STORING, STORED, GOING = "storing", "stored", "going"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an object's content."""

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
    facts: Facts
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class _Reference:
    kind: str
    owner_id: str
    key: str


_OBJECTS = Table("objects", StoredObject, names={f"facts.{fact.name}": fact.name for fact in fields(Facts)})
_REFERENCES = Table("object_references", _Reference)


def facts_of(picture: Picture) -> Facts:
    """Its size is counted when it is kept."""
    return Facts(
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        duration_ms=picture.duration_ms or None,
        placeholder=picture.placeholder,
        colour=picture.colour,
    )


class Media:
    """`objects` is None where nothing can be stored. `now` gives seconds since 1970."""

    def __init__(
        self, database: Database, objects: ObjectStore | None, urls: MediaUrls, now: Callable[[], float]
    ) -> None:
        self._database = database
        self._objects = objects
        self.urls = urls
        self._now = now
        # Keys that are being kept, or were a moment ago, and until when that is so.
        self._in_hand: dict[str, float] = {}
        # Stored objects that could not be read, by the reason.
        self.failed_reads: Counter[tuple[str, ...]] = Counter()

    @property
    def enabled(self) -> bool:
        return self._objects is not None

    @property
    def objects(self) -> ObjectStore:
        """Raises ChatError where nothing can be stored."""
        if self._objects is None:
            raise ChatError("uploads_disabled")
        return self._objects

    async def keep(self, data: bytes | Path, ext: str, facts: Facts, holder: str = NOBODY) -> str:
        """Store it as a part of the holder's share; its key. Raises StoreFailed, StorageFailed, ChatError."""
        key, size = new_key(ext), await _size(data)
        facts = replace(facts, bytes=size)
        # While it takes, and then for as long as its keeper may need to refer to it.
        self._in_hand[key] = float("inf")
        try:
            await self._database.write(lambda connection: self._reserve_room(connection, key, facts, holder))
            await self.objects.put(key, data, facts.content_type)
            await self._database.write(lambda connection: self.stored(connection, key, facts))
        finally:
            self._in_hand[key] = self._now() + IN_HAND_S
        return key

    def in_hand(self) -> list[str]:
        """Keys that somebody is about to refer to."""
        now = self._now()
        self._in_hand = {key: until for key, until in self._in_hand.items() if until > now}
        return list(self._in_hand)

    # Steps of a write.

    def reserve(self, connection: Connection, key: str, facts: Facts, holder: str = NOBODY) -> None:
        """Before something is stored under a new key, which counts for the holder."""
        now_ms = self._now_ms()
        reserved = StoredObject(key, STORING, facts, now_ms)
        _OBJECTS.insert(connection, reserved, idle_since_ms=now_ms, holder=holder)

    def kept(self, connection: Connection, holder: str) -> Kept:
        """How much the holder keeps, and all together."""
        sql = "SELECT coalesce(sum(iif(holder = ?, bytes, 0)), 0), coalesce(sum(bytes), 0) FROM kept"
        return Kept(*connection.execute(sql, (holder,)).fetchone())

    def stored(self, connection: Connection, key: str, facts: Facts) -> None:
        """What was reserved is stored, and this is what it is. Raises ChatError."""
        changed = {"state": STORED, **asdict(facts), "idle_since_ms": self._now_ms()}
        if not _OBJECTS.edit(connection, changed, key=key, state=STORING):
            raise ChatError("media_gone")

    def refer(self, connection: Connection, key: str, kind: str, owner_id: str) -> None:
        """From now on it is kept for this owner. Raises ChatError where it is gone."""
        if not _refer(connection, key, kind, owner_id):
            raise ChatError("media_gone")

    def refer_only(self, connection: Connection, kind: str, owner_id: str, keys: Sequence[str]) -> set[str]:
        """From now on these are kept for this owner, and no others; the keys of what is still there."""
        self.release(connection, kind, owner_id)
        return {key for key in keys if _refer(connection, key, kind, owner_id)}

    def release(self, connection: Connection, kind: str, owner_id: str, *, late_s: float = 0.0) -> None:
        """The owner refers to nothing any more; the time of grace begins `late_s` from now."""
        connection.execute(
            "UPDATE objects SET idle_since_ms = ? WHERE key IN"
            " (SELECT key FROM object_references WHERE kind = ? AND owner_id = ?)",
            (self._now_ms() + int(late_s * 1000), kind, owner_id),
        )
        _REFERENCES.delete(connection, kind=kind, owner_id=owner_id)

    def let_go(self, connection: Connection, kind: str, owner_id: str, keys: Sequence[str]) -> None:
        """The owner refers to these objects no more; their time of grace begins."""
        for key in keys:
            _OBJECTS.edit(connection, {"idle_since_ms": self._now_ms()}, key=key)
            _REFERENCES.delete(connection, kind=kind, owner_id=owner_id, key=key)

    def referred(self, connection: Connection, kind: str, owner_id: str) -> list[str]:
        """The keys that an owner refers to."""
        return _REFERENCES.column(connection, "key", "ORDER BY key", kind=kind, owner_id=owner_id)

    def owners(self, connection: Connection, key: str, kind: str) -> list[str]:
        """Those of a kind who refer to an object."""
        return _REFERENCES.column(connection, "owner_id", "ORDER BY owner_id", key=key, kind=kind)

    def condemn(self, connection: Connection, kind: str, owner_id: str) -> list[str]:
        """What is this owner's alone goes, without a time of grace; the keys, for `remove`."""
        keys = self.referred(connection, kind, owner_id)
        self.release(connection, kind, owner_id)
        set_going(connection, keys)
        return keys

    # What is there.

    async def keys_of(self, kind: str, owner_id: str) -> list[str]:
        """The keys that an owner refers to."""
        which = "WHERE kind = ? AND owner_id = ? ORDER BY key"
        return [one.key for one in await _REFERENCES.all(self._database, which, kind, owner_id)]

    async def remove(self, keys: Sequence[str]) -> list[str]:
        """Remove what was condemned from the store, as far as it goes now; the keys that are gone."""
        gone: list[str] = []
        for key in keys if self._objects is not None else ():
            with suppress(StoreFailed):
                await self.objects.delete(key)
                gone.append(key)

        if gone:
            await self._database.write(lambda connection: delete(connection, gone))
        return gone

    async def find(self, key: str) -> StoredObject | None:
        """What may be served; nothing that is yet to be stored, or on its way out."""
        found = await _OBJECTS.one(self._database, key=key)
        return found if found is not None and found.state == STORED else None

    def url(self, key: str) -> str:
        return self.urls.url(key)

    def _reserve_room(self, connection: Connection, key: str, facts: Facts, holder: str) -> None:
        require_room(self.kept(connection, holder), facts.bytes)
        self.reserve(connection, key, facts, holder)

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _refer(connection: Connection, key: str, kind: str, owner_id: str) -> bool:
    """False where there is no such object, or it is on its way out."""
    connection.execute(
        "INSERT OR IGNORE INTO object_references SELECT ?, ?, key FROM objects WHERE key = ? AND state != ?",
        (kind, owner_id, key, GOING),
    )
    return _REFERENCES.has(connection, kind=kind, owner_id=owner_id, key=key)


def set_going(connection: Connection, keys: Sequence[str]) -> None:
    """From now on nobody can refer to these."""
    connection.executemany("UPDATE objects SET state = 'going' WHERE key = ?", [(key,) for key in keys])


def delete(connection: Connection, keys: Sequence[str]) -> None:
    """Of what is no longer in the store."""
    connection.executemany("DELETE FROM objects WHERE key = ? AND state = 'going'", [(key,) for key in keys])


def new_key(ext: str) -> str:
    """Nobody can guess it, and no other server that shares the bucket makes the same."""
    assert _EXTENSION.fullmatch(ext), "extensions are ours"
    return f"{PREFIX}{uuid.uuid4()}.{ext}"


async def _size(data: bytes | Path) -> int:
    return len(data) if isinstance(data, bytes) else (await asyncio.to_thread(data.stat)).st_size


_OWNER_ID = "icon"


class ServerIcon:
    """Which object is the server's icon. Shown to anybody, also before they join."""

    def __init__(self, database: Database, media: Media) -> None:
        self._database = database
        self._media = media
        self.key: str | None = None

    async def load(self) -> None:
        sql = "SELECT value FROM facts WHERE name = 'icon_key'"
        self.key = await self._database.write(lambda connection: value(connection.execute(sql), str))

    def address(self) -> str | None:
        """Where anybody finds it; another icon has another address."""
        return None if self.key is None else f"/icon?v={self.key.removeprefix(PREFIX)[:8]}"

    def set(self, connection: Connection, key: str | None) -> None:
        """A step of a write; `changed` follows."""
        self._media.release(connection, SERVER, _OWNER_ID)
        if key is None:
            connection.execute("DELETE FROM facts WHERE name = 'icon_key'")
        else:
            connection.execute("INSERT OR REPLACE INTO facts VALUES ('icon_key', ?)", (key,))
            self._media.refer(connection, key, SERVER, _OWNER_ID)

    def changed(self, key: str | None) -> None:
        self.key = key
