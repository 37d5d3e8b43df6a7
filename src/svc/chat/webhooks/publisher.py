"""Posts webhook messages: looks up the webhook, applies the rate limit, and writes the message.

`post` posts payloads in our format, and payloads converted from other services' formats. A rejected post
stores nothing. This module contains neither HTTP nor SQL code. See docs/webhooks.md.

For the rate limit, each webhook has one token bucket for all callers. A request to an empty bucket starts a
block. Requests during a block neither extend it nor take tokens, and the bucket is full afterwards. A second
limit counts the bytes sent by all webhooks of one creator, and by all webhooks in one channel. Bodies are
parsed one at a time with pauses in between, so members get their share of the event loop regardless of how
many posts arrive. The outcomes of a webhook's last posts are recorded for its managers: the reason for an
error, but not the content. Limits and outcomes are in memory and lost on restart, so a flood of bad posts
causes no writes. Only existing webhooks are recorded, which limits memory use.
"""

import unicodedata
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, structs, to_builtins

from svc.base.database import Connection, Database, Write
from svc.base.time_slices import TimeSlices, Work
from svc.base.token_bucket import TokenBucket, TokenBuckets
from svc.chat.access.checked_writes import shared_write
from svc.chat.errors import ChatError
from svc.chat.media.stored_media import MESSAGE
from svc.chat.messages.message import WEBHOOK, Author, Message
from svc.chat.messages.profanity import OFF, ModeratedText, ScannedText, Span, moderating
from svc.chat.messages.rules import Messages
from svc.chat.names import has_visible_text
from svc.chat.schemas import Id, TimeMs
from svc.chat.uploads.file_names import readable_file_name
from svc.chat.uploads.upload import keys_of
from svc.chat.webhooks import responses
from svc.chat.webhooks.json_reader import PayloadWarning, Problem
from svc.chat.webhooks.limits import (
    BLOCK_MS,
    BURST,
    MAX_DISPLAY_NAME,
    MAX_WEBHOOKS,
    MIN_COUNTED_BYTES,
    REFILL_MS,
    SHARED_BURST_BYTES,
    SHARED_BYTES_PER_S,
    WORK_DEADLINE_S,
)
from svc.chat.webhooks.payload import (
    AVATAR_PATH,
    InvalidPayload,
    Payload,
    WantedPicture,
    parse,
    stored_cards,
    wanted_pictures,
    with_texts,
)
from svc.chat.webhooks.pictures import MAX_FILES, Pictures, PostedFile, StoredAttachments, StoredPictures
from svc.chat.webhooks.responses import NamedProblem
from svc.chat.webhooks.rules import Webhook, Webhooks, holder_of

T = TypeVar("T")
# A string, and the spans in it that are flagged for moderators.
Marked = tuple[str, Sequence[Span]]


class Limiter:
    """The rate limit for each webhook. Times are whole milliseconds on a monotonic clock."""

    def __init__(self) -> None:
        self._buckets: dict[str, TokenBucket] = {}
        self._blocked_until_ms: dict[str, int] = {}

    def take(self, webhook_id: str, now_ms: int) -> int:
        """Count a request.

        Return 0 if it may pass, otherwise how long the webhook is blocked, in ms.
        """
        if wait_ms := self.wait_ms(webhook_id, now_ms):
            return wait_ms
        if self._blocked_until_ms.pop(webhook_id, 0):
            del self._buckets[webhook_id]
        # The bucket regains 1 token per millisecond, and a request costs REFILL_MS tokens.
        bucket = self._buckets.setdefault(webhook_id, TokenBucket(BURST * REFILL_MS, 1))
        if bucket.take_if_left(now_ms, REFILL_MS):
            self._blocked_until_ms[webhook_id] = now_ms + BLOCK_MS
        return self.wait_ms(webhook_id, now_ms)

    def wait_ms(self, webhook_id: str, now_ms: int) -> int:
        """Return how long the webhook is still blocked, in ms, without counting a request."""
        return max(0, self._blocked_until_ms.get(webhook_id, 0) - now_ms)

    def forget(self, webhook_id: str) -> None:
        self._buckets.pop(webhook_id, None)
        self._blocked_until_ms.pop(webhook_id, None)


