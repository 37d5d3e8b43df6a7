"""Sets and removes the images of members and the server: avatars and the server icon.

This module works on finished uploads, which `rules` receives. It contains neither HTTP nor SQL code.
"""

from collections.abc import Mapping

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.access.directory import Member
from svc.chat.errors import ChatError
from svc.chat.live.hub import EVERYONE
from svc.chat.media.stored_media import MEMBER, Media, ServerIcon
from svc.chat.members.rules import Members
from svc.chat.services import Services
from svc.chat.uploads.queue import UploadPurpose
from svc.chat.uploads.responses import IconChanged
from svc.chat.uploads.upload import Upload


class Avatars:
    def __init__(self, services: Services, members: Members, media: Media) -> None:
        self._database, self._directory = services.database, services.directory
        self._members = members
        self._media = media

    def require_may_set(self, member_id: str) -> None:
        """Raise ChatError if the member is in timeout, because everyone would see the image."""
        self._directory.require_no_timeout(member_id)

    def use(self) -> UploadPurpose:
        def use(connection: Connection, upload: Upload, result: Mapping[str, object]) -> object:
            # The timeout may have begun during the upload.
            self.require_may_set(upload.member_id)
            key = str(result["key"])
            self._set(connection, upload.member_id, key)
            return upload.member_id, key

        def used(outcome: object) -> None:
            match outcome:
                case (str(member_id), str(key)):
                    self._members.apply_changes(member_id, avatar=self._media.urls.link(key))

        return UploadPurpose(use, used)

    @exclusive_write
    def remove(self, member_id: str) -> Write[None, Member]:
        """Remove the member's avatar. Idempotent."""
        return Write(
            lambda connection: self._set(connection, member_id, None),
            lambda _: self._members.apply_changes(member_id, avatar=None),
        )

    def forget(self, connection: Connection, member_id: str) -> None:
        """Release a member's avatar. Call this within the write transaction that deletes their data."""
        self._media.release(connection, MEMBER, member_id)

    def _set(self, connection: Connection, member_id: str, key: str | None) -> None:
        self._members.set_avatar(connection, member_id, key)
        self._media.release(connection, MEMBER, member_id)
        if key is not None:
            self._media.refer(connection, key, MEMBER, member_id)


class Icons:
    def __init__(self, services: Services, icon: ServerIcon) -> None:
        self._database, self._hub, self._audit = services.database, services.hub, services.audit
        self._directory = services.directory
        self._icon = icon

    def use(self) -> UploadPurpose:
        def use(connection: Connection, upload: Upload, result: Mapping[str, object]) -> object:
            # An upload can take a day, and the server may have a different owner by then.
            if not self._directory.is_owner(upload.member_id):
                raise ChatError("forbidden")
            key = str(result["key"])
            self._set(connection, upload.member_id, key, upload.created_at_ms / 1000)
            return key

        return UploadPurpose(use, lambda key: self._changed(str(key)))

    @shared_write
    def remove(self, member_id: str, now: float) -> Write[None, None]:
        return Write(
            lambda connection: self._set(connection, member_id, None, now), lambda _: self._changed(None)
        )

    def _set(self, connection: Connection, actor_id: str, key: str | None, now: float) -> None:
        self._icon.set(connection, key)
        action = "icon_remove" if key is None else "icon_change"
        self._audit.record(connection, actor_id, action, None, {}, now)

    def _changed(self, key: str | None) -> None:
        self._icon.changed(key)
        self._hub.push("icon_changed", IconChanged(self._icon.address()), EVERYONE)
