"""Creates custom emoji from uploads, renames them and deletes them. Contains no HTTP code.

Messages and reactions refer to an emoji by `:name:`. After the emoji is renamed or deleted, clients show the
old name as text.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.emoji.responses import MAX_EMOJI, MAX_NAME_CHARACTERS, Emoji, EmojiDeleted
from svc.chat.errors import ChatError
from svc.chat.live.hub import EVERYONE
from svc.chat.media.stored_media import EMOJI, Media
from svc.chat.services import Services
from svc.chat.uploads.queue import UploadPurpose
from svc.chat.uploads.upload import Upload


@dataclass(frozen=True, slots=True)
class StoredEmoji:
    """A stored custom emoji. Clients show it in place of `:name:`."""

    id: str
    name: str
    key: str
    animated: bool
    created_by: str | None
    created_at_ms: int


_EMOJI = Table("emoji", StoredEmoji)


# The names accepted for custom emoji and in reactions.
_NAME = re.compile(f"[a-z0-9_]{{2,{MAX_NAME_CHARACTERS}}}")


class Emojis:
    def __init__(self, services: Services, media: Media) -> None:
        self._database, self._hub, self._audit = services.database, services.hub, services.audit
        self._directory = services.directory
        self._media = media
        self._emoji: dict[str, StoredEmoji] = {}

    async def load(self) -> None:
        self._emoji = {emoji.id: emoji for emoji in await _EMOJI.all(self._database, "ORDER BY name")}

    def welcome(self, session: Session) -> dict[str, object]:
        return {"emoji": self.all()}

    def all(self) -> list[Emoji]:
        by_name = sorted(self._emoji.values(), key=lambda emoji: emoji.name)
        return [self._to_response(emoji) for emoji in by_name]

    def free_name(self, name: str) -> str:
        """Check that a new emoji can have this name, and return the name. Raises ChatError."""
        checked = check_name(name)
        if any(emoji.name == checked for emoji in self._emoji.values()):
            raise ChatError("emoji_name_taken")
        if len(self._emoji) >= MAX_EMOJI:
            raise ChatError("too_many", f"A server has at most {MAX_EMOJI} emoji")
        return checked

    def use(self) -> UploadPurpose:
        """Return the steps that turn a finished upload into an emoji."""

        def use(connection: Connection, upload: Upload, result: Mapping[str, object]) -> object:
            # An upload may take a day. By then, the member may have lost the permission or be in timeout.
            self._directory.require_no_timeout(upload.member_id)
            if Permission.MANAGE_EMOJI not in self._directory.granted_by_roles(upload.member_id):
                raise ChatError("forbidden")
            if _EMOJI.count(connection) >= MAX_EMOJI:
                raise ChatError("too_many", f"A server has at most {MAX_EMOJI} emoji")
            self._require_free(connection, upload.target)
            frames = result.get("frames")
            emoji = StoredEmoji(
                id=upload.id,
                name=upload.target,
                key=str(result["key"]),
                animated=isinstance(frames, int) and frames > 1,
                created_by=upload.member_id,
                created_at_ms=upload.created_at_ms,
            )
            _EMOJI.insert(connection, emoji)
            self._media.refer(connection, emoji.key, EMOJI, emoji.id)
            self._record(connection, upload.member_id, "emoji_create", emoji, upload.created_at_ms / 1000)
            return emoji

        def used(emoji: object) -> None:
            assert isinstance(emoji, StoredEmoji), "`use` returns emoji"
            self._emoji[emoji.id] = emoji
            self._hub.push("emoji_created", self._to_response(emoji), EVERYONE)

        return UploadPurpose(use, used)

    @shared_write
    def rename(self, actor_id: str, emoji_id: str, name: str, now: float) -> Write[StoredEmoji, Emoji]:
        """Rename an emoji. Raises ChatError if the name is invalid or taken, or the emoji does not exist."""
        name = check_name(name)

        def change(connection: Connection) -> StoredEmoji:
            emoji = _existing(connection, emoji_id)
            if emoji.name == name:
                return emoji
            self._require_free(connection, name)
            _EMOJI.edit(connection, {"name": name}, id=emoji_id)
            renamed = dataclasses.replace(emoji, name=name)
            self._record(connection, actor_id, "emoji_rename", renamed, now)
            return renamed

        def changed(emoji: StoredEmoji) -> Emoji:
            self._emoji[emoji.id] = emoji
            shown = self._to_response(emoji)
            self._hub.push("emoji_updated", shown, EVERYONE)
            return shown

        return Write(change, changed)

    @shared_write
    def delete(self, actor_id: str, emoji_id: str, now: float) -> Write[None, None]:
        """Delete an emoji. Raises ChatError if it does not exist."""

        def remove(connection: Connection) -> None:
            emoji = _existing(connection, emoji_id)
            _EMOJI.delete(connection, id=emoji_id)
            self._media.release(connection, EMOJI, emoji_id)
            self._record(connection, actor_id, "emoji_delete", emoji, now)

        def removed(_: None) -> None:
            self._emoji.pop(emoji_id, None)
            self._hub.push("emoji_deleted", EmojiDeleted(emoji_id), EVERYONE)

        return Write(remove, removed)

    def forget_member(self, connection: Connection, member_id: str) -> None:
        """Remove a deleted member's id from their emoji. The emoji remain. Call this within a write
        transaction.
        """
        _EMOJI.edit(connection, {"created_by": None}, created_by=member_id)

    def _to_response(self, emoji: StoredEmoji) -> Emoji:
        url = self._media.url(emoji.key)
        return Emoji(emoji.id, emoji.name, url, emoji.animated, emoji.created_by, emoji.created_at_ms)

    def _require_free(self, connection: Connection, name: str) -> None:
        if _EMOJI.has(connection, name=name):
            raise ChatError("emoji_name_taken")

    def _record(
        self, connection: Connection, actor_id: str, action: str, emoji: StoredEmoji, now: float
    ) -> None:
        self._audit.record(connection, actor_id, action, emoji.id, {"name": emoji.name}, now)


def check_name(name: str) -> str:
    """Check a name. Raises ChatError if it cannot appear between colons."""
    if not _NAME.fullmatch(name):
        raise ChatError("invalid_emoji_name")
    return name


def _existing(connection: Connection, emoji_id: str) -> StoredEmoji:
    emoji = _EMOJI.get(connection, id=emoji_id)
    if emoji is None:
        raise ChatError("unknown_emoji")
    return emoji
