"""Sends push notifications for new messages through the browsers' push services.

Members are notified according to their levels while none of their clients is visible. Each device has one
sender task and a short queue, where a newer notification for a channel replaces an older one. Content is
encrypted, so a push service learns only when a device is notified.
"""

import asyncio
import hashlib
import logging
import re
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from svc.base.backoff import Backoff
from svc.base.strict_json import dumps
from svc.base.token_bucket import TokenBuckets
from svc.chat.errors import ChatError
from svc.chat.messages.history import History
from svc.chat.messages.message import MEMBER, Message, fallback
from svc.chat.notification_levels.rules import NotificationLevels
from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.fetcher import Poster, PostResult
from svc.chat.push.encryption import SALT_BYTES, VapidKey, base64url, encrypt
from svc.chat.push.subscriptions import Subscription, Subscriptions
from svc.chat.services import Services

MENTION, MESSAGE, CALL = "mention", "message", "call"
# How long a push service stores a notification for an offline device. Mentions still matter after a day,
# ordinary messages do not, and a call rings for 45 s.
TTL_S = {MENTION: 24 * 3600, MESSAGE: 3600, CALL: 45}
URGENCY = {MENTION: "high", MESSAGE: "normal", CALL: "high"}
# The rate limits per member, as a burst and a rate per second. In a busy channel, a member gets a short burst
# of notifications, and then one from time to time. Mentions have a separate limit.
BURST = 10
PER_S = {MENTION: 0.2, MESSAGE: 0.05, CALL: 0.05}
_MAX_MEMBERS = 10_000
# The maximum number of devices with a running sender. Each sender uses a few KB.
MAX_DEVICES = 2000
# The maximum number of queued notifications per device, at most one per channel and kind. Above this number,
# the oldest is dropped.
MAX_NOTICES = 8
# The timeout for an attempt, including the wait for a slot and the DNS look-up. Push services respond within
# a second.
DEADLINE_S = 15.0
ATTEMPTS = 4
FIRST_DELAY_S, MAX_DELAY_S = 5.0, 120.0
MAX_TEXT_CHARACTERS = 300
# All notifications are padded to this length, so that their length reveals nothing.
PADDED_BYTES = 2048
# Matches words that may be device URLs or tokens, because they are longer than ordinary words.
_LONG_WORD = re.compile(r"[\w.~%+=-]{24,}")
MIN_SECRET_CHARACTERS = 8
MAX_LOGGED_CHARACTERS = 200
OK = range(200, 300)
GONE = (404, 410)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Notification:
    kind: str  # MENTION, MESSAGE or CALL
    # The id of a channel or of a private conversation.
    place_id: str
    # Called when the notification is sent. Returns its content for the member, or None if the member must not
    # be notified.
    content: Callable[[str], Awaitable[bytes | None]] = field(repr=False)

    @property
    def topic(self) -> str:
        """The notification's topic. A push service stores only the newest notification per topic (RFC 8030
        section 5.4).
        """
        return base64url(hashlib.sha256(f"{self.kind} {self.place_id}".encode()).digest())[:32]


@dataclass(frozen=True, slots=True)
class _Attempt:
    outcome: str
    may_help_again: bool = False
    # The number of seconds to wait before the next attempt, according to the push service.
    wait_s: int = 0


@dataclass(frozen=True, slots=True)
class PushPreferences:
    """Members' preferences: notification levels, blocked members, and followed threads."""

    levels: NotificationLevels
    blocks: Callable[[str, str], bool]
    follows: Callable[[str, str], bool]