class SharedByteLimit:
    """The limit for the bytes sent by all webhooks of one creator, and by all webhooks in one channel."""

    def __init__(self) -> None:
        self._by_key = TokenBuckets(SHARED_BURST_BYTES, SHARED_BYTES_PER_S, 2 * MAX_WEBHOOKS)

    def take(self, webhook: Webhook, size: int, now_ms: int) -> int:
        """Count a body.

        Return 0 if it may pass, otherwise the time in ms after which it might pass.
        """
        keys = [holder_of(webhook.created_by)]
        keys += [] if webhook.channel_id is None else [f"channel {webhook.channel_id}"]
        cost, now = max(size, MIN_COUNTED_BYTES), now_ms / 1000
        missing = max(cost - self._by_key.left(key, now) for key in keys)
        if missing > 0:
            return max(1, round(missing / SHARED_BYTES_PER_S * 1000))
        for key in keys:
            self._by_key.of(key).take(now, cost)
        return 0


MAX_KEPT = 20
# The maximum number of problems to record per attempt, and the maximum length of their paths. The first few
# problems are enough, and paths can contain any key that the sender has made up.
MAX_NAMED, MAX_PATH = 5, 64


@dataclass(frozen=True, slots=True)
class Attempt:
    at_ms: TimeMs
    outcome: Literal["posted", "refused", "ignored"]
    # The reason for rejecting the post, as a code from `errors`.
    error: str | None = None
    message_id: Id | None = None
    channel_id: Id | None = None
    # The problems of a rejected post, or the warnings about an accepted post.
    named: Annotated[tuple[NamedProblem, ...], Meta(max_length=MAX_NAMED)] = ()
    # The number of identical attempts in a row. `at_ms` is the time of the last one.
    times: Annotated[int, Meta(ge=1)] = 1


class PostHistory:
    """The latest attempts to post to each webhook. Times are in milliseconds since 1970."""

    def __init__(self) -> None:
        self._by_webhook: dict[str, deque[Attempt]] = {}

    def note(self, webhook_id: str, attempt: Attempt) -> None:
        attempts = self._by_webhook.setdefault(webhook_id, deque(maxlen=MAX_KEPT))
        # Merge identical attempts. Otherwise, a sender that keeps posting too fast would displace all other
        # entries.
        if attempts and attempt.outcome != "posted" and _alike(attempts[-1], attempt):
            attempts[-1] = replace(attempt, times=attempts[-1].times + 1)
        else:
            attempts.append(attempt)

    def of(self, webhook_id: str, may_view: Callable[[str], bool]) -> list[Attempt]:
        """Return the attempts, newest first.

        A webhook may have posted to channels that this manager cannot see. Such attempts do not include the
        ids of the channel and the message.
        """
        attempts = reversed(self._by_webhook.get(webhook_id, ()))
        return [
            attempt
            if attempt.channel_id is None or may_view(attempt.channel_id)
            else replace(attempt, message_id=None, channel_id=None)
            for attempt in attempts
        ]

    def forget(self, webhook_id: str) -> None:
        self._by_webhook.pop(webhook_id, None)


def problem_names(problems: Sequence[Mapping[str, object]]) -> tuple[NamedProblem, ...]:
    """Return the paths and codes of the first few problems or warnings."""
    return tuple(
        NamedProblem(str(problem["path"])[:MAX_PATH], str(problem["code"]))
        for problem in problems[:MAX_NAMED]
    )


def _alike(one: Attempt, other: Attempt) -> bool:
    return (one.outcome, one.error, one.named) == (other.outcome, other.error, other.named)


NOTHING_COLLECTED = StoredPictures({}, ())
# Characters that change the text direction, even of surrounding text from others.
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The number of characters to read from a name. A name can have 250,000 characters, of which 64 are shown.
_MAX_READ = 1_000

NOTHING_ATTACHED = StoredAttachments()
# Fetches images for a holder. Failures become warnings.
Collect = Callable[[Sequence[WantedPicture], str], Awaitable[StoredPictures]]
# Stores files for a holder. Failures become warnings.
Attach = Callable[[Sequence[PostedFile], str], Awaitable[StoredAttachments]]


@dataclass(frozen=True, slots=True)
class PublishedPost:
    message: Message
    warnings: Sequence[PayloadWarning]

    def receipt(self) -> responses.Receipt:
        return responses.Receipt(self.message.id, self.message.channel_id, self.warnings)


