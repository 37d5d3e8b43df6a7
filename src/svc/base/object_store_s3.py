"""Stores media in an S3 bucket with obstore, an optional library (the extra `s3`).

Creates no bucket. Reads in pieces, each in a separate request, so that a slow reader occupies neither a
connection to the store nor memory for more than one piece. Deletes one key at a time, because not every store
supports bulk deletion. See docs/configuration.md, "Chat server".
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from svc.base.config_parsing import ConfigError, install_command
from svc.base.object_store import ObjectDamaged, ObjectMissing, StoreFailed, require_free

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

DEFAULT_REGION = "us-east-1"
# The size of one read request, which takes about 10 ms with a nearby store. Few images are larger.
PIECE_BYTES = 1024 * 1024
# The size of an uploaded part, which must be at least 5 MiB. With two parts sent at a time, 16 MiB of a large
# video are in memory.
_PART_BYTES = 8 * 1024 * 1024
_PARTS_AT_ONCE = 2
_CONNECT_S = 5
# The timeout for one request, whose body is at most one part.
_REQUEST_S = 30
_RETRY_S = 20
# The timeout for storing an object, including retries.
PUT_DEADLINE_S = 600.0
_DEADLINE_S = 60.0
# The maximum number of readers if the store does not support ranges, because the whole object is then copied
# to our disk for each reader.
_COPIES_AT_ONCE = 8
# The library's error message for a store without ranges.
_NO_PARTS = "non-partial response"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class S3Address:
    """The bucket's name, endpoint and region, and the access key. Without a key, requests are not signed."""

    bucket: str
    endpoint: str = ""
    region: str = ""
    access_key_id: str = ""
    secret_access_key: str = field(default="", repr=False)
    force_path_style: bool = False


class S3Objects:
    """Objects in a bucket. Raises ConfigError if obstore is not installed or rejects the bucket's
    settings.
    """

    def __init__(self, address: S3Address) -> None:
        self._store = _open(address)
        self._gives_parts = True

    @property
    def readers_at_once(self) -> int:
        # The number is limited because each reader keeps a piece in memory.
        return 256 if self._gives_parts else _COPIES_AT_ONCE

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        async with _s3_errors(key, PUT_DEADLINE_S):
            await self._store.put_async(
                key,
                source,
                attributes={"Content-Type": content_type},
                chunk_size=_PART_BYTES,
                max_concurrency=_PARTS_AT_ONCE,
            )

    async def size(self, key: str) -> int:
        async with _s3_errors(key):
            return int((await self._store.head_async(key))["size"])

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        if end is None:
            end = await self.size(key)
        while start < end:
            upto = min(start + PIECE_BYTES, end)
            piece = await self._piece(key, start, upto) if self._gives_parts else None
            if piece is None:
                break
            if len(piece) < upto - start:
                raise ObjectDamaged(key, upto)
            yield piece
            start = upto
        else:
            return
        async with aclosing(self._by_way_of_a_file(key, start, end)) as pieces:
            async for piece in pieces:
                yield piece

    async def _piece(self, key: str, start: int, end: int) -> bytes | None:
        """Return a piece, or None if the store (such as `rclone serve s3`) responds to a range with a status
        other than 206.
        """
        try:
            async with _s3_errors(key):
                return bytes(await self._store.get_range_async(key, start=start, end=end))
        except StoreFailed as fault:
            if _NO_PARTS not in str(fault):
                raise
            logger.warning("the object store does not support ranges")
            self._gives_parts = False
            return None

    async def _by_way_of_a_file(self, key: str, start: int, end: int) -> AsyncGenerator[bytes, None]:
        """Copy the whole object to a file as fast as the store sends it, then yield the range as fast as the
        reader can read it.
        """
        with TemporaryFile() as file:
            async with _s3_errors(key, PUT_DEADLINE_S):
                whole = await self._store.get_async(key)
                require_free(Path(gettempdir()), whole.meta["size"])
                async for chunk in whole.stream(min_chunk_size=PIECE_BYTES):
                    await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(file.seek, start)
            while start < end and (
                piece := await asyncio.to_thread(file.read, min(PIECE_BYTES, end - start))
            ):
                yield piece
                start += len(piece)
        if start < end:
            raise ObjectDamaged(key, end)

    async def delete(self, key: str) -> None:
        with suppress(ObjectMissing):
            async with _s3_errors(key):
                await self._store.delete_async(key)

    async def tidy_up(self) -> None:
        """Ignore incomplete uploads, which the bucket's own lifecycle rules remove."""


def _open(address: S3Address) -> "S3Store":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError:
        raise ConfigError(f"STORAGE_BACKEND=s3 needs a library: {install_command('obstore')}") from None
    where: S3Config = {"endpoint": _endpoint(address)} if address.endpoint else {}
    key: S3Config = {"skip_signature": True}
    if address.access_key_id:
        key = {"access_key_id": address.access_key_id, "secret_access_key": address.secret_access_key}
    try:
        return S3Store(
            address.bucket,
            region=address.region or DEFAULT_REGION,
            virtual_hosted_style_request=not address.force_path_style,
            client_options={
                "allow_http": address.endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=_CONNECT_S),
                "timeout": timedelta(seconds=_REQUEST_S),
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=_RETRY_S)},
            config={"disable_bulk_delete": True, **where, **key},
        )
    except (BaseError, ValueError) as fault:
        raise ConfigError(f"S3_ENDPOINT and S3_BUCKET cannot be used: {_plain(fault)}") from None


def _endpoint(address: S3Address) -> str:
    """Return the endpoint. In virtual-hosted style, the library expects the bucket in the host name."""
    if address.force_path_style:
        return address.endpoint
    parts = urlsplit(address.endpoint)
    return parts._replace(netloc=f"{address.bucket}.{parts.netloc}").geturl()


@asynccontextmanager
async def _s3_errors(key: str, seconds: float = _DEADLINE_S) -> AsyncIterator[None]:
    """Set a time limit for a request and translate the library's errors into ours."""
    from obstore.exceptions import BaseError

    try:
        async with asyncio.timeout(seconds):
            yield
    except FileNotFoundError:
        raise ObjectMissing(key) from None
    except TimeoutError:
        raise StoreFailed("the object store did not answer in time") from None
    except (BaseError, OSError, ValueError) as fault:
        raise StoreFailed(_plain(fault)) from None


def _plain(fault: BaseException) -> str:
    """Return the first line of an error message. The rest is for the library's authors."""
    return str(fault).strip().splitlines()[0][:300] if str(fault).strip() else type(fault).__name__
