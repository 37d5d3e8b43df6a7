"""Posts, edits and deletes messages: checks permissions and applies the effects.

The in-memory state is updated after each transaction, in commit order (`Database.write`), so pushes, counts
and pages agree with the database. `reactions` handles reactions and pins, and `history` handles reading. This
module contains neither HTTP nor SQL code. See docs/webhooks.md, "A message" and docs/http.md.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from svc.base.database import Connection, Write
from svc.base.time_slices import run_to_end
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import Viewers
from svc.chat.messages import responses, search_store, store
from svc.chat.messages.history import ReadMarks
from svc.chat.messages.markdown import EVERYONE, HERE, mentioned_ids, mentions_in
from svc.chat.messages.message import MAX_TEXT_CHARACTERS, MEMBER, Author, Message, moment_of, number_of
from svc.chat.messages.page_cache import PageCache
from svc.chat.messages.ports import Case, MessagePorts, Refused, Ruling
from svc.chat.messages.profanity import (
    FLAG,
    OFF,
    ModeratedText,
    ScannedText,
    Span,
    mask,
    moderated,
    moderating,
)
from svc.chat.messages.search import Indexer
from svc.chat.messages.threads import Threads
from svc.chat.names import has_visible_text
from svc.chat.services import Services

# The ruling on webhook messages, which are not moderated.
NO_RULING = Ruling()


class Draft(Struct, frozen=True):
    """A message that a member wants to post."""

    channel_id: str
    text: str
    # An id chosen by the client. Another request with the same nonce does not post a new message.
    nonce: str | None = None
    reply_to: str | None = None
    # Whether a reply mentions the original message's author.
    ping: bool = True
    # Ids of the member's finished uploads.
    attachments: Sequence[str] = ()
    # The id of the thread's root message.
    thread: str | None = None
    # Whether the links in the text get previews.
    previews: bool = True


class Messages:
    """The rules for posting, editing and deleting messages."""

    def __init__(
        self,
        services: Services,
        pages: PageCache,
        reads: ReadMarks,
        threads: Threads,
        indexer: Indexer,
        ports: MessagePorts,
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._ids = services.audit, services.ids
        self._pages = pages
        self._reads = reads
        self._threads = threads
        self._indexer = indexer
        self._ports = ports
        self._urls = ports.urls
        # Called with each posted message.
        self.on_posted: list[Callable[[Message], None]] = []
        # Called with each message whose text has changed.
        self.on_edited: list[Callable[[Message], None]] = []

    async def send(self, member_id: str, draft: Draft, now: float) -> Message:
        """Post a message.

        If the draft's nonce has been used before, return the stored message. Raises ChatError.
        """
        try:
            # `_send` checks the permission again, because it may have changed by then.
            self._directory.require(member_id, Permission.SEND_MESSAGES, draft.channel_id)
            check_text(draft.text, or_else=bool(draft.attachments))
            read = await self._ports.moderator.read(member_id, draft.text)
            return await self._send(member_id, draft, read, now)
        except Refused as refused:
            await self._ports.moderator.refused(refused.ruling, now)
            raise

    @shared_write
    def _send(self, member_id: str, draft: Draft, read: ScannedText, now: float) -> Write[Message, Message]:
        self._directory.require(member_id, Permission.SEND_MESSAGES, draft.channel_id)
        if draft.attachments:
            self._directory.require(member_id, Permission.ATTACH_FILES, draft.channel_id)
        member = self._directory.member(member_id)
        author = Author(MEMBER, member_id, member.nickname, bot=member.bot)
        wait_s = self._ports.slow_mode.slow_mode_wait_s(member_id, draft.channel_id, now)
        if wait_s > 0:
            # Slow mode must not reject a repeated request, so check whether the message has already been
            # posted.
            slow = ChatError("slow_mode", more={"retry_after_ms": int(wait_s * 1000) + 1})
            return Write(lambda c: _sent_before(c, member_id, draft, slow), lambda message: message)
        moderator = self._ports.moderator
        ruling = moderator.judge(member_id, draft.channel_id, read, now, new=True)
        if ruling.refusal is not None:
            refused = Refused(ruling)
            return Write(lambda c: _sent_before(c, member_id, draft, refused), lambda message: message)
        moderated_text = self._moderate(read, ruling)
        message = self.new(draft.channel_id, author, moderated_text, reply_to=draft.reply_to)
        case = self.case(message, draft.text, moderated_text.matches, now, ruling)
        if not draft.previews:
            message = structs.replace(message, no_previews=True)
        if draft.thread is not None:
            to_unfollow = self._threads.threads_to_unfollow(draft.thread, member_id, message.notified)
            message = structs.replace(message, thread=draft.thread, to_unfollow=to_unfollow)

        def post(connection: Connection) -> Message:
            if draft.nonce is not None:
                nonce = (member_id, draft.channel_id, draft.nonce)
                if not store.insert_nonce(connection, nonce, message.n, message.posted_at_ms):
                    earlier = _message_with_nonce(connection, member_id, draft)
                    assert earlier is not None, "the nonce was stored before"
                    return earlier
            files = self._ports.uploads.attach(connection, member_id, message.id, draft.attachments)
            new = structs.replace(message, attachments=files) if files else message
            if draft.ping:
                new = self._pinging(connection, new)
            if case is not None:
                case.write(connection)
            return self.insert(connection, new)

        def posted(stored: Message) -> Message:
            if stored.id == message.id:
                self.posted(stored, draft.nonce)
                moderator.posted(ruling, now)
                if case is not None:
                    case.filed()
            return stored

        return Write(post, posted)

    def new(
        self,
        channel_id: str,
        author: Author,
        moderated_text: ModeratedText,
        *,
        reply_to: str | None = None,
        cards: Sequence[object] = (),
    ) -> Message:
        """Return a new message.

        The caller must insert it immediately, because messages must be committed in id order.
        """
        mentions, groups = self._mentions_of(channel_id, moderated_text.text, author)
        message_id, now_ms = self._ids.new_with_time()
        n = number_of(message_id)
        return Message(
            n=n,
            stamp_ms=None if moment_of(n, None) == now_ms else now_ms,
            id=message_id,
            channel_id=channel_id,
            author=author,
            text=moderated_text.text,
            reply_to=reply_to,
            mentions=mentions,
            groups=groups,
            notified=self._notified_members(channel_id, author.id, mentions, groups),
            cards=cards,
            flagged=moderated_text.flagged,
        )

    def require_open(self, channel_id: str) -> None:
        """Raise ChatError if the channel is archived, because nobody can post in it."""
        if Permission.SEND_MESSAGES not in self._directory.channels[channel_id].permits:
            raise ChatError("channel_archived")

    def insert(self, connection: Connection, message: Message) -> Message:
        """Insert a message. Call this within a write transaction, and `posted` with the result after it."""
        if message.thread is not None:
            root = self._threads.root(connection, message.channel_id, message.thread)
            message = structs.replace(message, joining=self._threads.joining(message, root))
        if message.reply_to is not None:
            answered = _existing(store.get(connection, message.channel_id, number_of(message.reply_to)))
            if message.thread not in (answered.thread, answered.id):
                raise ChatError("unknown_message")
        store.insert(connection, message)
        if message.notified:
            store.insert_mentions(connection, message)
        if message.thread is not None:
            return self._threads.insert(connection, message)
        if message.author.kind == MEMBER:
            store.mark_read(connection, message.author.id, message.channel_id, message.n)
        return message

    def posted(self, message: Message, nonce: str | None = None) -> None:
        self.written(message.channel_id)
        posted = responses.message_posted(message, self._urls, nonce)
        self._hub.push("message_posted", posted, Viewers(message.channel_id))
        self._counting(message).posted(message)
        for notify in self.on_posted:
            notify(message)

    async def edit(self, member_id: str, channel_id: str, message_id: str, text: str, now: float) -> Message:
        """Edit one of the member's own messages. Raises ChatError."""
        try:
            self._directory.require(member_id, Permission.SEND_MESSAGES, channel_id)
            check_text(text, or_else=True)
            read = await self._ports.moderator.read(member_id, text)
            return await self._edit(member_id, channel_id, message_id, read, now)
        except Refused as refused:
            await self._ports.moderator.refused(refused.ruling, now)
            raise

    @shared_write
    def _edit(
        self, member_id: str, channel_id: str, message_id: str, read: ScannedText, now: float
    ) -> Write[tuple[Message, Message], Message]:
        self._directory.require(member_id, Permission.SEND_MESSAGES, channel_id)
        ruling = self._ports.moderator.judge(member_id, channel_id, read, now, new=False)
        moderated_text = self._moderate(read, ruling)
        # Members who are first mentioned in an edit are not notified. The message keeps its position, so they
        # may already have read past it.
        author = Author(MEMBER, member_id, "")
        mentions, groups = self._mentions_of(channel_id, moderated_text.text, author)
        now_ms = int(now * 1000)
        cases: list[Case] = []

        def change(connection: Connection) -> tuple[Message, Message]:
            old = store.existing(connection, channel_id, message_id)
            if not old.author.is_member(member_id):
                raise ChatError("forbidden")
            check_text(moderated_text.text, or_else=bool(old.attachments or old.cards))
            if old.text == moderated_text.text:
                return old, old
            if ruling.refusal is not None:
                raise Refused(ruling)
            new = structs.replace(
                old,
                text=moderated_text.text,
                mentions=(*mentions, *_pinged_members(old, but_not=mentions)),
                groups=groups,
                flagged=moderated_text.flagged,
                edited_at_ms=now_ms,
            )
            search_store.changes(connection, old)
            store.insert_edit(connection, old.n, store.Edit(old.text, now_ms), responses.MAX_EDITS_KEPT)
            store.update(connection, new)
            if not (old.groups and new.groups):
                store.delete_mentions_but(connection, new.n, new.mentions)
            if (case := self.case(new, read.text, moderated_text.matches, now, ruling)) is not None:
                case.write(connection)
                cases.append(case)
            return old, new

        def edited(versions: tuple[Message, Message]) -> Message:
            new = self._edited(versions)
            for case in cases:
                case.filed()
            return new

        return Write(change, edited)

    def _edited(self, versions: tuple[Message, Message]) -> Message:
        old, new = versions
        if old is new:
            return new
        self.written(new.channel_id)
        changed = responses.MessageEdited(
            channel_id=new.channel_id,
            id=new.id,
            text=new.text,
            mentions=new.mentions,
            mention_groups=new.groups,
            flagged=new.flagged,
            edited_at_ms=new.edited_at_ms,
        )
        self._hub.push("message_edited", changed, Viewers(new.channel_id))
        self._counting(new).edited(old, new)
        for notify in self.on_edited:
            notify(new)
        return new

    @shared_write
    def delete(self, member_id: str, channel_id: str, message_id: str, now: float) -> Write[Message, None]:
        """Delete a message. Requires MANAGE_MESSAGES for other members' messages. Raises ChatError."""
        self._directory.channel(member_id, channel_id)
        manages = self._directory.has_permission(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def remove(connection: Connection) -> Message:
            message = store.existing(connection, channel_id, message_id)
            if not message.author.is_member(member_id):
                if not manages:
                    raise ChatError("forbidden")
                details = {"channel_id": channel_id, "author_id": message.author.id}
                self._audit.record(connection, member_id, "message_delete", message.id, details, now)
            return self.remove(connection, message)

        return Write(remove, self.removed)

    def remove(self, connection: Connection, message: Message) -> Message:
        """Delete a message. Call this within a write transaction, and `removed` with the result after it."""
        search_store.changes(connection, message)
        store.delete(connection, message.n)
        self._ports.files.release_message(connection, message.id)
        return self._threads.with_summary(connection, message)

    def removed(self, message: Message) -> None:
        self.written(message.channel_id)
        event = responses.MessageDeleted(message.channel_id, message.id, message.thread)
        self._hub.push("message_deleted", event, Viewers(message.channel_id))
        self._counting(message).deleted(message)

    def moderate_text(self, text: str) -> str:
        """Return the moderated form of text other than a message, such as a file name. Raises ChatError."""
        return moderated(text, self._ports.settings.profanity_mode()).text

    def _moderate(self, read: ScannedText, ruling: Ruling) -> ModeratedText:
        """Return the text after applying the profanity setting and the ruling. Raises ChatError."""
        mode = self._ports.settings.profanity_mode()
        result = ModeratedText(read.text) if mode == OFF else run_to_end(moderating(read, mode))
        if not (ruling.spans or ruling.flagged):
            return result
        flagged = result.flagged or ruling.flagged
        return ModeratedText(mask(result.text, ruling.spans), flagged, result.matches)

    def case(
        self,
        message: Message,
        text: str,
        matches: Sequence[Span],
        now: float,
        ruling: Ruling = NO_RULING,
    ) -> Case | None:
        """Return a report about the message, or None if no report is needed. `matches` contains spans in
        `text`.
        """
        marked = message.flagged and self._ports.settings.profanity_mode() == FLAG
        if not (marked or ruling.reported):
            return None
        about = message.author, message.channel_id, message.id
        return self._ports.moderator.case(*about, ruling, text, matches, now)

    def describe_attachment(
        self, connection: Connection, member_id: str, message_ids: Sequence[str], upload_id: str, alt: str
    ) -> Callable[[], None]:
        """Change a file's alt text in the given messages. Call this within a write transaction. Returns a
        function to call after the transaction. Raises ChatError.
        """
        messages = store.read_these(connection, [number_of(message_id) for message_id in message_ids])
        for message in messages:
            # Changing alt text requires the same permission as editing the message.
            self._directory.require(member_id, Permission.SEND_MESSAGES, message.channel_id)
        described = [
            _with_words(message, upload_id, alt) for message in messages if message.id in message_ids
        ]
        for message in described:
            store.set_attachments(connection, message)

        def follow() -> None:
            for message in described:
                self.attachments_changed(message)

        return follow

    def attachments_changed(self, message: Message) -> None:
        self.written(message.channel_id)
        changed = responses.attachments_changed(message, self._urls)
        self._hub.push("attachments_changed", changed, Viewers(message.channel_id))

    def _counting(self, message: Message) -> ReadMarks | Threads:
        """Return the unread counts that include this message: those of channels or those of threads."""
        return self._reads if message.thread is None else self._threads

    def written(self, channel_id: str) -> None:
        """Invalidate a changed channel's pages and wake the indexer."""
        self._pages.written(channel_id)
        self._indexer.wake()

    def _mentions_of(
        self, channel_id: str, text: str, author: Author
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the mentioned members who can view the channel, and the groups that the author may use."""
        mentions = mentions_in(text)
        if not (mentions.members or mentions.groups):
            return (), ()
        viewers = self._directory.viewers(channel_id) if mentions.members else frozenset[str]()
        members = tuple(member_id for member_id in mentions.members if member_id in viewers)
        permission = Permission.MENTION_EVERYONE
        may_mention_groups = author.kind == MEMBER and self._directory.has_permission(
            author.id, permission, channel_id
        )
        known = (EVERYONE, HERE, *self._directory.roles) if mentions.groups and may_mention_groups else ()
        return members, tuple(group for group in mentions.groups if group in known)

    def _notified_members(
        self, channel_id: str, author_id: str, mentions: Sequence[str], groups: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the mentioned members, except the author and members who have blocked the author."""
        if not (mentions or groups):
            return ()
        notified = dict.fromkeys(mentions)
        if groups:
            viewers = self._directory.viewers(channel_id)
            notified |= dict.fromkeys(m for m in sorted(viewers) if self._is_in(m, groups))
        blocks = self._ports.blocklist.blocks
        return tuple(m for m in notified if m != author_id and not blocks(m, author_id))

    def _is_in(self, member_id: str, groups: Sequence[str]) -> bool:
        if EVERYONE in groups or (HERE in groups and self._hub.online(member_id)):
            return True
        return any(role_id in groups for role_id in self._directory.member(member_id).role_ids)

    def _pinging(self, connection: Connection, message: Message) -> Message:
        """Add a mention of the original message's author to a reply. Return the reply. Call this within a
        write transaction.
        """
        answered = message.reply_to and store.get(connection, message.channel_id, number_of(message.reply_to))
        if not answered or answered.author.kind != MEMBER:
            return message
        who = answered.author.id
        if who in (message.author.id, *message.mentions):
            return message
        if who not in self._directory.viewers(message.channel_id):
            return message
        counts = who not in message.notified and not self._ports.blocklist.blocks(who, message.author.id)
        notified = (*message.notified, who) if counts else message.notified
        return structs.replace(message, mentions=(*message.mentions, who), notified=notified)


def check_text(text: str, *, or_else: bool) -> None:
    """Raise ChatError if the text is too long, or has no visible characters and `or_else` is not set.
    `or_else` means that the message has other content.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ChatError("message_too_long")
    if not or_else and not has_visible_text(text):
        raise ChatError("empty_message")


def _message_with_nonce(connection: Connection, member_id: str, draft: Draft) -> Message | None:
    """Return the message that was posted with the draft's nonce, or None. Raises ChatError if it has been
    deleted.
    """
    if draft.nonce is None:
        return None
    n = store.cursor_of_nonce(connection, member_id, draft.channel_id, draft.nonce)
    return None if n is None else _existing(store.get(connection, draft.channel_id, n))


def _sent_before(connection: Connection, member_id: str, draft: Draft, refusal: ChatError) -> Message:
    if (earlier := _message_with_nonce(connection, member_id, draft)) is None:
        raise refusal
    return earlier


def _with_words(message: Message, upload_id: str, alt: str) -> Message:
    """Return the message with the new alt text for one of its files."""
    files = [
        {**file, "alt": alt} if isinstance(file, Mapping) and file.get("id") == upload_id else file
        for file in message.attachments
    ]
    return structs.replace(message, attachments=files)


def _pinged_members(message: Message, but_not: Sequence[str]) -> tuple[str, ...]:
    """Return the member, if any, whom the message mentions only because it replies to them."""
    named_already = {*mentioned_ids(message.text), *but_not}
    return tuple(member_id for member_id in message.mentions if member_id not in named_already)


def _existing(message: Message | None) -> Message:
    if message is None:
        raise ChatError("unknown_message")
    return message
