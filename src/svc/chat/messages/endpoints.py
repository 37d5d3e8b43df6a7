"""Handles message requests, over HTTP and on the live socket."""

import time
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, structs

from svc.base.emoji import MAX_EMOJI_CHARACTERS
from svc.chat.access.endpoint_permissions import MEMBER, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.messages import responses
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.message import LAST_MS, MAX_TEXT_CHARACTERS, Message, number_of
from svc.chat.messages.page_cache import PageKey
from svc.chat.messages.query import MAX_CHARACTERS as MAX_QUERY_CHARACTERS
from svc.chat.messages.responses import MAX_FOUND, MAX_NONCE_CHARACTERS, MAX_PAGE
from svc.chat.messages.rules import Draft
from svc.chat.messages.unread_counts import MAX_FOLLOWED
from svc.chat.schemas import Event, Id
from svc.chat.uploads.limits import MAX_ATTACHMENTS

DEFAULT_PAGE = 50
DEFAULT_FOUND = 25

_CHANNEL = "/api/channels/{channel_id}"
_MESSAGE_PATH = _CHANNEL + "/messages/{message_id}"
_REACTION = _MESSAGE_PATH + "/reactions/{emoji}"
_PIN = _CHANNEL + "/pins/{message_id}"

_VIEWER, _WRITER = in_channel(P.VIEW_CHANNEL), in_channel(P.SEND_MESSAGES)
_REACTING, _MANAGER = in_channel(P.ADD_REACTIONS), in_channel(P.MANAGE_MESSAGES)

_HERE = ("unknown_channel", "unknown_message")
_OF_TEXTS = ("empty_message", "message_too_long", "profanity_refused", "rule_refused", *_HERE)

# This only documents the maximum. The rules reject a longer text with a specific error code.
_Text = Annotated[str, Meta(extra_json_schema={"maxLength": MAX_TEXT_CHARACTERS})]
_Emoji = Annotated[str, Meta(min_length=1, max_length=2 * MAX_EMOJI_CHARACTERS)]
_Found = Annotated[int, Meta(ge=1, le=MAX_FOUND)]


class NewMessage(Request):
    text: _Text | None = None
    # An id chosen by the client. Another request with the same nonce does not post a new message.
    nonce: Annotated[str, Meta(min_length=1, max_length=MAX_NONCE_CHARACTERS)] | None = None
    reply_to: Id | None = None
    ping: bool | None = None
    attachments: Annotated[list[Id], Meta(max_length=MAX_ATTACHMENTS)] | None = None
    thread: Id | None = None
    previews: bool | None = None


class EditedText(Request):
    text: _Text


class Location(Request):
    channel_id: Id
    thread: Id | None = None


class ReadUpTo(Request):
    message_id: Id
    thread: Id | None = None
    back: bool | None = None


class HistoryQuery(Request):
    before: Id | None = None
    after: Id | None = None
    around: Id | None = None
    at_ms: Annotated[int, Meta(ge=0, le=LAST_MS)] | None = None
    thread: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] | None = None


class SearchQuery(Request):
    query: Annotated[str, Meta(max_length=MAX_QUERY_CHARACTERS, extra_json_schema={"minLength": 1})]
    before: Id | None = None
    limit: _Found | None = None


class LatestQuery(Request):
    before: Id | None = None
    limit: _Found | None = None


