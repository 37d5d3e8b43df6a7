"""Provides an object store, and a simulated internet with hosts that serve webhook images."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.base.object_store import FileObjects, ObjectStore, StoreFailed
from svc.base.pictures import picture_sandbox
from svc.chat.access.media_urls import MediaUrls
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.media.stored_media import Media
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import Fetcher
from svc.chat.webhooks.limits import MAX_PICTURE_BYTES
from svc.chat.webhooks.payload import WantedPicture
from svc.chat.webhooks.pictures import Pictures, StoredPictures
from tests.kit.name_server import name_server
from tests.kit.pictures import encoded, scene
from tests.kit.private_internet import Host, Pages, hosted, inside, names

PNG = encoded(scene(), "PNG")
HOST = "http://pictures.example"
MEGABYTE = 1024 * 1024


def wanted(
    path: str, url: str = "", *, max_bytes: int = MAX_PICTURE_BYTES, avatar: bool = False
) -> WantedPicture:
    return WantedPicture(path, url or f"{HOST}/{path}", max_bytes, avatar)


def padded(size: int, picture: bytes = PNG) -> bytes:
    """Pad an image to the given file size. Decoders ignore data after the end of an image."""
    return picture + bytes(size - len(picture))


class Failing(FileObjects):
    """A store that fails like a full one."""

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        raise StoreFailed("no space left")


class Scene:
    """A server's image collector, hosts that serve images, and the stored files."""

    def __init__(
        self, pictures: Pictures, host: Host, media: Media, outcomes: Counter[tuple[str, ...]]
    ) -> None:
        self.pictures = pictures
        self.host = host
        self.media = media
        self.outcomes = outcomes

    async def collect(self, *refs: WantedPicture) -> StoredPictures:
        collected = await self.pictures.collect(refs)
        assert self.pictures.memory.taken == 0, "all reserved memory is released"
        assert {ref.path for ref in refs} == {*collected.pictures, *codes(collected)}
        assert not collected.pictures.keys() & codes(collected).keys()
        assert all(warning.message for warning in collected.warnings)
        return collected

    async def stored(self, shown: Mapping[str, object]) -> bytes:
        return b"".join([piece async for piece in self.media.objects.read(str(shown["key"]))])


def codes(collected: StoredPictures) -> dict[str, str]:
    return {warning.path: warning.code for warning in collected.warnings}


@asynccontextmanager
async def scene_of(
    pages: Pages, folder: Path, objects: ObjectStore | None = None, *, storing: bool = True
) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        database = await Database.open(folder / "db", migrations_in(SCHEMA_FOLDER), folder / "backups")
        stack.push_async_callback(database.close)
        sandbox = await stack.enter_async_context(picture_sandbox(2))
        store = objects or FileObjects(folder / "objects")
        media = Media(database, store if storing else None, MediaUrls("secret", lambda: 0.0), lambda: 1e9)
        guard, outcomes = AddressGuard(), Counter[tuple[str, ...]]()
        host = await stack.enter_async_context(hosted(pages))
        private = await stack.enter_async_context(inside())
        known = names(pictures="93.184.216.34", private="127.0.0.1")
        await stack.enter_async_context(name_server(known))
        yield Scene(Pictures(Fetcher(guard), sandbox, media, outcomes), host, media, outcomes)
        assert private.connections == 0
