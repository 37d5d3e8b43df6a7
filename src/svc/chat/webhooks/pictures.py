"""Fetches and stores the images and files in posts, and the avatars of webhooks.

Images are decoded and re-encoded in the sandbox. Other files are stored unchanged. All images in a message
share one deadline and one budget, and those that arrive are used even if others fail. An image that cannot be
fetched triggers a warning, not an error. `outbound_http` checks addresses, and nothing is decoded in this
process. See docs/webhooks.md and docs/webhooks-compatible.md.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from svc.base.database import StorageFailed
from svc.base.fair_shares import FairQueue, FairShares
from svc.base.file_types import FILE, PICTURE, PLAIN_TYPE, content_of
from svc.base.job_commands import WrittenFile
from svc.base.object_store import ObjectMissing, StoreFailed
from svc.base.pictures import ATTACHED_PICTURE, Picture, PictureRules, Refused, SandboxFailed, rewritten
from svc.base.sandbox import Sandbox
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import Media, ObjectInfo, facts_of
from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.fetcher import Fetcher
from svc.chat.uploads.upload import result_of
from svc.chat.webhooks.json_reader import PayloadWarning
from svc.chat.webhooks.payload import WantedPicture

DOWNLOAD_DEADLINE_S = 12.0
# The timeout for decoding and storing, after the downloads. Many senders wait no longer than half a minute
# for the response.
STORE_DEADLINE_S = 12.0
# The timeout for decoding one image. The largest accepted images need a few seconds on a small machine.
DECODE_DEADLINE_S = 10.0
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
# The maximum number of bytes in memory that are waiting to be stored, enough for four of the largest
# messages.
MAX_HELD_BYTES = 4 * MAX_MESSAGE_BYTES
# The maximum number of simultaneous downloads per message, so that a message with forty images does not delay
# others.
DOWNLOADS_AT_ONCE = 6
DECODES_AT_ONCE = 2
# The maximum number of images decoded at the same time, for all messages. One holder can use two of these
# slots, which leaves one for others.
DECODING_PLACES = 3
# The maximum number of files in a message, as on Discord.
MAX_FILES = 10

CARD_PICTURE = PictureRules()
AVATAR = PictureRules(max_side=256, animated=False)
# The timeouts for an uploaded avatar: for getting a decoding slot, and for decoding.
_AVATAR_WAIT_S, _AVATAR_DEADLINE_S = 12.0, 12.0

TOO_MUCH = "The pictures of a message have at most 32 MB together"
BUSY = "The server is processing too many pictures of other messages"
STORE_FAILED = "The server could not store it"
TOO_MANY_FILES = f"A message has at most {MAX_FILES} files"
VIDEO_FILE = "A post cannot contain videos"
FILE_KIND = "This server does not accept files of this kind"
QUOTA = "The webhooks of one member keep at most 4 GiB of pictures and files. Delete some of their messages"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredPictures:
    """The stored images, keyed by path, and warnings about all others."""

    pictures: Mapping[str, Mapping[str, object]]
    warnings: Sequence[PayloadWarning]


@dataclass(frozen=True, slots=True)
class PostedFile:
    """A file that was sent with a post."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class StoredAttachments:
    """A message's attachments in their stored form. `left_out` contains the indexes of omitted files."""

    attachments: Sequence[Mapping[str, object]] = ()
    left_out: Sequence[int] = ()
    warnings: Sequence[PayloadWarning] = ()


