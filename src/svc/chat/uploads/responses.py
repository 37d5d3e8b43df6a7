"""Response types for uploads and stored files, and event types for uploads."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from svc.base.file_types import with_kind
from svc.chat.access.media_urls import MediaUrls
from svc.chat.schemas import Id, Natural, Response, TimeMs
from svc.chat.uploads import upload as uploads
from svc.chat.uploads.file_names import MAX_NAME_CHARACTERS
from svc.chat.uploads.upload import (
    ATTACHED_KINDS,
    ATTACHMENT,
    AVATAR,
    DONE,
    EMOJI,
    ICON,
    KINDS,
    MAX_ALT_CHARACTERS,
    RECEIVING,
    REFUSED,
    USED,
    WAITING,
)

Alt = Annotated[str, Meta(max_length=MAX_ALT_CHARACTERS)]
_Kind = Annotated[str, Meta(extra_json_schema={"enum": [*ATTACHED_KINDS]})]
_Purpose = Annotated[str, Meta(extra_json_schema={"enum": [ATTACHMENT, AVATAR, ICON, EMOJI]})]
_State = Annotated[str, Meta(extra_json_schema={"enum": [RECEIVING, WAITING, DONE, REFUSED, USED]})]


class StoredFile(Response):
    key: str
    url: str
    content_type: str
    bytes: Natural
    width: Natural | None
    height: Natural | None


class UploadResult(StoredFile):
    id: Id
    # Longer than names in requests, because a processed file gets the extension of its new format.
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS + 16)]
    kind: _Kind
    frames: Natural | None
    duration_ms: Natural | None
    placeholder: str
    colour: str
    thumbnail: StoredFile | None
    poster: StoredFile | None


class Attachment(UploadResult):
    alt: Alt


class UploadRefusal(Response):
    code: str
    message: str


class Upload(Response):
    id: Id
    purpose: _Purpose
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]
    alt: Alt
    length: Natural
    received: Natural
    state: _State
    result: UploadResult | None
    refusal: UploadRefusal | None
    created_at_ms: TimeMs


class Uploads(Response):
    uploads: Sequence[Upload]


class UploadProgress(Response):
    upload_id: Id
    state: Literal["waiting", "working"]
    progress: Annotated[float, Meta(ge=0, le=1)]


class UploadRefused(Response):
    upload_id: Id
    code: str
    message: str


def upload(of: uploads.Upload, urls: MediaUrls) -> Upload:
    """Return an upload as its member sees it. It has no URLs until it has been processed."""
    return Upload(
        id=of.id,
        purpose=of.purpose,
        name=of.name,
        alt=of.alt,
        length=of.length,
        received=of.received,
        state=of.state,
        result=None if of.result is None else urls.with_urls(with_kind(of.result)),
        refusal=None if of.refusal is None else UploadRefusal(**of.refusal),
        created_at_ms=of.created_at_ms,
    )


def attachments(of: Sequence[object], urls: MediaUrls) -> Sequence[Attachment]:
    """Return a message's attachments with their URLs."""
    shown: Sequence[Attachment] = urls.with_urls([with_kind(attachment) for attachment in of])
    return shown


class IconChanged(Response):
    icon_url: str | None


class JobStatus(Response):
    id: Id
    kind: Annotated[str, Meta(extra_json_schema={"enum": [*KINDS]})]
    attempt: Natural
    state: Literal["waiting", "working", "dead"]
    worker: str
    fault: str
    due_at_ms: TimeMs
    created_at_ms: TimeMs


class AllJobs(Response):
    jobs: Sequence[JobStatus]
