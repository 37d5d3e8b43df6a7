"""Defines the upload record, and the description and name of a processed file. Stores nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from svc.base.file_types import AUDIO, FILE, PICTURE, VIDEO, kind_of_type
from svc.base.job_commands import WrittenFile
from svc.chat.uploads.file_names import DEFAULT_NAME

ATTACHMENT, AVATAR, ICON, EMOJI = "attachment", "avatar", "icon", "emoji"
RECEIVING, WAITING, DONE, REFUSED, USED = "receiving", "waiting", "done", "refused", "used"
# The kinds of jobs. A file's first bytes distinguish the first three.
KINDS = (PICTURE, VIDEO, FILE, AVATAR, ICON, EMOJI)
# The kinds of finished files that clients can see.
ATTACHED_KINDS = (PICTURE, VIDEO, AUDIO, FILE)
ORIGINAL, THUMBNAIL, POSTER = "original", "thumbnail", "poster"
ROLES = (ORIGINAL, THUMBNAIL, POSTER)


MAX_ALT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class NewUpload:
    """An upload that is about to begin. The meaning of `target` depends on the purpose: for an emoji, it is
    the name.

    `resumable` means that the sender can resume an interrupted upload.
    """

    purpose: str
    length: int
    name: str = ""
    target: str = ""
    alt: str = ""
    resumable: bool = True


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    member_id: str
    purpose: str
    name: str
    target: str
    alt: str
    length: int
    received: int
    # The reserved disk space, including the received bytes.
    reserved: int
    state: str
    # The processed file as messages store it, but without the alt text, which can still change.
    result: Mapping[str, object] | None
    refusal: Mapping[str, str] | None
    created_at_ms: int

    def attachment(self) -> dict[str, object]:
        """Return the attachment as it is stored with a message."""
        assert self.result is not None, "only what is done is attached"
        return {**self.result, "alt": self.alt}


def result_of(file_id: str, name: str, written: Sequence[WrittenFile]) -> dict[str, object]:
    """Return the description of a processed file. Exactly one of the `written` files is the original."""
    by_role: dict[str, WrittenFile] = {file.role: file for file in written}
    original = by_role[ORIGINAL]
    extension = original.key.rpartition(".")[2]
    kind, name = kind_of_type(original.content_type), name or DEFAULT_NAME
    if kind in (PICTURE, VIDEO):
        # Images and videos are re-encoded, so they get the extension of the new format.
        name = f"{PurePosixPath(name).stem or DEFAULT_NAME}.{extension}"
    return {
        "id": file_id,
        "name": name,
        "kind": kind,
        **original.stored(),
        "frames": original.frames,
        "duration_ms": original.duration_ms,
        "placeholder": original.placeholder,
        "colour": original.colour,
        **{role: by_role[role].stored() if role in by_role else None for role in (THUMBNAIL, POSTER)},
    }


def keys_of(result: Mapping[str, object] | None) -> list[str]:
    """Return the keys of all stored objects that belong to a file."""
    result = result or {}
    belonging = [result.get(role) for role in (THUMBNAIL, POSTER)]
    keys = [result.get("key"), *(part.get("key") for part in belonging if isinstance(part, Mapping))]
    return [key for key in keys if isinstance(key, str)]
