"""A media object has a database row before it is stored, and is retained as long as anything refers to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.base.database import Database
from svc.base.object_store import FileObjects, ObjectMissing, ObjectStore, StoreFailed
from svc.chat.access.media_urls import MediaUrls
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import IN_HAND_S, MESSAGE, Media, ObjectInfo
from svc.chat.media.sweep import Sweep
from tests.kit.object_stores import STORES, Stores

WEBP = ObjectInfo("image/webp", width=10, height=20)
GRACE_MS = 1000


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
def objects(request: pytest.FixtureRequest, tmp_path: Path, stores: Stores) -> ObjectStore:
    return stores.store(request.param, tmp_path)


@pytest.fixture
def media(database: Database, objects: ObjectStore, clock: Clock) -> Media:
    return Media(database, objects, MediaUrls("secret", clock), clock)


@pytest.fixture
def sweep(database: Database, media: Media, clock: Clock) -> Sweep:
    return Sweep(database, media, 1000, GRACE_MS, clock)


async def refer(database: Database, media: Media, key: str, owner: str = "m1") -> None:
    await database.write(lambda connection: media.refer(connection, key, MESSAGE, owner))


async def release(database: Database, media: Media, owner: str = "m1") -> None:
    await database.write(lambda connection: media.release(connection, MESSAGE, owner))


async def exists(objects: ObjectStore, key: str) -> bool:
    try:
        await objects.size(key)
    except ObjectMissing:
        return False
    return True


async def test_storing_an_object_writes_its_content_and_its_row(media: Media, objects: ObjectStore) -> None:
    key = await media.keep(b"picture", "webp", WEBP)
    assert key.startswith("uploads/") and key.endswith(".webp") and key.count("/") == 1
    stored = await media.find(key)
    assert stored is not None
    assert (stored.facts.content_type, stored.facts.bytes, stored.facts.width) == ("image/webp", 7, 10)
    assert await exists(objects, key)


async def test_a_file_is_stored_in_the_same_way_as_bytes_in_memory(
    media: Media, objects: ObjectStore, tmp_path: Path
) -> None:
    (tmp_path / "source").write_bytes(b"a whole file")
    key = await media.keep(tmp_path / "source", "mp4", ObjectInfo("video/mp4"))
    assert await objects.size(key) == 12


async def test_an_object_that_could_not_be_stored_is_not_served(database: Database, clock: Clock) -> None:
    media = Media(database, FileObjects(Path("/dev/null")), MediaUrls("secret", clock), clock)
    with pytest.raises(StoreFailed):
        await media.keep(b"picture", "webp", WEBP)
    [key] = media.in_hand()
    assert await media.find(key) is None


async def test_storing_an_object_without_a_store_is_an_error(database: Database, clock: Clock) -> None:
    media = Media(database, None, MediaUrls("secret", clock), clock)
    assert not media.enabled
    with pytest.raises(ChatError, match="uploads_disabled"):
        await media.keep(b"picture", "webp", WEBP)


async def test_the_sweep_keeps_referenced_objects(
    database: Database, media: Media, sweep: Sweep, objects: ObjectStore, clock: Clock
) -> None:
    kept, orphan = await media.keep(b"one", "webp", WEBP), await media.keep(b"two", "webp", WEBP)
    await refer(database, media, kept)
    clock.now += IN_HAND_S + GRACE_MS
    assert await sweep.run_once() == 1
    assert await exists(objects, kept)
    assert not await exists(objects, orphan)
    assert await media.find(orphan) is None


async def test_an_object_is_removed_with_its_last_reference(
    database: Database, media: Media, sweep: Sweep, objects: ObjectStore, clock: Clock
) -> None:
    key = await media.keep(b"one", "webp", WEBP)
    await refer(database, media, key, "m1")
    await refer(database, media, key, "m2")
    clock.now += IN_HAND_S + GRACE_MS
    await release(database, media, "m1")
    clock.now += GRACE_MS
    assert await sweep.run_once() == 0
    await release(database, media, "m2")
    assert await sweep.run_once() == 0, "its grace period starts now"
    clock.now += GRACE_MS / 1000
    assert await sweep.run_once() == 1
    assert not await exists(objects, key)


async def test_an_object_about_to_be_referenced_is_kept_even_without_a_grace_period(
    database: Database, media: Media, objects: ObjectStore, clock: Clock
) -> None:
    sweep = Sweep(database, media, 1000, 0, clock)
    key = await media.keep(b"one", "webp", WEBP)
    clock.now += IN_HAND_S - 1
    assert await sweep.run_once() == 0
    await refer(database, media, key)
    clock.now += 10
    assert await sweep.run_once() == 0
    assert await exists(objects, key)


async def test_an_object_that_is_being_removed_cannot_get_new_references(
    database: Database, media: Media, sweep: Sweep, clock: Clock
) -> None:
    key = await media.keep(b"one", "webp", WEBP)
    clock.now += IN_HAND_S + GRACE_MS
    await sweep.run_once()
    with pytest.raises(ChatError, match="media_gone"):
        await refer(database, media, key)


class Unreliable(FileObjects):
    """A store that fails to delete objects while `failing` is set."""

    failing = True

    async def delete(self, key: str) -> None:
        if self.failing:
            raise StoreFailed("not now")
        await super().delete(key)


async def test_removal_of_an_object_is_retried_after_the_store_fails(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    objects = Unreliable(tmp_path / "objects")
    media = Media(database, objects, MediaUrls("secret", clock), clock)
    sweep = Sweep(database, media, 1000, GRACE_MS, clock)
    key = await media.keep(b"one", "webp", WEBP)
    clock.now += IN_HAND_S + GRACE_MS
    assert await sweep.run_once() == 0
    assert await media.find(key) is None, "it is marked for deletion"
    objects.failing = False
    assert await sweep.run_once() == 1
    assert not await exists(objects, key)
    assert (sweep.counts.swept, sweep.counts.failed) == (1, 1)


async def test_a_bucket_may_be_shared_with_other_programs(
    media: Media, sweep: Sweep, objects: ObjectStore, clock: Clock
) -> None:
    await objects.put("uploads/another-servers.webp", b"theirs", "image/webp")
    await media.keep(b"ours", "webp", WEBP)
    clock.now += 10 * (IN_HAND_S + GRACE_MS)
    assert await sweep.run_once() == 1
    assert await exists(objects, "uploads/another-servers.webp")


class Killed(BaseException):
    """Simulates the process's death."""


@pytest.fixture
def killed_after_storing(objects: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    put = objects.put

    async def put_and_die(key: str, source: Path | bytes, content_type: str) -> None:
        await put(key, source, content_type)
        raise Killed

    monkeypatch.setattr(objects, "put", put_and_die)
    yield


@pytest.mark.usefixtures("killed_after_storing")
async def test_an_object_whose_server_was_killed_while_storing_it_is_swept(
    database: Database, media: Media, objects: ObjectStore, clock: Clock
) -> None:
    with pytest.raises(Killed):
        await media.keep(b"one", "webp", WEBP)
    [key] = media.in_hand()
    assert await exists(objects, key)
    # A server that starts after the crash knows the object only from its row.
    after = Media(database, objects, MediaUrls("secret", clock), clock)
    assert await after.find(key) is None
    clock.now += GRACE_MS / 1000
    assert await Sweep(database, after, 1000, GRACE_MS, clock).run_once() == 1
    assert not await exists(objects, key)
