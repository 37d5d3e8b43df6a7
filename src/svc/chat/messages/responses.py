"""Response and event types for messages, threads and unread counts.

`message` converts a stored message to the form sent to anyone who may view its channel. Media URLs expire.
"""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, UnsetType

from svc.base.emoji import MAX_EMOJI_CHARACTERS
from svc.chat.access.media_urls import MediaUrls
from svc.chat.live import hub
from svc.chat.messages import message as messages
from svc.chat.messages.markdown import MAX_LINK_CHARACTERS, MAX_LINKS, MAX_MENTIONS
from svc.chat.messages.message import (
    MAX_FALLBACK_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MEMBER,
    WEBHOOK,
    fallback,
)
from svc.chat.messages.page_cache import HistoryPage
from svc.chat.messages.store import Edit
from svc.chat.messages.unread_counts import Count
from svc.chat.schemas import Id, Response, TimeMs
from svc.chat.uploads.limits import MAX_ATTACHMENTS
from svc.chat.uploads.responses import Attachment, attachments

MAX_PAGE = 100
# The number of messages or threads in one page of search results, mentions, or followed threads.
MAX_FOUND = 50
MAX_NONCE_CHARACTERS = 64
# The maximum number of stored earlier versions. After that many edits, the first versions hardly matter.
MAX_EDITS_KEPT = 50

_Positive = Annotated[int, Meta(ge=1)]
_Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
_Emoji = Annotated[str, Meta(min_length=1, max_length=MAX_EMOJI_CHARACTERS)]
# One more than a message's text can mention, because a reply can also mention the original message's author.
_Mentions = Annotated[Sequence[Id], Meta(max_length=MAX_MENTIONS + 1)]
_Groups = Annotated[Sequence[Id], Meta(max_length=MAX_MENTIONS)]
_Attachments = Annotated[Sequence[Attachment], Meta(max_length=MAX_ATTACHMENTS)]
# The number of attachments whose retention period has ended. Omitted if 0.
_Expired = _Positive | UnsetType
M = TypeVar("M", bound="Message")


class Author(Response):
    kind: Annotated[str, Meta(extra_json_schema={"enum": [MEMBER, WEBHOOK]})]
    id: Id
    display_name: str
    avatar: str | None
    bot: bool


class StoredPicture(Response):
    """A stored image, with a URL that is valid for a few hours."""

    key: str
    url: str
    content_type: str
    width: _Positive
    height: _Positive
    placeholder: str


class CardAuthor(Response):
    name: str
    url: str | UnsetType = UNSET
    icon: StoredPicture | UnsetType = UNSET


class CardField(Response):
    name: str
    value: str
    inline: bool


class CardFooter(Response):
    text: str
    icon: StoredPicture | UnsetType = UNSET


class MessageCard(Response):
    title: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    color: Annotated[int, Meta(ge=0, le=0xFFFFFF)] | UnsetType = UNSET
    author: CardAuthor | UnsetType = UNSET
    fields: Sequence[CardField] | UnsetType = UNSET
    image: StoredPicture | UnsetType = UNSET
    thumbnail: StoredPicture | UnsetType = UNSET
    footer: CardFooter | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class Preview(Response):
    url: Annotated[str, Meta(max_length=MAX_LINK_CHARACTERS)]
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    site: str | UnsetType = UNSET
    image: StoredPicture | UnsetType = UNSET


_Previews = Annotated[Sequence[Preview], Meta(max_length=MAX_LINKS)]


class Reaction(Response):
    emoji: _Emoji
    member_ids: Sequence[Id]


class ThreadSummary(Response):
    """A thread's number of replies and last reply."""

    count: _Positive
    last_id: Id
    last_at_ms: TimeMs


class Message(Response, kw_only=True):
    id: Id
    channel_id: Id
    author: Author
    text: _Text
    reply_to: Id | None
    mentions: _Mentions
    mention_groups: _Groups
    cards: Sequence[MessageCard]
    # A line of text for notifications, if the message has cards but no text.
    fallback: Annotated[str, Meta(max_length=MAX_FALLBACK_CHARACTERS)] | None
    attachments: _Attachments
    flagged: bool
    posted_at_ms: TimeMs
    edited_at_ms: TimeMs | None
    reactions: Sequence[Reaction]
    pinned: bool
    # Previews of the links in the message.
    previews: _Previews
    # The id of the thread's root message. Null for a message in the channel itself.
    thread: Id | None
    # The thread whose root is this message. Null if it has no thread.
    answers: ThreadSummary | None
    expired_attachments: _Expired = UNSET


class Messages(Response):
    messages: Sequence[Message]


class FoundMessages(Response):
    messages: Annotated[Sequence[Message], Meta(max_length=MAX_FOUND)]
    more: bool