class Pictures:
    """The service that fetches and stores images. `outcomes` counts the results: `ok` or a warning's code."""

    def __init__(
        self, fetcher: Fetcher, sandbox: Sandbox, media: Media, outcomes: Counter[tuple[str, ...]]
    ) -> None:
        self.fetcher = fetcher
        self.sandbox = sandbox
        self.media = media
        self.memory = FairShares(MAX_HELD_BYTES)
        self.decoding = FairQueue(DECODING_PLACES)
        self._outcomes = outcomes

    def counting(self, outcomes: Counter[tuple[str, ...]]) -> "Pictures":
        """Return a copy that shares the resources but counts its results separately."""
        others = copy(self)
        others._outcomes = outcomes
        return others

    async def keep(self, data: bytes, holder: str) -> str:
        """Store an uploaded avatar for a webhook and return its key. The avatar counts against the holder's
        quota.

        Raises ChatError. See docs/http.md, "Webhooks".
        """
        if not self.media.enabled:
            raise ChatError("uploads_disabled")
        try:
            async with asyncio.timeout(_AVATAR_WAIT_S + _AVATAR_DEADLINE_S), self.decoding.turn(holder):
                picture = await rewritten(data, AVATAR, deadline_s=_AVATAR_DEADLINE_S, sandbox=self.sandbox)
            return await self.media.keep(picture.data, picture.ext, facts_of(picture), holder)
        except Refused as fault:
            raise ChatError(_code(fault), str(fault)) from None
        except TimeoutError:
            raise ChatError(
                "too_slow", "The server is processing too many pictures. Try again later"
            ) from None
        except (SandboxFailed, StoreFailed) as fault:
            raise ChatError("storage_unavailable", "The picture cannot be stored right now") from fault

    async def collect(
        self, wanted: Sequence[WantedPicture], holder: str = "", at_hand: Mapping[str, bytes] | None = None
    ) -> StoredPictures:
        """Fetch and store the requested images. Failures of images and hosts become warnings.

        All posts by one `holder` share the holder's portion of the resources. `at_hand` contains files that
        have already been fetched, by URL.
        """
        by_url: dict[str, list[WantedPicture]] = {}
        for ref in wanted:
            by_url.setdefault(ref.url, []).append(ref)
        message = _Message(self, holder, at_hand or {})
        async with asyncio.TaskGroup() as group:
            for url, refs in by_url.items():
                group.create_task(message.have(url, refs))
        for ref in wanted:
            warning = message.warnings.get(ref.path)
            self._outcomes[warning.code if warning else "ok",] += 1
        warnings = [message.warnings[ref.path] for ref in wanted if ref.path in message.warnings]
        return StoredPictures(message.pictures, warnings)

    async def attach(
        self,
        files: Sequence[PostedFile],
        holder: str,
        new_id: Callable[[], str],
        max_bytes: Callable[[str], int],
    ) -> StoredAttachments:
        """Store the files in a post, except those that cannot be stored. File names must already be safe to
        show.

        `max_bytes` returns the maximum size of an unprocessed file with a given name, or 0 if such files are
        rejected.
        """
        message = _Message(self, holder, {}, downloads_s=0.0)
        attachments: list[Mapping[str, object]] = []
        left_out: dict[int, PayloadWarning] = {}
        for index, file in enumerate(files):
            try:
                if index >= MAX_FILES:
                    raise FetchError("media_budget", TOO_MANY_FILES)
                written = await message.keep(file, max_bytes(file.name))
            except FetchError as fault:
                left_out[index] = PayloadWarning(f"files[{index}]", fault.code, fault.message)
            else:
                attachments.append({**result_of(new_id(), file.name, written), "alt": ""})
        return StoredAttachments(attachments, [*left_out], [*left_out.values()])