class Publisher:
    """The service that posts webhook messages. `profanity_mode` returns the setting `profanityMode`."""

    def __init__(
        self,
        database: Database,
        webhooks: Webhooks,
        messages: Messages,
        pictures: Pictures,
        attach: Attach,
        profanity_mode: Callable[[], str],
    ) -> None:
        self._database = database
        self._webhooks = webhooks
        self._messages = messages
        self.collect: Collect = pictures.collect
        self._attach = attach
        self._media = pictures.media
        self._profanity_mode = profanity_mode
        self._limiter = Limiter()
        self._shared = SharedByteLimit()
        self._slices = TimeSlices()
        self.history = PostHistory()
        webhooks.gone.extend([self._limiter.forget, self.history.forget])

    async def admit(
        self, webhook_id: str, token: str, now_ms: int, size: int, check: Callable[[], T]
    ) -> tuple[Webhook, T]:
        """Return the webhook with the given id and token if it may post now, and the result of `check`, which
        checks the body.

        Checking a body can be expensive, so it is skipped for unknown URLs and blocked webhooks. An invalid
        body is not counted. `size` is the body's size, and `now_ms` is a monotonic time in whole
        milliseconds. Raises ChatError, as does `check`.
        """
        webhook = self._webhooks.find(webhook_id, token)
        if not (wait_ms := self._limiter.wait_ms(webhook_id, now_ms)):
            body = await self.run_queued(check)
            # The webhook may have been deleted.
            webhook = self._webhooks.find(webhook_id, token)
            wait_ms = self._limiter.take(webhook_id, now_ms) or self._shared.take(webhook, size, now_ms)
        if wait_ms:
            raise ChatError("rate_limited", more={"retry_after_ms": wait_ms})
        if webhook.channel_id is None:
            raise ChatError("no_channel")
        return webhook, body

    async def run_queued(self, step: Callable[[], T]) -> T:
        """Run a step of parsing a post after all earlier steps in the queue. Raises ChatError."""
        try:
            return await self._slices.run(step, WORK_DEADLINE_S)
        except TimeoutError:
            raise _busy() from None

    async def attach(self, webhook: Webhook, files: Sequence[PostedFile]) -> StoredAttachments:
        """Store a post's files before its message is created. Raises ChatError if a name is rejected."""
        if not files:
            return NOTHING_ATTACHED
        # Files beyond the limit are omitted, so their names need no moderation here.
        shown = [
            await self.run_queued(partial(self._with_moderated_name, file)) for file in files[:MAX_FILES]
        ]
        shown += files[MAX_FILES:]
        return await self._attach(shown, holder_of(webhook.created_by))

    def _with_moderated_name(self, file: PostedFile) -> PostedFile:
        return replace(file, name=self._messages.moderate_text(readable_file_name(file.name[-_MAX_READ:])))

    async def post(
        self, webhook: Webhook, payload: object, attached: StoredAttachments = NOTHING_ATTACHED
    ) -> PublishedPost:
        """Post a payload to the channel of an admitted webhook. Raises ChatError."""
        parsed = await self.run_queued(lambda: parse(payload, filled=bool(attached.attachments)))
        if isinstance(parsed, InvalidPayload):
            raise refusal(parsed.problems)
        moderated_payload, marked = await self._moderate_payload(parsed)
        wanted, holder = wanted_pictures(moderated_payload), holder_of(webhook.created_by)
        collected = await self.collect(wanted, holder) if wanted else NOTHING_COLLECTED
        posted = PublishedPost(
            await self._write(
                webhook.id, moderated_payload, collected.pictures, marked, attached.attachments
            ),
            [*moderated_payload.warnings, *collected.warnings, *attached.warnings],
        )
        named = problem_names(list(map(asdict, posted.warnings)))
        where = posted.message.id, posted.message.channel_id
        self.history.note(webhook.id, Attempt(posted.message.posted_at_ms, "posted", None, *where, named))
        return posted

    def refused(self, webhook_id: str, token: str, refusal: ChatError | None, at_ms: int) -> None:
        """Record a request that was rejected or had nothing to post. Does nothing if its URL is invalid."""
        with suppress(ChatError):
            webhook = self._webhooks.find(webhook_id, token)
            if refusal is None:
                self.history.note(webhook.id, Attempt(at_ms, "ignored"))
                return
            problems = refusal.more.get("problems")
            named = problem_names(problems) if isinstance(problems, list) else ()
            self.history.note(webhook.id, Attempt(at_ms, "refused", refusal.code, named=named))

    async def _moderate_payload(self, payload: Payload) -> tuple[Payload, Sequence[Marked]]:
        """Return the moderated payload, and its strings that contain flagged words. Raises ChatError."""
        if self._profanity_mode() == OFF:
            return payload, ()
        try:
            return await self._slices.finish(self._judging(payload), WORK_DEADLINE_S)
        except TimeoutError:
            raise _busy() from None

    def _judging(self, payload: Payload) -> Work[tuple[Payload, Sequence[Marked]]]:
        mode, marked = self._profanity_mode(), list[Marked]()

        def moderate(text: str) -> Work[str]:
            verdict = yield from moderating(ScannedText(text), mode)
            if verdict.flagged:
                marked.append((text, verdict.matches))
            return verdict.text

        # Only the visible part of the name needs moderation.
        name = None if payload.display_name is None else visible_name(payload.display_name, "")
        if name is not None:
            name = yield from moderate(name)
        text, cards = (yield from moderate(payload.text)), []
        for card in payload.cards:
            cards.append((yield from with_texts(card, moderate)))
        return replace(payload, text=text, display_name=name, cards=cards), marked

    @shared_write
    def _write(
        self,
        webhook_id: str,
        payload: Payload,
        pictures: Mapping[str, Mapping[str, object]],
        marked: Sequence[Marked],
        attachments: Sequence[Mapping[str, object]],
    ) -> Write[None, Message]:
        """Write the message to the webhook's current channel."""
        webhook = self._webhooks.current(webhook_id)
        if webhook.channel_id is None:
            raise ChatError("no_channel")
        self._messages.require_open(webhook.channel_id)
        avatar = pictures.get(AVATAR_PATH)
        picture = str(avatar["key"]) if avatar else webhook.picture
        author = Author(WEBHOOK, webhook.id, visible_name(payload.display_name, webhook.name), picture)
        cards = stored_cards(payload.cards, pictures)
        moderated_text = ModeratedText(payload.text, flagged=bool(marked))
        message = self._messages.new(webhook.channel_id, author, moderated_text, cards=cards)
        if attachments:
            message = structs.replace(message, attachments=attachments)
        case = self._messages.case(message, *_join(marked), message.posted_at_ms / 1000)
        keys = {str(picture_record["key"]) for picture_record in pictures.values()} | (
            {picture} if picture else set()
        )
        keys.update(key for file in attachments for key in keys_of(file))

        def insert(connection: Connection) -> None:
            self._messages.insert(connection, message)
            if case is not None:
                case.write(connection)
            for key in sorted(keys):
                self._media.refer(connection, key, MESSAGE, message.id)

        def posted(_: None) -> Message:
            self._messages.posted(message)
            if case is not None:
                case.filed()
            return message

        return Write(insert, posted)


