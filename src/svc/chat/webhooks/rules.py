"""Stores webhooks and decides who may manage them. Contains no HTTP code.

Anyone with the permission to manage webhooks in a channel may manage all webhooks in that channel. A webhook
without a channel can be managed only by its creator and the owner. Its former channel may have been hidden
from other members, and they must not redirect its posts. To members who cannot manage a webhook, the server
responds as if it did not exist. All webhooks are in memory and change as soon as a transaction is durable, so
a deleted webhook stops working immediately. `publisher` handles the posts. See docs/http.md, "Webhooks" and
docs/security.md, "Secrets".
"""

import dataclasses
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from svc.base.database import Connection, Write
from svc.base.sealing_key import SealingKey
from svc.base.tables import Table
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Channel
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, PermissionHolders, Recipients
from svc.chat.media.stored_media import WEBHOOK, Media
from svc.chat.names import readable_name
from svc.chat.services import Services
from svc.chat.webhooks.limits import MAX_NAME, MAX_WEBHOOKS
from svc.chat.webhooks.responses import WebhookDeleted, WebhookInfo

_MANAGE = Permission.MANAGE_WEBHOOKS
# The secret part of a URL has 256 bits (43 characters).
TOKEN_BYTES = 32
# The key that seals tokens, in DATA_DIR and in backups. If it is lost, existing URLs stop working.
KEY_FILE = "webhook-key"


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    name: str
    channel_id: str | None
    picture: str | None  # The key of a stored object.
    token_fingerprint: bytes
    token_sealed: bytes
    created_by: str | None
    created_at_ms: int


WEBHOOKS = Table("webhooks", Webhook)


def holder_of(member_id: str | None) -> str:
    """Return the name under which all webhooks of one creator share resources. A `member_id` of None means
    the operator.
    """
    return f"webhooks of {member_id or 'the operator'}"


