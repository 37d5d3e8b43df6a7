"""Every object store stores whole objects, and returns any part of an object."""

import asyncio
import os
import secrets
import shutil
import sys
from pathlib import Path

import pytest

from svc.base import object_store as object_store_module
from svc.base import object_store_s3
from svc.base.config_parsing import ConfigError
from svc.base.object_store import CHUNK_BYTES, FileObjects, ObjectMissing, ObjectStore, StoreFailed
from svc.base.object_store_config import DEFAULT_FOLDER, read
from svc.base.object_store_s3 import S3Address, S3Objects
from tests.kit.object_stores import MOTO, RCLONE, STORES, Stores

LARGE = 3 * CHUNK_BYTES + 17


@pytest.fixture(params=STORES)
def objects(request: pytest.FixtureRequest, tmp_path: Path, stores: Stores) -> ObjectStore:
    return stores.store(request.param, tmp_path)


def new_key() -> str:
    return f"uploads/{secrets.token_hex(16)}.bin"


async def content(store: ObjectStore, key: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([chunk async for chunk in store.read(key, start, end)])


async def test_a_stored_object_can_be_read_with_its_size(objects: ObjectStore) -> None:
    key, data = new_key(), secrets.token_bytes(LARGE)
    await objects.put(key, data, "image/webp")
    assert await content(objects, key) == data
    assert await objects.size(key) == LARGE


async def test_a_file_is_stored_unchanged(objects: ObjectStore, tmp_path: Path) -> None:
    key, data = new_key(), secrets.token_bytes(LARGE)
    (tmp_path / "source").write_bytes(data)
    await objects.put(key, tmp_path / "source", "video/mp4")
    assert await content(objects, key) == data
    assert (tmp_path / "source").read_bytes() == data


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (5, 5), (7, LARGE), (CHUNK_BYTES - 1, CHUNK_BYTES + 1), (LARGE - 1, LARGE)]
)
async def test_any_part_of_an_object_can_be_read(objects: ObjectStore, start: int, end: int) -> None:
    key, data = new_key(), secrets.token_bytes(LARGE)
    await objects.put(key, data, "image/webp")
    assert await content(objects, key, start, end) == data[start:end]


async def test_an_empty_object_can_be_stored(objects: ObjectStore) -> None:
    key = new_key()
    await objects.put(key, b"", "image/webp")
    assert await objects.size(key) == 0
    assert await content(objects, key) == b""


async def test_a_missing_object_is_reported_as_missing(objects: ObjectStore) -> None:
    with pytest.raises(ObjectMissing):
        await objects.size(new_key())
    with pytest.raises(ObjectMissing):
        await content(objects, new_key())
    with pytest.raises(ObjectMissing):
        await content(objects, new_key(), 0, 10)


async def test_a_deleted_object_is_missing_and_deletion_is_idempotent(objects: ObjectStore) -> None:
    key, other = new_key(), new_key()
    await objects.put(key, b"one", "image/webp")
    await objects.put(other, b"two", "image/webp")
    await objects.delete(key)
    await objects.delete(key)
    with pytest.raises(ObjectMissing):
        await objects.size(key)
    assert await content(objects, other) == b"two"


async def test_concurrent_objects_stay_separate(objects: ObjectStore) -> None:
    kept = {new_key(): secrets.token_bytes(1000 + n) for n in range(20)}
    await asyncio.gather(*(objects.put(key, data, "image/webp") for key, data in kept.items()))
    assert await asyncio.gather(*(content(objects, key) for key in kept)) == list(kept.values())


# Tests for folders.


@pytest.mark.parametrize("key", ["../outside", "uploads/../../outside", "/etc/passwd", "uploads/", "a/b/c"])
async def test_no_key_refers_to_a_file_outside_the_folder(tmp_path: Path, key: str) -> None:
    store = FileObjects(tmp_path / "store")
    with pytest.raises(StoreFailed, match="is not a key"):
        await store.put(key, b"data", "image/webp")
    with pytest.raises(StoreFailed, match="is not a key"):
        await content(store, key)
    assert not (tmp_path / "outside").exists()