def _join(marked: Sequence[Marked]) -> Marked:
    """Join the strings into one, and return it with the spans of the flagged words."""
    joined: list[Span] = []
    before = 0
    for text, spans in marked:
        joined += [(before + start, before + end) for start, end in spans]
        before += len(text) + 1
    return "\n".join(text for text, _ in marked), joined


def _busy() -> ChatError:
    return ChatError("too_slow", "Too many posts are waiting to be read. Try again later")


def refusal(problems: Sequence[Problem]) -> ChatError:
    """Return the error for the sender. If the only problem is a missing or overlong text, it has a specific
    code.
    """
    match problems:
        case [Problem("text", "required")]:
            return ChatError("empty_message")
        case [Problem("text", "too_long")]:
            return ChatError("message_too_long")
    shown = [responses.problem(problem) for problem in problems]
    message = f"{shown[0].path or 'payload'}: {shown[0].message}"
    if more := len(shown) - 1:
        message += f" (and {more} more)"
    return ChatError("invalid_payload", message, {"problems": to_builtins(shown)})


def visible_name(wanted: str | None, name: str) -> str:
    """Return the visible part of the name that the sender chose, or the webhook's name if nothing is visible.

    The name has one line. A long name is truncated, not rejected.
    """
    if wanted is None:
        return name
    visible = "".join(_visible(character) for character in wanted[:_MAX_READ])
    cut = " ".join(visible.split())[:MAX_DISPLAY_NAME].rstrip()
    return cut if has_visible_text(cut) else name


def _visible(character: str) -> str:
    if character in _DIRECTION_CONTROLS:
        return ""
    return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
