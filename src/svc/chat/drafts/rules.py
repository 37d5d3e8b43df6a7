"""Manages drafts: a member's unsent text and files in a channel.

The server stores drafts, so all of the member's clients show them, and the cleanup does not delete their
files. Nobody else can see a draft. Contains no HTTP code.
"""

from svc.base.database import Connection, Write
from svc.base.tables import JSON, Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.drafts.responses import Draft, DraftDeleted
from svc.chat.live.hub import only
from svc.chat.media.stored_media import DRAFT, Media
from svc.chat.services import Services
from svc.chat.uploads.rules import Uploads

_DRAFTS = Table("drafts", Draft, attachments=JSON)


class Drafts:
    def __init__(self, services: Services, media: Media, uploads: Uploads) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._media = media
        self._uploads = uploads

    async def of(self, member_id: str) -> list[Draft]:
        """Return a member's drafts in the channels that they can view."""
        visible = {channel.id for channel in self._directory.visible_channels(member_id)}
        drafts = await _DRAFTS.all(self._database, "WHERE member_id = ? ORDER BY channel_id", member_id)
        return [draft for draft in drafts if draft.channel_id in visible]

    @shared_write
    def put(self, member_id: str, draft: Draft) -> Write[None, None]:
        """Replace the member's draft in a channel. Raises ChatError."""
        self._directory.channel(member_id, draft.channel_id)

        def write(connection: Connection) -> None:
            self._drop(connection, member_id, draft.channel_id)
            _DRAFTS.put(connection, draft, member_id=member_id)
            for key in self._uploads.attachable_keys(connection, member_id, draft.attachments):
                self._media.refer(connection, key, DRAFT, _owner(member_id, draft.channel_id))

        return Write(write, lambda _: self._hub.push("draft_changed", draft, only(member_id)))

    @shared_write
    def delete(self, member_id: str, channel_id: str) -> Write[bool, None]:
        """Delete the member's draft in a channel. Idempotent. Raises ChatError."""
        self._directory.channel(member_id, channel_id)

        def dropped(deleted: bool) -> None:
            if deleted:
                self._hub.push("draft_deleted", DraftDeleted(channel_id), only(member_id))

        return Write(lambda connection: self._drop(connection, member_id, channel_id), dropped)

    # These methods are steps of write transactions that delete a channel or a member.

    def forget_channel(self, connection: Connection, channel_id: str) -> None:
        for member_id in _DRAFTS.column(connection, "member_id", channel_id=channel_id):
            self._drop(connection, member_id, channel_id)

    def forget_member(self, connection: Connection, member_id: str) -> None:
        for channel_id in _DRAFTS.column(connection, "channel_id", member_id=member_id):
            self._drop(connection, member_id, channel_id)

    def _drop(self, connection: Connection, member_id: str, channel_id: str) -> bool:
        self._media.release(connection, DRAFT, _owner(member_id, channel_id))
        return _DRAFTS.delete(connection, member_id=member_id, channel_id=channel_id)


def _owner(member_id: str, channel_id: str) -> str:
    return f"{member_id}/{channel_id}"