class Edits(Response):
    edits: Annotated[Sequence[Edit], Meta(max_length=MAX_EDITS_KEPT)]


class Unread(Response):
    """A member's unread counts for a channel."""

    channel_id: Id
    read_up_to: Id
    last: Id | None
    unread: Count
    mentions: Count


class ThreadState(Response):
    """A thread's state for one member: whether they follow it, and their unread counts."""

    channel_id: Id
    thread: Id
    following: bool
    read_up_to: Id | None
    last: Id | None
    unread: Count
    mentions: Count


class MessagePage(Response):
    messages: Annotated[Sequence[Message], Meta(max_length=MAX_PAGE)]
    more_before: bool
    more_after: bool
    thread: ThreadState | UnsetType = UNSET


class FollowedThread(ThreadState):
    root: Message | None


class FollowedThreads(Response):
    threads: Annotated[Sequence[FollowedThread], Meta(max_length=MAX_FOUND)]
    more: bool


class MessagePosted(Message, kw_only=True):
    nonce: Annotated[str, Meta(min_length=1, max_length=MAX_NONCE_CHARACTERS)] | UnsetType = UNSET


class MessageEdited(Response):
    channel_id: Id
    id: Id
    text: _Text
    mentions: _Mentions
    mention_groups: _Groups
    flagged: bool
    edited_at_ms: TimeMs | None


class AttachmentsChanged(Response):
    channel_id: Id
    id: Id
    attachments: _Attachments
    expired_attachments: _Expired = UNSET


class PreviewsChanged(Response):
    channel_id: Id
    id: Id
    previews: _Previews


class MessageDeleted(Response):
    channel_id: Id
    id: Id
    thread: Id | None


class ThreadChanged(Response):
    channel_id: Id
    id: Id
    answers: ThreadSummary | None


class ReactionsChanged(Response):
    channel_id: Id
    id: Id
    emoji: _Emoji
    member_id: Id
    added: bool


class PinsChanged(Response):
    channel_id: Id
    id: Id
    pinned: bool


class Typing(Response):
    channel_id: Id
    member_id: Id
    thread: Id | None


class Presence(Response):
    member_id: Id
    online: bool
    idle: bool
    do_not_disturb: bool


def presence(member_id: str, shown: hub.Presence | None) -> Presence:
    """Return the event for a member's presence. None means offline."""
    idle, do_not_disturb = shown or (False, False)
    return Presence(member_id, shown is not None, idle, do_not_disturb)


def message(of: messages.Message, urls: MediaUrls) -> Message:
    return _message(Message, of, urls)


def message_posted(of: messages.Message, urls: MediaUrls, nonce: str | None) -> MessagePosted:
    posted = _message(MessagePosted, of, urls)
    if nonce is not None:
        posted.nonce = nonce
    return posted


def attachments_changed(of: messages.Message, urls: MediaUrls) -> AttachmentsChanged:
    files = attachments(of.attachments, urls)
    return AttachmentsChanged(of.channel_id, of.id, files, of.expired_attachments or UNSET)


def thread_changed(of: messages.Message) -> ThreadChanged:
    """Return the event for a message that was posted or deleted in a thread."""
    assert of.thread is not None, "the message is in a thread"
    return ThreadChanged(of.channel_id, of.thread, _answers(of.thread_summary))


def page(of: HistoryPage, urls: MediaUrls) -> MessagePage:
    return MessagePage([message(record, urls) for record in of.messages], of.more_before, of.more_after)


def _message(kind: type[M], of: messages.Message, urls: MediaUrls) -> M:
    author = of.author
    return kind(
        id=of.id,
        channel_id=of.channel_id,
        author=Author(
            author.kind,
            author.id,
            author.display_name,
            None if author.avatar is None else urls.url(author.avatar),
            author.bot,
        ),
        text=of.text,
        reply_to=of.reply_to,
        mentions=of.mentions,
        mention_groups=of.groups,
        # Most messages have neither cards nor attachments.
        cards=urls.with_urls(of.cards) if of.cards else (),
        fallback=None if of.text else fallback(of.cards),
        attachments=attachments(of.attachments, urls) if of.attachments else (),
        flagged=of.flagged,
        posted_at_ms=of.posted_at_ms,
        edited_at_ms=of.edited_at_ms,
        reactions=[Reaction(emoji, member_ids) for emoji, member_ids in of.reactions.items()],
        pinned=of.pinned,
        previews=urls.with_urls(of.previews) if of.previews else (),
        thread=of.thread,
        answers=_answers(of.answers),
        expired_attachments=of.expired_attachments or UNSET,
    )


def _answers(of: messages.ThreadSummary | None) -> ThreadSummary | None:
    return None if of is None else ThreadSummary(of.count, of.last_id, of.last_at_ms)
