"""Changes the reactions, pins and previews of messages. Contains no HTTP code."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from svc.base.database import Connection, Write
from svc.base.emoji import reaction_form
from svc.base.tables import number
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import Viewers
from svc.chat.messages import search_store, store
from svc.chat.messages.message import Message
from svc.chat.messages.ports import MessagePorts
from svc.chat.messages.responses import PinsChanged, PreviewsChanged, ReactionsChanged
from svc.chat.services import Services

# The maximum number of different emoji on a message: about two rows.
MAX_EMOJI = 20
# The maximum number of pins in a channel. Members can still look through this many.
MAX_PINS = 50
# Inserts a reaction after the existing ones, even if the clock was set back.
_REACT = (
    "INSERT OR IGNORE INTO reactions SELECT ?1, ?2, ?3, max(?4, coalesce(max(reacted_at_ms) + 1, 0))"
    " FROM reactions WHERE n = ?1 AND emoji = ?2"
)
_UNREACT = "DELETE FROM reactions WHERE n = ? AND emoji = ? AND member_id = ?"


class Annotations:
    """The rules for reactions, pins and previews. `written` is called with the channel's id when a message
    changes.
    """

    def __init__(self, services: Services, ports: MessagePorts, written: Callable[[str], None]) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit
        self._written = written
        self._urls, self._files = ports.urls, ports.files

    @shared_write
    def react(
        self, member_id: str, channel_id: str, message_id: str, emoji: str, now: float, *, added: bool
    ) -> Write[bool, None]:
        """Add or remove a member's reaction with one emoji. Idempotent. Raises ChatError."""
        self._directory.require(member_id, Permission.ADD_REACTIONS, channel_id)
        # An emoji that the message already has is allowed even if it is not in the catalogue.
        checked = reaction_form(emoji)
        emoji = checked or emoji

        def change(connection: Connection) -> bool:
            message = store.existing(connection, channel_id, message_id)
            reactions = message.reactions
            if checked is None and emoji not in reactions:
                raise ChatError("invalid_emoji")
            if added and emoji not in reactions and len(reactions) >= MAX_EMOJI:
                raise ChatError("too_many", f"A message has at most {MAX_EMOJI} different reactions")
            # The first and last reactions change whether `has:reaction` finds the message.
            if reactions == ({} if added else {emoji: [member_id]}):
                search_store.changes(connection, message)
            which = message.n, emoji, member_id
            if added:
                return connection.execute(_REACT, (*which, int(now * 1000))).rowcount > 0
            return connection.execute(_UNREACT, which).rowcount > 0

        def push_change(changed: bool) -> None:
            if changed:
                self._written(channel_id)
                event = ReactionsChanged(channel_id, message_id, emoji, member_id, added)
                self._hub.push("reactions_changed", event, Viewers(channel_id))

        return Write(change, push_change)

    @shared_write
    def pin(
        self, member_id: str, channel_id: str, message_id: str, now: float, *, pinned: bool
    ) -> Write[bool, None]:
        """Pin or unpin a message. Idempotent. Raises ChatError."""
        self._directory.require(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def change(connection: Connection) -> bool:
            message = store.existing(connection, channel_id, message_id)
            if message.pinned == pinned:
                return False
            cursor = connection.execute("SELECT count(*) FROM pins WHERE channel_id = ?", (channel_id,))
            if pinned and number(cursor) >= MAX_PINS:
                raise ChatError("too_many", f"A channel has at most {MAX_PINS} pinned messages")
            search_store.changes(connection, message)
            if pinned:
                row = message.n, channel_id, member_id, int(now * 1000)
                connection.execute("INSERT INTO pins VALUES (?, ?, ?, ?)", row)
            else:
                connection.execute("DELETE FROM pins WHERE n = ?", (message.n,))
            self._record(connection, member_id, "pin_add" if pinned else "pin_remove", message, now)
            return True

        def push_change(changed: bool) -> None:
            if changed:
                self._written(channel_id)
                event = PinsChanged(channel_id, message_id, pinned)
                self._hub.push("pins_changed", event, Viewers(channel_id))

        return Write(change, push_change)

    @shared_write
    def remove_previews(
        self, member_id: str, channel_id: str, message_id: str, now: float
    ) -> Write[Message | None, None]:
        """Remove a message's previews permanently.

        Requires MANAGE_MESSAGES for other members' messages. Raises ChatError.
        """
        self._directory.channel(member_id, channel_id)
        manages = self._directory.has_permission(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def remove(connection: Connection) -> Message | None:
            message = store.existing(connection, channel_id, message_id)
            if not message.author.is_member(member_id):
                if not manages:
                    raise ChatError("forbidden")
                self._record(connection, member_id, "previews_remove", message, now)
            if message.no_previews:
                return None
            return self._with_previews(connection, structs.replace(message, previews=(), no_previews=True))

        return Write(remove, self.previews_changed)

    def show_previews(
        self, connection: Connection, message: Message, previews: Sequence[Mapping[str, object]]
    ) -> Message | None:
        """Set a message's previews. Call this within a write transaction, and `previews_changed` with the
        result after it.

        Returns None if the previews are unchanged, or if the text has since changed or the previews were
        removed.
        """
        current = store.get(connection, message.channel_id, message.n)
        if current is None or current.no_previews or current.text != message.text:
            return None
        if list(current.previews) == list(previews):
            return None
        return self._with_previews(connection, structs.replace(current, previews=previews))

    def previews_changed(self, message: Message | None) -> None:
        if message is None:
            return
        self._written(message.channel_id)
        changed = PreviewsChanged(message.channel_id, message.id, self._urls.with_urls(message.previews))
        self._hub.push("previews_changed", changed, Viewers(message.channel_id))

    def _with_previews(self, connection: Connection, message: Message) -> Message:
        """Store the previews, dropping images that no longer exist. Return the updated message."""
        keys = {str(image["key"]) for image in map(_image, message.previews) if image}
        previews = self._files.replace_previews(connection, message.id, sorted(keys))
        kept = [
            {name: part for name, part in preview.items() if name != "image" or part["key"] in previews}
            for preview in message.previews
            if isinstance(preview, Mapping)
        ]
        shown = structs.replace(message, previews=kept)
        store.set_previews(connection, shown)
        return shown

    def _record(
        self, connection: Connection, actor_id: str, action: str, message: Message, now: float
    ) -> None:
        details = {"channel_id": message.channel_id}
        self._audit.record(connection, actor_id, action, message.id, details, now)


def _image(preview: object) -> Mapping[str, object] | None:
    return preview.get("image") if isinstance(preview, Mapping) else None