class PushNotifier:
    """The sender of push notifications. `outcomes` counts the results of the attempts."""

    def __init__(
        self,
        services: Services,
        history: History,
        wants: PushPreferences,
        subscriptions: Subscriptions,
        poster: Poster,
        key: VapidKey,
        outcomes: Counter[tuple[str, ...]],
    ) -> None:
        self._directory, self._hub = services.directory, services.hub
        self._history = history
        self._subscriptions = subscriptions
        self._poster = poster
        self._key = key
        self._wants = wants
        self._outcomes = outcomes
        self._now = time.time
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self._buckets = {kind: TokenBuckets(BURST, PER_S[kind], _MAX_MEMBERS) for kind in PER_S}
        # The queued notifications for each device with a running sender, by topic, oldest first.
        self._waiting: dict[str, OrderedDict[str, Notification]] = {}
        self._senders: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as self._senders:
                await asyncio.Event().wait()  # Runs until the server stops.
        finally:
            self._senders = None

    def posted(self, message: Message) -> None:
        """Notify the members who have chosen to be notified about this message."""
        reachable = self._subscriptions.members()
        if not reachable:
            return
        now = self._now()
        for member_id in reachable & self._directory.viewers(message.channel_id):
            if (kind := self._kind(member_id, message, now)) is not None:
                content = partial(self._content, kind, message.channel_id, message.id)
                self._ring(member_id, Notification(kind, message.channel_id, content), now)

    def privately(
        self, kind: str, conversation_id: str, member_ids: Collection[str], allowed: Callable[[str], bool]
    ) -> None:
        """Notify members about a call, or about a message that the server cannot read. The notification
        contains only its kind and the conversation's id.
        """
        reachable = self._subscriptions.members()
        now = self._now()

        async def content(member_id: str) -> bytes | None:
            return dumps({"kind": kind, "talk_id": conversation_id}) if allowed(member_id) else None

        for member_id in reachable & set(member_ids):
            if not self._hub.in_sight(member_id) and not self._wants.levels.quiet(member_id):
                self._ring(member_id, Notification(kind, conversation_id, content), now)

    def _kind(self, member_id: str, message: Message, now: float) -> str | None:
        """Return the kind of a member's notification about a message, or None for no notification."""
        author = message.author
        if author.kind == MEMBER and (author.id == member_id or self._wants.blocks(member_id, author.id)):
            return None
        if self._hub.in_sight(member_id):
            return None
        level = self._wants.levels.level(member_id, message.channel_id, int(now * 1000))
        if level == "nothing":
            return None
        if member_id in message.notified:
            return MENTION
        if message.thread is not None and not self._wants.follows(member_id, message.thread):
            return None
        return MESSAGE if level == "all" else None

    async def _content(self, kind: str, channel_id: str, message_id: str, member_id: str) -> bytes | None:
        """Return the content of a message's notification, or None if the message is deleted or hidden from
        the member.
        """
        try:
            message = await self._history.get(member_id, channel_id, message_id)
            channel = self._directory.channel(member_id, channel_id)
        except ChatError:
            return None
        return dumps(
            {
                "kind": kind,
                "channel_id": channel.id,
                "channel": channel.name,
                "message_id": message.id,
                "thread": message.thread,
                "author": message.author.display_name,
                "text": (message.text or fallback(message.cards) or "")[:MAX_TEXT_CHARACTERS],
                "files": len(message.attachments),
                "posted_at_ms": message.posted_at_ms,
            }
        )

    def _ring(self, member_id: str, notice: Notification, now: float) -> None:
        if self._buckets[notice.kind].of(member_id).take_if_left(now):
            self._count("rate_limited")
            return
        for session_id in self._subscriptions.of(member_id):
            waiting = self._waiting.get(session_id)
            if waiting is None:
                if self._senders is None or len(self._waiting) >= MAX_DEVICES:
                    self._count("dropped")
                    continue
                waiting = self._waiting[session_id] = OrderedDict()
                self._senders.create_task(self._send_all(member_id, session_id))
            waiting.pop(notice.topic, None)
            waiting[notice.topic] = notice
            if len(waiting) > MAX_NOTICES:
                waiting.popitem(last=False)
                self._count("dropped")

    async def _send_all(self, member_id: str, session_id: str) -> None:
        """Send a device's queued notifications, including those added meanwhile."""
        waiting = self._waiting[session_id]
        backoff = Backoff(FIRST_DELAY_S, MAX_DELAY_S, jitter=secrets.SystemRandom().random)
        attempts = 0
        try:
            while waiting:
                topic, notice = waiting.popitem(last=False)
                attempt = await self._attempt(member_id, session_id, notice)
                self._count(attempt.outcome)
                attempts = attempts + 1 if attempt.may_help_again else 0
                if not attempts:
                    backoff.reset()
                elif attempts < ATTEMPTS:
                    waiting.setdefault(topic, notice)
                    waiting.move_to_end(topic, last=False)
                    await self._sleep(max(attempt.wait_s, backoff.next_delay()))
                else:
                    self._count("given_up")
                    attempts = 0
        except Exception:
            logger.exception("notifying a device failed", extra={"member": member_id})
        finally:
            del self._waiting[session_id]

    async def _attempt(self, member_id: str, session_id: str, notice: Notification) -> "_Attempt":
        """Send a notification, unless the member must not be notified."""
        now = self._now()
        subscription = await self._subscriptions.current(member_id, session_id, int(now * 1000))
        if subscription is None:
            return _Attempt("gone")
        content = await notice.content(member_id)
        if content is None or self._hub.in_sight(member_id) or self._wants.levels.quiet(member_id):
            return _Attempt("not_needed")
        try:
            posted = await self._post(subscription, notice, content, now)
        except FetchError as refusal:
            if refusal.code != "blocked":
                return _Attempt("unreachable", may_help_again=True)
            await self._subscriptions.delete_unknown(subscription)
            return _Attempt("blocked")
        status = posted.status
        if status in GONE:
            await self._subscriptions.delete_unknown(subscription)
            return _Attempt("gone")
        if status == 429 or status >= 500:
            return _Attempt("busy", may_help_again=True, wait_s=posted.retry_after_s)
        if status in OK:
            return _Attempt("sent")
        service = self._poster.judge(subscription.endpoint)
        details = {
            "status": status,
            "service": service.host,
            "answer": _without_secrets(posted.body, service.parts),
        }
        logger.warning("a push service refused a notification", extra=details)
        return _Attempt("refused")

    async def _post(self, to: Subscription, notice: Notification, content: bytes, now: float) -> PostResult:
        body = encrypt(
            content,
            receiver=to.public_key,
            secret=to.secret,
            sender=generate_private_key(SECP256R1()),
            salt=secrets.token_bytes(SALT_BYTES),
            padded_to=PADDED_BYTES,
        )
        headers = {
            "Authorization": self._key.authorization(str(self._poster.judge(to.endpoint).origin()), now),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(TTL_S[notice.kind]),
            "Topic": notice.topic,
            "Urgency": URGENCY[notice.kind],
        }
        return await self._poster.post(to.endpoint, body, headers, within_s=DEADLINE_S, holder=to.member_id)

    def _count(self, outcome: str) -> None:
        self._outcomes[(outcome,)] += 1


def _without_secrets(answer: bytes, path: Sequence[str]) -> str:
    """Return a push service's response for the log, without anything that could be a device's URL or
    token.
    """
    text = " ".join(answer.decode(errors="replace").split())
    for part in sorted(path, key=len, reverse=True):
        if len(part) >= MIN_SECRET_CHARACTERS:
            text = text.replace(part, "…")
    readable = "".join(character if character.isprintable() else "?" for character in text)
    return _LONG_WORD.sub("…", readable)[:MAX_LOGGED_CHARACTERS]