class Webhooks:
    """The server's webhooks.

    `new_token` generates the secret part of a URL. `moderate_text` returns the permitted form of a name or
    raises ChatError.
    """

    def __init__(
        self,
        services: Services,
        media: Media,
        key: SealingKey,
        new_token: Callable[[], str],
        moderate_text: Callable[[str], str] = str,
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._media = media
        self._key = key
        self._new_token = new_token
        self._moderate_text = moderate_text
        self._by_id: dict[str, Webhook] = {}
        # Called with the id of each deleted webhook.
        self.gone: list[Callable[[str], None]] = []

    async def load(self) -> None:
        for webhook in await WEBHOOKS.all(self._database, "ORDER BY id LIMIT ?", MAX_WEBHOOKS):
            self._by_id[webhook.id] = webhook

    # Methods for requests from senders, who have a webhook's URL.

    def find(self, webhook_id: str, token: str) -> Webhook:
        """Return the webhook with the given id and token. Raises ChatError if there is none."""
        webhook = self._by_id.get(webhook_id)
        # Compare fingerprints, which takes the same time for every token.
        shown = self._key.fingerprint(token, webhook_id)
        if webhook is None or not hmac.compare_digest(shown, webhook.token_fingerprint):
            raise ChatError("not_found")
        return webhook

    def current(self, webhook_id: str) -> Webhook:
        if (webhook := self._by_id.get(webhook_id)) is None:
            raise ChatError("not_found")
        return webhook

    # Methods for requests from managers. The actor is None for the operator.

    def manageable(self, actor_id: str | None) -> list[Webhook]:
        """Return the webhooks that the actor may manage, oldest first."""
        self._require_manager(actor_id)
        managed = (webhook for webhook in self._by_id.values() if self._may_manage(actor_id, webhook))
        return sorted(managed, key=lambda webhook: webhook.id)

    def get(self, actor_id: str | None, webhook_id: str) -> Webhook:
        """Return the webhook. Raises ChatError if the actor may not manage it."""
        self._require_manager(actor_id)
        webhook = self._by_id.get(webhook_id)
        if webhook is None or not self._may_manage(actor_id, webhook):
            raise ChatError("unknown_webhook")
        return webhook

    def may_view(self, actor_id: str, channel_id: str) -> bool:
        return self._directory.has_permission(actor_id, Permission.VIEW_CHANNEL, channel_id)

    def to_response(self, webhook: Webhook) -> WebhookInfo:
        """Return a webhook as its managers see it, without its token."""
        return WebhookInfo(
            webhook.id,
            webhook.name,
            webhook.channel_id,
            None if webhook.picture is None else self._media.url(webhook.picture),
            webhook.created_by,
            webhook.created_at_ms,
        )

    def token(self, webhook: Webhook) -> str | None:
        """Return the secret part of a webhook's URL, or None if it was sealed with another key."""
        return self._key.open(webhook.token_sealed, webhook.id)

    @exclusive_write
    def create(
        self, actor_id: str | None, name: str, channel_id: str | None, now: float
    ) -> Write[None, Webhook]:
        self._require_may_use(actor_id, channel_id)
        webhook_id, token = self._new_id(), self._new_token()
        webhook = Webhook(
            id=webhook_id,
            name=self._readable(name),
            channel_id=channel_id,
            picture=None,
            token_fingerprint=self._key.fingerprint(token, webhook_id),
            token_sealed=self._key.seal(token, webhook_id),
            created_by=actor_id,
            created_at_ms=int(now * 1000),
        )

        def write(connection: Connection) -> None:
            if WEBHOOKS.count(connection) >= MAX_WEBHOOKS:
                raise ChatError("too_many")
            WEBHOOKS.insert(connection, webhook)
            self._record(connection, actor_id, "webhook_create", webhook, {"name": webhook.name}, now)

        return Write(write, lambda _: self._on_created(webhook))

    @exclusive_write
    def edit(
        self, actor_id: str | None, webhook_id: str, differences: Mapping[str, str | None], now: float
    ) -> Write[None, Webhook]:
        """Change a webhook's `name` or `channel_id`. A `channel_id` of None removes the channel."""
        before = self.get(actor_id, webhook_id)
        changed = dict(differences)
        if isinstance(name := changed.get("name"), str):
            changed["name"] = self._readable(name)
        if "channel_id" in changed:
            self._require_may_use(actor_id, changed["channel_id"])
        after = dataclasses.replace(before, **changed)  # type: ignore[arg-type]
        if not self._may_manage(actor_id, after):
            raise ChatError("forbidden", "Only its creator and the owner can remove its channel")

        def write(connection: Connection) -> None:
            WEBHOOKS.edit(connection, changed, id=webhook_id)
            # The audit entry omits the old channel, because the entry's readers may not be allowed to see it.
            details = {"name": after.name, "changed": sorted(changed)}
            self._record(connection, actor_id, "webhook_edit", after, details, now)

        return Write(write, lambda _: self._on_changed(webhook_id, changed))

    @exclusive_write
    def set_picture(
        self, actor_id: str, webhook_id: str, key: str | None, now: float
    ) -> Write[None, Webhook]:
        """Set or remove a webhook's profile picture. Existing messages keep the old one."""
        webhook = self.get(actor_id, webhook_id)

        def write(connection: Connection) -> None:
            WEBHOOKS.edit(connection, {"picture": key}, id=webhook_id)
            self._media.release(connection, WEBHOOK, webhook_id)
            if key is not None:
                self._media.refer(connection, key, WEBHOOK, webhook_id)
            details = {"name": webhook.name, "changed": ["picture"]}
            self._record(connection, actor_id, "webhook_edit", webhook, details, now)

        return Write(write, lambda _: self._on_changed(webhook_id, {"picture": key}))

    @exclusive_write
    def delete(self, actor_id: str | None, webhook_id: str, now: float) -> Write[None, None]:
        """Delete a webhook.

        The URL stops working before this returns, even for posts in progress. Messages stay.
        """
        webhook = self.get(actor_id, webhook_id)

        def write(connection: Connection) -> None:
            WEBHOOKS.delete(connection, id=webhook_id)
            self._media.release(connection, WEBHOOK, webhook_id)
            self._record(connection, actor_id, "webhook_delete", webhook, {"name": webhook.name}, now)

        return Write(write, lambda _: self._on_deleted(webhook_id))

    def channel_removed(self, channel: Channel) -> None:
        """Remove a deleted channel from its in-memory webhooks. The database has already been updated."""
        managers = self._directory.would_hold(_MANAGE, channel)
        for webhook in [w for w in self._by_id.values() if w.channel_id == channel.id]:
            self._put(dataclasses.replace(webhook, channel_id=None), managers)

    # Methods that are called in commit order, after each transaction is durable.

    def _on_created(self, webhook: Webhook) -> Webhook:
        self._by_id[webhook.id] = webhook
        self._hub.push("webhook_created", self.to_response(webhook), self._audience(webhook))
        return webhook

    def _on_changed(self, webhook_id: str, differences: Mapping[str, str | None]) -> Webhook:
        current = self._by_id[webhook_id]
        managers = self._managers(current)
        changed = dataclasses.replace(current, **differences)  # type: ignore[arg-type]
        self._put(changed, managers)
        return changed

    def _put(self, webhook: Webhook, managers_before: frozenset[str]) -> None:
        """Replace a webhook in memory, and report it as deleted to members who can no longer manage it."""
        self._by_id[webhook.id] = webhook
        self._hub.push("webhook_updated", self.to_response(webhook), self._audience(webhook))
        if lost := managers_before - self._managers(webhook):
            self._hub.push("webhook_deleted", WebhookDeleted(webhook.id), Recipients(lost))

    def _on_deleted(self, webhook_id: str) -> None:
        webhook = self._by_id.pop(webhook_id)
        self._hub.push("webhook_deleted", WebhookDeleted(webhook_id), self._audience(webhook))
        for notify in self.gone:
            notify(webhook_id)

    # Helpers that check permissions.

    def _audience(self, webhook: Webhook) -> Audience:
        if webhook.channel_id is None:
            return Recipients(self._managers(webhook))
        return PermissionHolders(_MANAGE, webhook.channel_id)

    def _managers(self, webhook: Webhook) -> frozenset[str]:
        return frozenset(m for m in self._directory.members if self._may_manage(m, webhook))

    def _may_manage(self, actor_id: str | None, webhook: Webhook) -> bool:
        if actor_id is None:
            return True
        if not self._directory.has_permission(actor_id, _MANAGE, webhook.channel_id):
            return False
        its_own = webhook.created_by == actor_id or self._directory.is_owner(actor_id)
        return webhook.channel_id is not None or its_own

    def _require_manager(self, actor_id: str | None) -> None:
        """Raise ChatError if the actor may not manage webhooks in any channel."""
        has_permission = self._directory.has_permission
        if actor_id is None or any(
            has_permission(actor_id, _MANAGE, channel) for channel in self._directory.channels
        ):
            return
        self._directory.require(actor_id, _MANAGE)

    def _require_may_use(self, actor_id: str | None, channel_id: str | None) -> None:
        if actor_id is not None:
            self._directory.require(actor_id, _MANAGE, channel_id)
        elif channel_id is not None:
            channel = self._directory.channels.get(channel_id)
            if channel is None or _MANAGE not in channel.permits:
                raise ChatError("unknown_channel")

    def _readable(self, name: str) -> str:
        return self._moderate_text(readable_name(name, MAX_NAME))

    def _record(
        self,
        connection: Connection,
        actor_id: str | None,
        action: str,
        webhook: Webhook,
        details: Mapping[str, object],
        now: float,
    ) -> None:
        """Write an audit entry without the token, for members who may view the channel."""
        where = {} if webhook.channel_id is None else {"channel_id": webhook.channel_id}
        self._audit.record(connection, actor_id, action, webhook.id, {**where, **details}, now)
