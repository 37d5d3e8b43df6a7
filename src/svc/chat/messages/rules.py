"""Posting, editing and deleting messages: what is allowed, and what happens. No HTTP, no SQL.

What is in memory follows each write in the order of the commits (`Database.write`), so that
pushes, counts and pages agree with the file. Reactions and pins are in `marking`, reading in
`reading`. Spec: chat document sections 2.2, 2.8 and 2.9.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.chat.access.directory import Directory
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.permissions import Permission
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.live.audience import Viewers
from svc.chat.live.hub import Hub
from svc.chat.messages import reads_store, search_store, store
from svc.chat.messages.mentions import mentioned
from svc.chat.messages.message import MAX_TEXT_CHARACTERS, MEMBER, Author, Message, number_of
from svc.chat.messages.page_cache import PageCache
from svc.chat.messages.profanity import moderated
from svc.chat.messages.reading import Reads
from svc.chat.messages.searching import Indexer

# A message that has been rewritten more often is about something else by now.
MAX_EDITS_KEPT = 50
MAX_NONCE_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What other features say about a message that is about to be posted."""

    # `off`, `flag`, `censor` or `block`, as the owner has set it.
    profanity_mode: Callable[[], str] = lambda: "off"
    # For how many more seconds a member (first) may not post in a channel (second) at a time;
    # counts the message as posted where that is none.
    slow_mode_wait_s: Callable[[str, str, float], float] = lambda member_id, channel_id, now: 0.0
    # Whether a member (first) has blocked another.
    blocks: Callable[[str, str], bool] = lambda member_id, other_id: False
    # A step of a write: what a member (second) has uploaded, by ids (fourth), for a message (third).
    attached: Callable[[Connection, str, str, Sequence[str]], Sequence[object]] = lambda *_: ()
    # A step of the write that deletes a message, by its id: its media may go.
    released: Callable[[Connection, str], None] = lambda connection, message_id: None


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that a member wants to post."""

    channel_id: str
    text: str
    # The client's name for it: sent again, it is the same message.
    nonce: str | None = None
    reply_to: str | None = None
    # Ids of the member's finished uploads.
    attachments: Sequence[str] = ()


class Messages:
    """`new_id` makes ids that rise."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        new_id: Callable[[], str],
        pages: PageCache,
        reads: Reads,
        indexer: Indexer,
        surroundings: Surroundings,
        urls: MediaUrls,
    ) -> None:
        self._database = database
        self._directory = directory
        self._hub = hub
        self._audit = audit
        self._new_id = new_id
        self._pages = pages
        self._reads = reads
        self._indexer = indexer
        self._surroundings = surroundings
        self._urls = urls

    async def send(self, member_id: str, draft: Draft, now: float) -> Message:
        """Post; the stored message, also when this was a repetition. Raises ChatError."""
        self._directory.require(member_id, Permission.SEND_MESSAGES, draft.channel_id)
        if draft.attachments:
            self._directory.require(member_id, Permission.ATTACH_FILES, draft.channel_id)
        author = Author(MEMBER, member_id, self._directory.member(member_id).nickname)
        checked_text(draft.text, or_else=bool(draft.attachments))
        wait_s = self._surroundings.slow_mode_wait_s(member_id, draft.channel_id, now)
        if wait_s > 0:
            if (found := await self._sent_before(member_id, draft)) is not None:
                return found
            raise ChatError("slow_mode", more={"retry_after_ms": int(wait_s * 1000) + 1})
        message = self.new(draft.channel_id, author, draft.text, reply_to=draft.reply_to)

        def post(connection: Connection) -> Message:
            nonce, channel_id = draft.nonce, draft.channel_id
            if nonce is not None and not store.insert_nonce(
                connection, member_id, channel_id, nonce, message.n
            ):
                n = store.called(connection, member_id, channel_id, nonce)
                return _existing(store.get(connection, channel_id, n))
            files = self._surroundings.attached(connection, member_id, message.id, draft.attachments)
            new = dataclasses.replace(message, attachments=files) if files else message
            self.insert(connection, new)
            return new

        def posted(stored: Message) -> None:
            if stored.id == message.id:
                self.posted(stored, draft.nonce)

        return await self._database.write(post, posted)

    def new(
        self,
        channel_id: str,
        author: Author,
        text: str,
        *,
        reply_to: str | None = None,
        cards: Sequence[object] = (),
        attachments: Sequence[object] = (),
    ) -> Message:
        """A message that is yet to be inserted, its text judged. Raises ChatError.

        To be inserted at once: ids and commits have the same order.
        """
        judged = moderated(text, self._surroundings.profanity_mode())
        mentions = self._mentioned(channel_id, judged.text)
        blocks = self._surroundings.blocks
        message_id = self._new_id()
        return Message(
            n=number_of(message_id),
            id=message_id,
            channel_id=channel_id,
            author=author,
            text=judged.text,
            reply_to=reply_to,
            mentions=mentions,
            told=tuple(m for m in mentions if m != author.id and not blocks(m, author.id)),
            cards=cards,
            attachments=attachments,
            flagged=judged.flagged,
        )

    def insert(self, connection: Connection, message: Message) -> None:
        """A step of a write that posts a message; `posted` follows once it is durable."""
        if message.reply_to is not None:
            _existing(store.get(connection, message.channel_id, number_of(message.reply_to)))
        store.insert(connection, message)
        if message.told:
            store.insert_mentions(connection, message)
        if message.author.kind == MEMBER:
            reads_store.mark_read(connection, message.author.id, message.channel_id, message.n)

    def posted(self, message: Message, nonce: str | None = None) -> None:
        self._written(message.channel_id)
        self._reads.posted(message)
        described = message.described(self._urls)
        if nonce is not None:
            described["nonce"] = nonce
        self._hub.push("message_posted", described, Viewers(message.channel_id))

    async def edit(self, member_id: str, channel_id: str, message_id: str, text: str, now: float) -> Message:
        """Change one's own message. Raises ChatError."""
        self._directory.require(member_id, Permission.SEND_MESSAGES, channel_id)
        judged = moderated(text, self._surroundings.profanity_mode())
        # Who is mentioned only now is not told: the message is where it was.
        mentions = self._mentioned(channel_id, judged.text)
        now_ms = int(now * 1000)

        def change(connection: Connection) -> tuple[Message, Message]:
            old = _existing(store.get(connection, channel_id, number_of(message_id)), message_id)
            if not _is_author(member_id, old):
                raise ChatError("forbidden")
            checked_text(judged.text, or_else=bool(old.attachments or old.cards))
            if old.text == judged.text:
                return old, old
            new = dataclasses.replace(
                old, text=judged.text, mentions=mentions, flagged=judged.flagged, edited_at_ms=now_ms
            )
            search_store.changes(connection, old)
            store.insert_edit(connection, old.n, store.Edit(old.text, now_ms), MAX_EDITS_KEPT)
            store.update(connection, new)
            store.delete_mentions_but(connection, new.n, mentions)
            return old, new

        return (await self._database.write(change, self._edited))[1]

    def _edited(self, versions: tuple[Message, Message]) -> None:
        old, new = versions
        if old is new:
            return
        self._written(new.channel_id)
        changed = {
            "channel_id": new.channel_id,
            "id": new.id,
            "text": new.text,
            "mentions": list(new.mentions),
            "flagged": new.flagged,
            "edited_at_ms": new.edited_at_ms,
        }
        self._hub.push("message_edited", changed, Viewers(new.channel_id))
        self._reads.unmentioned(new, set(old.mentions) - set(new.mentions))

    async def delete(self, member_id: str, channel_id: str, message_id: str, now: float) -> None:
        """Delete one's own message, or another's with MANAGE_MESSAGES. Raises ChatError."""
        self._directory.channel(member_id, channel_id)
        manages = self._directory.may(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def remove(connection: Connection) -> Message:
            message = _existing(store.get(connection, channel_id, number_of(message_id)), message_id)
            if not _is_author(member_id, message):
                if not manages:
                    raise ChatError("forbidden")
                self._audit.record(
                    connection,
                    actor_id=member_id,
                    action="message_delete",
                    target_id=message.id,
                    details={"channel_id": channel_id, "author_id": message.author.id},
                    now=now,
                )
            self.remove(connection, message)
            return message

        await self._database.write(remove, self.removed)

    def remove(self, connection: Connection, message: Message) -> None:
        """A step of a write that deletes a message; `removed` follows once it is durable."""
        search_store.changes(connection, message)
        store.delete(connection, message.n)
        self._surroundings.released(connection, message.id)

    def removed(self, message: Message) -> None:
        self._written(message.channel_id)
        gone = {"channel_id": message.channel_id, "id": message.id}
        self._hub.push("message_deleted", gone, Viewers(message.channel_id))
        self._reads.deleted(message)

    def judged(self, text: str) -> str:
        """Words that are shown with a message. Raises ChatError."""
        return moderated(text, self._surroundings.profanity_mode()).text

    def channels_of(self, connection: Connection, message_ids: Sequence[str]) -> set[str]:
        found = store.read_these(connection, [number_of(message_id) for message_id in message_ids])
        return {message.channel_id for message in found}

    def describe_attachment(
        self, connection: Connection, message_id: str, upload_id: str, alt: str
    ) -> Message | None:
        """A step of a write that says otherwise what a file shows; `attachments_changed` follows."""
        [*found] = store.read_these(connection, [number_of(message_id)])
        if not found or found[0].id != message_id:
            return None
        files = [_described_as(file, upload_id, alt) for file in found[0].attachments]
        message = dataclasses.replace(found[0], attachments=files)
        store.set_attachments(connection, message)
        return message

    def attachments_changed(self, message: Message) -> None:
        self._written(message.channel_id)
        files = self._urls.shown(message.attachments)
        changed = {"channel_id": message.channel_id, "id": message.id, "attachments": files}
        self._hub.push("attachments_changed", changed, Viewers(message.channel_id))

    def _written(self, channel_id: str) -> None:
        self._pages.written(channel_id)
        self._indexer.wake()

    async def _sent_before(self, member_id: str, draft: Draft) -> Message | None:
        """What a nonce stands for already: slow mode does not refuse a repetition."""
        if draft.nonce is None:
            return None
        n = await store.nonce_known(self._database, member_id, draft.channel_id, draft.nonce)
        return None if n is None else _existing(await store.one(self._database, draft.channel_id, n))

    def _mentioned(self, channel_id: str, text: str) -> tuple[str, ...]:
        """The members who are mentioned and can see it."""
        named = mentioned(text)
        if not named:
            return ()
        viewers = self._directory.viewers(channel_id)
        return tuple(member_id for member_id in named if member_id in viewers)


def checked_text(text: str, *, or_else: bool) -> None:
    """Raises ChatError for a text that is too long, or says nothing where there is nothing `or_else`."""
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ChatError("message_too_long")
    if not or_else and not text.strip():
        raise ChatError("empty_message")


def _described_as(file: object, upload_id: str, alt: str) -> object:
    if isinstance(file, Mapping) and file.get("id") == upload_id:
        return {**file, "alt": alt}
    return file


def _is_author(member_id: str, message: Message) -> bool:
    return message.author.kind == MEMBER and message.author.id == member_id


def _existing(message: Message | None, message_id: str | None = None) -> Message:
    """The message, if there is one, and if it has this very id."""
    if message is None or message_id not in (None, message.id):
        raise ChatError("unknown_message")
    return message
