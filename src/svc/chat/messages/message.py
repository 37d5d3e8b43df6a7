"""What a message is, how clients see it, the line that stands for one without a text, and what may stand
as a reaction to it.

A record and its cursor; decides nothing and stores nothing. The author is a member or a
webhook. docs/webhooks.md, "A message" and docs/http.md, "Messages".
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from svc.base.contents import with_kind
from svc.base.emoji import canonical_emoji
from svc.chat.access.media_urls import MediaUrls
from svc.chat.errors import ChatError

MAX_TEXT_CHARACTERS = 4_000
MEMBER, WEBHOOK = "member", "webhook"

_ID_CHARACTERS = 36
# Of the 128 bits of an id: 48 of milliseconds, 4 of version, 12 of counter, 64 of the rest.
_COUNTER_BITS = 12
# The last moment of which an id can be.
LAST_MS = 2**48 - 1

# Of the line that stands for a message: what the systems of phones show of a notification.
MAX_FALLBACK_CHARACTERS = 200
# What is behind is not shown, however much of it is the addresses of links.
_MOST_READ = 1_000
PICTURE = "A picture"
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_SCHEME = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,31}:(?://|(?=mention))|\bmention:", re.IGNORECASE)
# An invisible character, behind which a name is not one.
_APART = "\u200b"


class Author(Struct, frozen=True):
    kind: str  # MEMBER or WEBHOOK
    id: str
    display_name: str
    # The key of a picture of its own; that of a member is the member's, today's.
    avatar: str | None = None
    # A member that is a program.
    bot: bool = False

    def is_member(self, member_id: str) -> bool:
        return (self.kind, self.id) == (MEMBER, member_id)

    def described(self, urls: MediaUrls) -> dict[str, object]:
        return {
            "kind": self.kind,
            "id": self.id,
            "display_name": self.display_name,
            "avatar": None if self.avatar is None else urls.url(self.avatar),
            "bot": self.bot,
        }


class Answers(Struct, frozen=True):
    """What there is in a thread."""

    count: int
    last_n: int
    last_id: str
    last_at_ms: int

    def described(self) -> dict[str, object]:
        return {"count": self.count, "last_id": self.last_id, "last_at_ms": self.last_at_ms}


class Message(Struct, frozen=True):
    """`n` is the moment and the counter of `id`, as one number that rises with it: the cursor."""

    n: int
    id: str
    channel_id: str
    author: Author
    text: str
    reply_to: str | None = None
    # Members who are named in it, or pinged by a reply, and may view the channel.
    mentions: tuple[str, ...] = ()
    # Groups of members that it mentions: `everyone`, `here`, or ids of roles.
    groups: tuple[str, ...] = ()
    # The members for whom it counts as a mention; known while it is being posted.
    told: tuple[str, ...] = ()
    cards: Sequence[object] = ()
    attachments: Sequence[object] = ()
    flagged: bool = False
    edited_at_ms: int | None = None
    # When it was posted, where `n` says another moment: it never falls, whatever the clock does.
    stamp_ms: int | None = None
    # Emoji in the order of their code points, so that who folds changes has the same order; and who
    # reacted with each, the first first.
    reactions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pinned: bool = False
    # What its links lead to, in short, with pictures as in cards; none if it is not to have any.
    previews: Sequence[object] = ()
    no_previews: bool = False
    # The id of the message that its thread hangs on; none for a message of the channel itself.
    thread: str | None = None
    # The thread that hangs on it, where there is one.
    answers: Answers | None = None
    # Known while it is being posted to a thread, or deleted: what there is in the thread then.
    beside: Answers | None = None
    # Who follows the thread by it, and what members, each with a thread, give up for that.
    joining: tuple[str, ...] = ()
    crowded_out: Sequence[tuple[str, str]] = ()
    # Files that it has had and that were kept long enough.
    expired_attachments: int = 0

    @property
    def posted_at_ms(self) -> int:
        return moment_of(self.n, self.stamp_ms)

    def described(self, urls: MediaUrls) -> dict[str, object]:
        """As everybody sees it who may view the channel; its media by addresses that end."""
        expired = {"expired_attachments": self.expired_attachments} if self.expired_attachments else {}
        return {
            **expired,
            "id": self.id,
            "channel_id": self.channel_id,
            "author": self.author.described(urls),
            "text": self.text,
            "reply_to": self.reply_to,
            "mentions": list(self.mentions),
            "mention_groups": list(self.groups),
            "cards": urls.shown(self.cards),
            "fallback": None if self.text else fallback(self.cards),
            "attachments": urls.shown([with_kind(attachment) for attachment in self.attachments]),
            "flagged": self.flagged,
            "posted_at_ms": self.posted_at_ms,
            "edited_at_ms": self.edited_at_ms,
            "reactions": [
                {"emoji": emoji, "member_ids": list(member_ids)}
                for emoji, member_ids in self.reactions.items()
            ],
            "pinned": self.pinned,
            "previews": urls.shown(self.previews),
            "thread": self.thread,
            "answers": self.answers.described() if self.answers else None,
        }


def number_of(message_id: str) -> int:
    """The cursor of an id, also of a message that is gone. ChatError for what is no such id."""
    try:
        if len(message_id) != _ID_CHARACTERS or message_id[14] != "7":
            raise ValueError
        # 8-4-4-4-12 digits; the first digit of the third group is the version.
        digits = message_id[0:8] + message_id[9:13] + message_id[15:18]
        if not digits.isascii() or not digits.isalnum():
            raise ValueError
        return int(digits, 16)
    except ValueError:
        raise ChatError("unknown_message") from None


def last_id_of(n: int) -> str:
    """What compares, as text, as not smaller than the id with this cursor, and smaller than the next."""
    digits = f"{n:015x}"
    return f"{digits[:8]}-{digits[8:12]}-7{digits[12:]}-ffff-ffffffffffff"


def moment_of(n: int, stamp_ms: int | None) -> int:
    """When a message was posted: `stamp_ms`, or the moment of its cursor."""
    return n >> _COUNTER_BITS if stamp_ms is None else stamp_ms


def first_number_at(ms: int) -> int:
    """The smallest cursor of a moment."""
    return ms << _COUNTER_BITS


def fallback(cards: Sequence[object]) -> str | None:
    """The first thing that cards say, in plain words: nothing is a link and nobody is mentioned by it."""
    for card in cards:
        if isinstance(card, dict):
            for text in _said(card):
                if line := _plain(text):
                    return line
    return PICTURE if cards else None


def _said(card: Mapping[str, object]) -> Iterator[str]:
    yield from (str(card[name]) for name in ("title", "description") if card.get(name))
    author, fields = card.get("author"), card.get("fields")
    if isinstance(author, Mapping):
        yield str(author.get("name", ""))
    if isinstance(fields, Sequence):
        yield from (f"{f.get('name')}: {f.get('value')}" for f in fields if isinstance(f, Mapping))


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text.lstrip()[:_MOST_READ])
    # What brackets are left make no link, and no address is one without its scheme.
    text = text.replace("](", f"]{_APART}(").replace("@", f"@{_APART}")
    line = " ".join(_SCHEME.sub("", text).split())
    most = MAX_FALLBACK_CHARACTERS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


# Reactions: one emoji of the catalogue or several in a row, or the `:name:` of one of the server's own.
# The page shows whether an emoji of that name exists.

# The longest sequences in use (families, flags of regions) have a dozen code points.
MAX_EMOJI_CHARACTERS = 32
_OWN_EMOJI = re.compile(r":[a-z0-9_]{2,30}:")


def checked_emoji(text: str) -> str:
    """Return the reaction as it is stored. Raises ChatError."""
    emoji = reaction_form(text)
    if emoji is None:
        raise ChatError("invalid_emoji")
    return emoji


def reaction_form(text: str) -> str | None:
    """Return the reaction as it is stored, or None if it is no emoji."""
    if _OWN_EMOJI.fullmatch(text):
        return text
    emoji = canonical_emoji(text) if len(text) <= 2 * MAX_EMOJI_CHARACTERS else None
    return emoji if emoji and len(emoji) <= MAX_EMOJI_CHARACTERS else None