async def test_a_failed_put_leaves_nothing_behind(tmp_path: Path) -> None:
    store = FileObjects(tmp_path)
    with pytest.raises(StoreFailed):
        await store.put("uploads/one.webp", tmp_path / "no such file", "image/webp")
    assert list((tmp_path / "uploads").iterdir()) == []


async def test_a_full_disk_is_reported_as_a_store_error() -> None:
    store = FileObjects(Path("/dev/null"))
    with pytest.raises(StoreFailed):
        await store.put("uploads/one.webp", b"data", "image/webp")


async def test_some_disk_space_is_reserved_for_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileObjects(tmp_path)
    monkeypatch.setattr(object_store_module, "MIN_FREE_BYTES", shutil.disk_usage(tmp_path).total + 1)
    with pytest.raises(StoreFailed, match="almost full"):
        await store.put("uploads/one.webp", b"data", "image/webp")
    assert list((tmp_path / "uploads").iterdir()) == []


async def test_leftovers_of_an_interrupted_put_are_deleted_after_a_day(tmp_path: Path) -> None:
    store = FileObjects(tmp_path)
    await store.put("uploads/one.webp", b"data", "image/webp")
    old, new = tmp_path / "uploads/.partial-old", tmp_path / "uploads/.partial-new"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    await store.tidy_up()
    assert {path.name for path in (tmp_path / "uploads").iterdir()} == {"one.webp", new.name}


# Tests for buckets.


@pytest.mark.parametrize("kind", [RCLONE, MOTO])
async def test_a_large_object_is_uploaded_in_parts(stores: Stores, tmp_path: Path, kind: str) -> None:
    store, key, data = stores.store(kind, tmp_path), new_key(), secrets.token_bytes(20 * 1024 * 1024)
    (tmp_path / "source").write_bytes(data)
    await store.put(key, tmp_path / "source", "video/mp4")
    assert await store.size(key) == len(data)
    assert await content(store, key) == data


async def test_rejected_credentials_raise_a_store_error_that_contains_no_secret(stores: Stores) -> None:
    store = S3Objects(stores.address(RCLONE, secret="not the one that was agreed on"))
    with pytest.raises(StoreFailed) as refused:
        await store.put(new_key(), b"data", "image/webp")
    assert "agreed on" not in str(refused.value)


async def test_an_unreachable_store_raises_a_store_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(object_store_s3, "_RETRY_S", 1)
    store = S3Objects(S3Address("media", "http://127.0.0.1:9", "", "me", "hush", force_path_style=True))
    with pytest.raises(StoreFailed):
        await store.size(new_key())
    with pytest.raises(StoreFailed):
        await store.delete(new_key())


def test_a_missing_library_is_reported_with_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(ConfigError, match=f"{sys.executable} -m pip install obstore"):
        S3Objects(S3Address("media"))


def test_the_bucket_is_part_of_the_host_name_unless_path_style_is_configured() -> None:
    for style, expected in ((True, "https://s3.test:9000"), (False, "https://media.s3.test:9000")):
        address = S3Address("media", "https://s3.test:9000", force_path_style=style)
        assert S3Objects(address)._store.config["endpoint"] == expected


@pytest.mark.parametrize(
    ("variables", "because"),
    [
        ({"STORAGE_BACKEND": "filesystem"}, ""),
        ({}, "STORAGE_BACKEND is s3 and S3_BUCKET is not set"),
        ({"S3_BUCKET": "media"}, ""),
        ({"S3_BUCKET": "media", "DISABLE_S3": "true"}, "DISABLE_S3 is set"),
        ({"STORAGE_BACKEND": "filesystem", "DISABLE_S3": "1"}, "DISABLE_S3 is set"),
    ],
)
def test_the_reason_why_nothing_can_be_stored_is_reported(variables: dict[str, str], because: str) -> None:
    assert read(variables).unusable_because == because


async def test_a_folder_store_uses_the_configured_folder(tmp_path: Path) -> None:
    for variables, folder in (({"S3_BUCKET": "pictures"}, "pictures"), ({}, DEFAULT_FOLDER)):
        store = read({"STORAGE_BACKEND": "filesystem", **variables}).open_store(tmp_path)
        await store.put("uploads/one.webp", b"data", "image/webp")
        assert (tmp_path / folder / "uploads/one.webp").read_bytes() == b"data"
