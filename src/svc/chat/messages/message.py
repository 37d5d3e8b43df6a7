"""Defines the message record, its cursor and its fallback line.

A message's author is a member or a webhook. This module stores nothing. See docs/webhooks.md, "A message" and
docs/http.md, "Messages".
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from svc.chat.errors import ChatError

MAX_TEXT_CHARACTERS = 4_000
MEMBER, WEBHOOK = "member", "webhook"

_ID_CHARACTERS = 36
# An id has 128 bits: 48 for the time in milliseconds, 4 for the version, 12 for a counter, and 64 random or
# fixed bits.
_COUNTER_BITS = 12
# The latest time that an id can represent.
LAST_MS = 2**48 - 1

# The maximum length of the fallback line. Phones do not show more of a notification.
MAX_FALLBACK_CHARACTERS = 200
# Text is truncated to this length before links are removed, even if it consists mostly of URLs.
_MAX_READ = 1_000
PICTURE = "A picture"
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_SCHEME = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,31}:(?://|(?=mention))|\bmention:", re.IGNORECASE)
# An invisible character, inserted to prevent the following text from becoming a link or a mention.
_APART = "\u200b"


class Author(Struct, frozen=True):
    kind: str  # MEMBER or WEBHOOK
    id: str
    display_name: str
    # The key of a webhook's profile picture. A member's message shows the member's current profile picture.
    avatar: str | None = None
    # Whether the member is a bot.
    bot: bool = False

    def is_member(self, member_id: str) -> bool:
        return (self.kind, self.id) == (MEMBER, member_id)


class ThreadSummary(Struct, frozen=True):
    """A thread's number of replies and last reply."""

    count: int
    last_n: int
    last_id: str
    last_at_ms: int


class Message(Struct, frozen=True):
    """A message. Its cursor `n` consists of the time and the counter in `id`, so cursors and ids sort in the
    same order.
    """

    n: int
    id: str
    channel_id: str
    author: Author
    text: str
    reply_to: str | None = None
    # Members who may view the channel and are mentioned in the text or by a reply.
    mentions: tuple[str, ...] = ()
    # The mentioned groups: `everyone`, `here`, and ids of roles.
    groups: tuple[str, ...] = ()
    # The members for whom the message counts as a mention. Set only during posting.
    notified: tuple[str, ...] = ()
    cards: Sequence[object] = ()
    attachments: Sequence[object] = ()
    flagged: bool = False
    edited_at_ms: int | None = None
    # The time of posting, if it differs from the time in `n`. It can differ after the clock is set back,
    # because `n` never decreases.
    stamp_ms: int | None = None
    # The members who reacted with each emoji, earliest first. Emoji are sorted by code point, so clients that
    # apply changes get the same order.
    reactions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pinned: bool = False
    # The link previews. Their images have the same format as images in cards. Empty if `no_previews` is set.
    previews: Sequence[object] = ()
    no_previews: bool = False
    # The id of the thread's root message. None for a message in the channel itself.
    thread: str | None = None
    # The thread whose root is this message. None if it has no thread.
    answers: ThreadSummary | None = None
    # The thread's summary after this message was posted or deleted. Set only during that write transaction.
    thread_summary: ThreadSummary | None = None
    # The members who start following the thread because of this message, and the (member, thread) pairs to
    # unfollow because these members have reached their limit.
    joining: tuple[str, ...] = ()
    to_unfollow: Sequence[tuple[str, str]] = ()
    # The number of attachments that were deleted when their retention period ended.
    expired_attachments: int = 0

    @property
    def posted_at_ms(self) -> int:
        return moment_of(self.n, self.stamp_ms)


def number_of(message_id: str) -> int:
    """Return the cursor in a message id, even of a deleted message. Raises ChatError for a malformed id."""
    try:
        if len(message_id) != _ID_CHARACTERS or message_id[14] != "7":
            raise ValueError
        # The id has 8-4-4-4-12 hexadecimal digits. The third group begins with the version.
        digits = message_id[0:8] + message_id[9:13] + message_id[15:18]
        if not digits.isascii() or not digits.isalnum():
            raise ValueError
        return int(digits, 16)
    except ValueError:
        raise ChatError("unknown_message") from None


def last_id_of(n: int) -> str:
    """Return a string that sorts after every id with this cursor, and before the ids with the next cursor."""
    digits = f"{n:015x}"
    return f"{digits[:8]}-{digits[8:12]}-7{digits[12:]}-ffff-ffffffffffff"


def moment_of(n: int, stamp_ms: int | None) -> int:
    """Return the time at which a message was posted: `stamp_ms`, or the time in its cursor."""
    return n >> _COUNTER_BITS if stamp_ms is None else stamp_ms


def first_number_at(ms: int) -> int:
    """Return the smallest cursor that a message posted at this time can have."""
    return ms << _COUNTER_BITS


def fallback(cards: Sequence[object]) -> str | None:
    """Return the first text in the cards as plain text without links and mentions, or PICTURE if there are
    only images.
    """
    for card in cards:
        if isinstance(card, dict):
            for text in _card_texts(card):
                if line := _plain(text):
                    return line
    return PICTURE if cards else None


def _card_texts(card: Mapping[str, object]) -> Iterator[str]:
    yield from (str(card[name]) for name in ("title", "description") if card.get(name))
    author, fields = card.get("author"), card.get("fields")
    if isinstance(author, Mapping):
        yield str(author.get("name", ""))
    if isinstance(fields, Sequence):
        yield from (f"{f.get('name')}: {f.get('value')}" for f in fields if isinstance(f, Mapping))


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text.lstrip()[:_MAX_READ])
    # The remaining brackets must not form a link. Without a scheme, no URL becomes a link.
    text = text.replace("](", f"]{_APART}(").replace("@", f"@{_APART}")
    line = " ".join(_SCHEME.sub("", text).split())
    maximum = MAX_FALLBACK_CHARACTERS
    return line if len(line) <= maximum else line[: maximum - 1].rstrip() + "…"