class MessageEndpoints(Endpoints):
    def __init__(self, feature: MessagesFeature) -> None:
        self._feature = feature

    @endpoint(
        _VIEWER,
        "List a page of messages, oldest first. Takes at most one of `before`, `after`, `around` "
        "and `at_ms`; without a cursor, the page is the newest",
        http=f"GET {_CHANNEL}/messages",
        live="history",
        refusals=_HERE,
    )
    async def history(self, session: Session, channel_id: Id, query: HistoryQuery) -> responses.MessagePage:
        before, after, around = _cursor(query.before), _cursor(query.after), _cursor(query.around)
        if sum(cursor is not None for cursor in (before, after, around, query.at_ms)) > 1:
            raise ChatError("invalid_request", "Only one of before, after, around and at_ms can be given")
        limit, thread = query.limit or DEFAULT_PAGE, query.thread
        wanted = PageKey(channel_id, limit, before, after, around, query.at_ms, thread)
        page = responses.page(await self._feature.history.page(session.member_id, wanted), self._feature.urls)
        if thread is not None:
            page.thread = self._feature.threads.state(session.member_id, thread, channel_id)
        return page

    @endpoint(
        _WRITER,
        "Post a message. With `attach_files`, attach up to 10 of your finished uploads",
        http=f"POST {_CHANNEL}/messages",
        live="message_send",
        refusals=(
            *_OF_TEXTS,
            "forbidden",
            "media_gone",
            "slow_mode",
            "too_slow",
            "unknown_upload",
            "upload_not_done",
        ),
        status=201,
    )
    async def send(self, session: Session, channel_id: Id, body: NewMessage) -> responses.Message:
        attachments = body.attachments or []
        if len(set(attachments)) < len(attachments):
            raise ChatError("invalid_request", "attachments must be different uploads")
        draft = Draft(
            channel_id=channel_id,
            text=body.text or "",
            nonce=body.nonce,
            reply_to=body.reply_to,
            ping=body.ping is not False,
            attachments=attachments,
            thread=body.thread,
            previews=body.previews is not False,
        )
        return self._to_response(await self._feature.messages.send(session.member_id, draft, time.time()))

    @endpoint(_VIEWER, "Get a message", http=f"GET {_MESSAGE_PATH}", refusals=_HERE)
    async def get(self, session: Session, channel_id: Id, message_id: Id) -> responses.Message:
        return self._to_response(await self._feature.history.get(session.member_id, channel_id, message_id))

    @endpoint(
        _WRITER,
        "Edit your own message. New mentions in an edit notify nobody",
        http=f"PATCH {_MESSAGE_PATH}",
        live="message_edit",
        refusals=(*_OF_TEXTS, "too_slow"),
    )
    async def edit(
        self, session: Session, channel_id: Id, message_id: Id, body: EditedText
    ) -> responses.Message:
        which = session.member_id, channel_id, message_id
        return self._to_response(await self._feature.messages.edit(*which, body.text, time.time()))

    # Deleting another member's message, or reading its edits, requires MANAGE_MESSAGES.
    @endpoint(
        _VIEWER,
        "Delete your own message or, with `manage_messages`, another member's",
        http=f"DELETE {_MESSAGE_PATH}",
        live="message_delete",
        refusals=_HERE,
    )
    async def delete(self, session: Session, channel_id: Id, message_id: Id) -> None:
        await self._feature.messages.delete(session.member_id, channel_id, message_id, time.time())

    @endpoint(
        _VIEWER,
        "List the last 50 earlier versions of a message, oldest first. For its author, and with "
        "`manage_messages`",
        http=f"GET {_MESSAGE_PATH}/edits",
        live="message_edits",
        refusals=_HERE,
    )
    async def edits(self, session: Session, channel_id: Id, message_id: Id) -> responses.Edits:
        return responses.Edits(await self._feature.history.edits(session.member_id, channel_id, message_id))

    @endpoint(
        _REACTING,
        "React with an emoji or a `:name:`. A message has at most 20 different reactions. Idempotent",
        http=f"PUT {_REACTION}",
        live="reaction_add",
        refusals=(*_HERE, "invalid_emoji", "too_many"),
    )
    async def react(self, session: Session, channel_id: Id, message_id: Id, emoji: _Emoji) -> None:
        which = session.member_id, channel_id, message_id, emoji
        await self._feature.marking.react(*which, time.time(), added=True)

    @endpoint(
        _REACTING,
        "Remove your reaction",
        http=f"DELETE {_REACTION}",
        live="reaction_remove",
        refusals=(*_HERE, "invalid_emoji"),
    )
    async def unreact(self, session: Session, channel_id: Id, message_id: Id, emoji: _Emoji) -> None:
        which = session.member_id, channel_id, message_id, emoji
        await self._feature.marking.react(*which, time.time(), added=False)

    @endpoint(
        _VIEWER,
        "Remove the link previews of your own message or, with `manage_messages`, of another "
        "member's. The message gets no new ones",
        http=f"DELETE {_MESSAGE_PATH}/previews",
        live="previews_remove",
        refusals=_HERE,
    )
    async def remove_previews(self, session: Session, channel_id: Id, message_id: Id) -> None:
        await self._feature.marking.remove_previews(session.member_id, channel_id, message_id, time.time())

    @endpoint(
        _VIEWER,
        "List pinned messages, most recently pinned first",
        http=f"GET {_CHANNEL}/pins",
        live="pins",
        refusals=("unknown_channel",),
    )
    async def pins(self, session: Session, channel_id: Id) -> responses.Messages:
        pinned = await self._feature.history.pins(session.member_id, channel_id)
        return responses.Messages(self._to_responses(pinned))

    @endpoint(
        _MANAGER,
        "Pin a message. A channel has at most 50 pins",
        http=f"PUT {_PIN}",
        live="pin_add",
        refusals=(*_HERE, "too_many"),
    )
    async def pin(self, session: Session, channel_id: Id, message_id: Id) -> None:
        which = session.member_id, channel_id, message_id
        await self._feature.marking.pin(*which, time.time(), pinned=True)

    @endpoint(_MANAGER, "Unpin a message", http=f"DELETE {_PIN}", live="pin_remove", refusals=_HERE)
    async def unpin(self, session: Session, channel_id: Id, message_id: Id) -> None:
        which = session.member_id, channel_id, message_id
        await self._feature.marking.pin(*which, time.time(), pinned=False)

    @endpoint(
        _WRITER, "Report that you are typing", http=f"POST {_CHANNEL}/typing", refusals=("unknown_channel",)
    )
    async def typing(self, session: Session, channel_id: Id) -> None:
        self._feature.presence.typing(session.member_id, channel_id, time.time())

    @endpoint(
        _WRITER,
        "Report that you are typing, in a channel or a thread. Repeat it every 3 s; the server "
        "drops more frequent reports",
        live="typing",
        refusals=_HERE,
    )
    async def typing_in(self, session: Session, body: Location) -> None:
        _cursor(body.thread)  # Validate the id, because it is sent to other members.
        self._feature.presence.typing(session.member_id, body.channel_id, time.time(), body.thread)

    @endpoint(
        _VIEWER,
        "Mark everything up to a message of a channel or thread as read. With `back`, in a "
        "channel, mark the message and everything after it as unread",
        http=f"POST {_CHANNEL}/read",
        live="read",
        refusals=_HERE,
    )
    async def read(
        self, session: Session, channel_id: Id, body: ReadUpTo
    ) -> responses.Unread | responses.ThreadState:
        member_id, message_id = session.member_id, body.message_id
        if body.thread is not None:
            if body.back:
                raise ChatError("invalid_request", "back is for channels, not for threads")
            return await self._feature.threads.read(member_id, channel_id, body.thread, message_id)
        if body.back:
            return await self._feature.reads.unread(member_id, channel_id, message_id)
        return await self._feature.reads.read(member_id, channel_id, message_id)

    @endpoint(
        MEMBER,
        "Search messages by words and filters in channels that you can view, newest first",
        http="GET /api/search",
        live="search",
        refusals=("invalid_query", "search_busy", "search_running", "search_too_long", *_HERE),
        # A search can cost as much as many pages of history.
        cost=3.0,
    )
    async def search(self, session: Session, query: SearchQuery) -> responses.FoundMessages:
        limit = query.limit or DEFAULT_FOUND
        messages, more = await self._feature.search.find(session.member_id, query.query, query.before, limit)
        return responses.FoundMessages(self._to_responses(messages), more)

    @endpoint(
        MEMBER,
        "List messages that mention you by name, by a role, by `here` or by `everyone`, and "
        "replies that notify you, newest first",
        http="GET /api/me/mentions",
        live="mentions",
        refusals=("unknown_message",),
    )
    async def mentions(self, session: Session, query: LatestQuery) -> responses.FoundMessages:
        limit = query.limit or DEFAULT_FOUND
        messages, more = await self._feature.search.mentions(session.member_id, _cursor(query.before), limit)
        return responses.FoundMessages(self._to_responses(messages), more)

    @endpoint(
        MEMBER,
        "List the threads that you follow, the one with the newest message first. `root` is null "
        "if the root was deleted",
        http="GET /api/me/threads",
        live="threads",
        refusals=("unknown_message",),
    )
    async def threads(self, session: Session, query: LatestQuery) -> responses.FollowedThreads:
        limit = query.limit or DEFAULT_FOUND
        followed, more = await self._feature.threads.followed_threads(
            session.member_id, _cursor(query.before), limit
        )
        threads = [
            responses.FollowedThread(
                **structs.asdict(state), root=None if root is None else self._to_response(root)
            )
            for root, state in followed
        ]
        return responses.FollowedThreads(threads, more)

    @endpoint(
        _VIEWER,
        "Follow a thread from its last message on",
        http=f"PUT {_MESSAGE_PATH}/follow",
        live="thread_follow",
        refusals=_HERE,
    )
    async def follow(self, session: Session, channel_id: Id, message_id: Id) -> responses.ThreadState:
        return await self._feature.threads.follow(session.member_id, channel_id, message_id)

    @endpoint(
        _VIEWER,
        "Unfollow a thread, until you write or are mentioned there again",
        http=f"DELETE {_MESSAGE_PATH}/follow",
        live="thread_unfollow",
        refusals=_HERE,
    )
    async def unfollow(self, session: Session, channel_id: Id, message_id: Id) -> responses.ThreadState:
        return await self._feature.threads.unfollow(session.member_id, channel_id, message_id)

    def _to_response(self, message: Message) -> responses.Message:
        return responses.message(message, self._feature.urls)

    def _to_responses(self, messages: Sequence[Message]) -> list[responses.Message]:
        return [self._to_response(message) for message in messages]