class _Message:
    """The state shared by all images in one message."""

    def __init__(
        self,
        means: Pictures,
        holder: str,
        at_hand: Mapping[str, bytes],
        downloads_s: float = DOWNLOAD_DEADLINE_S,
    ) -> None:
        began = asyncio.get_running_loop().time()
        self._means = means
        self._holder = holder
        self._at_hand = at_hand
        self._downloads_end = began + downloads_s
        self._storing_ends = self._downloads_end + STORE_DEADLINE_S
        self._left_bytes = MAX_MESSAGE_BYTES
        self._downloads = asyncio.Semaphore(DOWNLOADS_AT_ONCE)
        self._decodes = asyncio.Semaphore(DECODES_AT_ONCE)
        self.pictures: dict[str, Mapping[str, object]] = {}
        self.warnings: dict[str, PayloadWarning] = {}

    async def have(self, url: str, refs: Sequence[WantedPicture]) -> None:
        try:
            data = await self._download(url, max(ref.max_bytes for ref in refs))
        except FetchError as fault:
            self._warn(refs, fault)
            return
        try:
            for avatar in (False, True):
                await self._show([ref for ref in refs if ref.avatar is avatar], data)
        finally:
            self._means.memory.give_back(self._holder, len(data))

    async def keep(self, file: PostedFile, maximum: int) -> list[WrittenFile]:
        """Store a re-encoded image, or any other file unchanged. Raises FetchError."""
        if not self._means.media.enabled:
            raise FetchError("store_failed", "This server does not store files")
        data, kind = file.data, content_of(file.data)
        if not data:
            raise FetchError("unsupported_type", "The file is empty")
        if kind == PICTURE:
            return await self._keep_picture(await self._rewritten(data, ATTACHED_PICTURE))
        if kind != FILE or not maximum:
            raise FetchError("unsupported_type", FILE_KIND if kind == FILE else VIDEO_FILE)
        if len(data) > maximum:
            raise FetchError("too_large", f"It is larger than {maximum:,} bytes")
        # The content has not been checked, so use a type that is served only as a download.
        key = await self._store(data, "bin", ObjectInfo(PLAIN_TYPE))
        return [WrittenFile("original", key, PLAIN_TYPE, len(data))]

    async def _keep_picture(self, picture: Picture) -> list[WrittenFile]:
        facts = facts_of(picture)
        key = await self._store(picture.data, picture.ext, facts)
        size = picture.width, picture.height
        written = [
            WrittenFile(
                "original",
                key,
                picture.content_type,
                len(picture.data),
                *size,
                frames=picture.frames,
                duration_ms=facts.duration_ms,
                placeholder=picture.placeholder,
                colour=picture.colour,
            )
        ]
        small = picture.thumbnail
        if small is not None and picture.thumbnail_width < picture.width:
            size = picture.thumbnail_width, picture.thumbnail_height
            key = await self._store(small, picture.ext, ObjectInfo(picture.content_type, 0, *size))
            written.append(WrittenFile("thumbnail", key, picture.content_type, len(small), *size))
        return written

    async def _download(self, url: str, max_bytes: int) -> bytes:
        """Download a file, and count its data toward MAX_HELD_BYTES. Raises FetchError."""
        if not self._means.media.enabled:
            raise FetchError("store_failed", "This server does not store pictures")
        held = 0

        def count(size: int) -> None:
            nonlocal held
            # Only complete downloads reduce the message's budget, so that unfinished ones do not block this
            # image.
            if held + size > self._left_bytes:
                raise FetchError("media_budget", TOO_MUCH)
            if not self._means.memory.take(self._holder, size):
                raise FetchError("timeout", BUSY)
            held += size

        try:
            if data := self._at_hand.get(url, b""):
                count(len(data))
            else:
                async with self._downloads:
                    data = await self._means.fetcher.fetch(
                        url,
                        max_bytes=max_bytes,
                        deadline=self._downloads_end,
                        count=count,
                        holder=self._holder,
                    )
            if held > self._left_bytes:
                raise FetchError("media_budget", TOO_MUCH)
            self._left_bytes -= held
        except BaseException:
            self._means.memory.give_back(self._holder, held)
            raise
        return data

    async def _show(self, refs: Sequence[WantedPicture], data: bytes) -> None:
        """Decode and store an image for all places in the message that refer to it."""
        fitting = [ref for ref in refs if len(data) <= ref.max_bytes]
        for ref in refs:
            if ref not in fitting:
                self._warn([ref], FetchError("too_large", f"It is larger than {ref.max_bytes:,} bytes"))
        if not fitting:
            return
        try:
            picture = await self._rewritten(data, AVATAR if fitting[0].avatar else CARD_PICTURE)
            shown = await self._store_picture(picture)
        except FetchError as fault:
            self._warn(fitting, fault)
        else:
            self.pictures.update({ref.path: shown for ref in fitting})

    async def _rewritten(self, data: bytes, rules: PictureRules) -> Picture:
        try:
            async with (
                asyncio.timeout_at(self._storing_ends),
                self._decodes,
                self._means.decoding.turn(self._holder),
            ):
                return await rewritten(data, rules, deadline_s=DECODE_DEADLINE_S, sandbox=self._means.sandbox)
        except Refused as fault:
            raise FetchError(_code(fault), str(fault)) from None
        except TimeoutError:
            raise FetchError("timeout", BUSY) from None
        except (SandboxFailed, OSError) as fault:
            logger.warning("pictures cannot be decoded", extra={"fault": str(fault)})
            raise FetchError("store_failed", STORE_FAILED) from None

    async def _store_picture(self, picture: Picture) -> dict[str, object]:
        return {
            "key": await self._store(picture.data, picture.ext, facts_of(picture)),
            "content_type": picture.content_type,
            "width": picture.width,
            "height": picture.height,
            "placeholder": picture.placeholder,
        }

    async def _store(self, data: bytes, ext: str, facts: ObjectInfo) -> str:
        """Store data and return its key. Raises FetchError."""
        try:
            async with asyncio.timeout_at(self._storing_ends):
                return await self._means.media.keep(data, ext, facts, self._holder)
        except ChatError as refusal:
            why = QUOTA if refusal.code == "quota_exceeded" else STORE_FAILED
            raise FetchError("store_failed", why) from None
        except (StoreFailed, ObjectMissing, StorageFailed, TimeoutError) as fault:
            logger.warning(
                "a file of a post could not be stored", extra={"fault": str(fault) or type(fault).__name__}
            )
            raise FetchError("store_failed", STORE_FAILED) from None

    def _warn(self, refs: Sequence[WantedPicture], why: FetchError) -> None:
        for ref in refs:
            self.warnings[ref.path] = PayloadWarning(ref.path, why.code, why.message)


def _code(fault: Refused) -> str:
    """Return the warning code for a rejected image. An image with too many pixels or frames, or one that
    takes too long to decode, is invalid rather than too large, because its file size is acceptable.
    """
    return "unsupported_type" if fault.code == "unsupported_type" else "invalid_image"