def _cursor(message_id: str | None) -> int | None:
    return None if message_id is None else number_of(message_id)


# Online members, and whether each of them is idle or has do-not-disturb on.
_PRESENT = dict.fromkeys(("online", "idle", "do_not_disturb"), Sequence[Id])
_VIEWERS = "members who may view the channel"

DESCRIPTION = describe_feature(
    MessageEndpoints,
    pushes=[
        Event(
            "message_posted",
            "A message was posted. `nonce` is the one that its client sent",
            responses.MessagePosted,
            to=_VIEWERS,
        ),
        Event(
            "message_edited",
            "A message was edited",
            responses.MessageEdited,
            to=_VIEWERS,
        ),
        Event(
            "attachments_changed",
            "The description of a file of a message was changed",
            responses.AttachmentsChanged,
            to=_VIEWERS,
        ),
        Event(
            "previews_changed",
            "The link previews of a message arrived or were removed",
            responses.PreviewsChanged,
            to=_VIEWERS,
        ),
        Event(
            "message_deleted",
            "A message was deleted",
            responses.MessageDeleted,
            to=_VIEWERS,
        ),
        Event(
            "thread_changed",
            "The thread of a message changed. `answers` is null if the thread is empty",
            responses.ThreadChanged,
            to=_VIEWERS,
        ),
        Event(
            "thread_state", "The member's state of a thread changed", responses.ThreadState, to="the member"
        ),
        Event(
            "reactions_changed",
            "A member added or removed a reaction",
            responses.ReactionsChanged,
            to=_VIEWERS,
        ),
        Event(
            "pins_changed",
            "A message was pinned or unpinned",
            responses.PinsChanged,
            to=_VIEWERS,
        ),
        Event("unread", "The counts of a channel changed", responses.Unread, to="the member"),
        Event(
            "typing",
            "A member is typing. Show it for six seconds",
            responses.Typing,
            to="other members who may view the channel",
            kept=False,
        ),
        Event(
            "presence",
            "A member came online, went offline, or changed their presence",
            responses.Presence,
            to="other members",
            kept=False,
        ),
    ],
    welcome={
        "unread": Sequence[responses.Unread],
        **_PRESENT,
        "threads": Annotated[Sequence[responses.ThreadState], Meta(max_length=MAX_FOLLOWED)],
    },
    present=_PRESENT,
)
