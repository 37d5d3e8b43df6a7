"""Stores the search index for messages, and the changes that have not been indexed yet. Contains only SQL.

The index stores no text, so removing a message from it requires the text that was indexed. The first
transaction that changes a message therefore records that text.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping

from svc.base.database import Connection
from svc.base.strict_json import dumps
from svc.chat.messages.markdown import has_link
from svc.chat.messages.message import Message
from svc.chat.messages.search_words import indexed_words
from svc.chat.messages.store import read_after, read_these

_CARD_PICTURES = ("image", "thumbnail")
# The maximum number of words that match a query's prefixes, and the maximum number of entries in the message
# lists of these words. SQLite merges the lists without interruption, which takes 0.13 s for a million
# entries. Counting them takes 0.03 s.
MAX_WORDS = 4_000
MAX_ENTRIES = 1_000_000
_NO_WORDS = "[0,null,null]"


def channel_tag(channel_id: str) -> str:
    return "c" + _short(channel_id)


def author_tag(author_id: str) -> str:
    return "a" + _short(author_id)


def has_tag(what: str) -> str:
    return "h" + what


def changes(connection: Connection, old: Message) -> None:
    """Record the indexed form of a message. Call this before the change, within the write transaction that
    changes or deletes it.
    """
    connection.execute(
        "INSERT OR IGNORE INTO indexed_before SELECT ?, ?, ? WHERE ? <= (SELECT up_to FROM indexed)",
        (old.n, _text(old), _tags(old), old.n),
    )


def index_changes(connection: Connection, maximum: int) -> int:
    """Index at most `maximum` new and changed messages. Return their number."""
    stale = connection.execute("SELECT * FROM indexed_before LIMIT ?", (maximum,)).fetchall()
    connection.executemany(
        "INSERT INTO message_words (message_words, rowid, text, tags) VALUES ('delete', ?, ?, ?)",
        [(row["n"], row["text"], row["tags"]) for row in stale],
    )
    connection.executemany("DELETE FROM indexed_before WHERE n = ?", [(row["n"],) for row in stale])
    if stale:
        # These words stay in segments of the index until the segments are merged (`index_cleanup`).
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('words_deleted', 'yes')")
    again = read_these(connection, [row["n"] for row in stale])
    up_to = connection.execute("SELECT up_to FROM indexed").fetchone()[0]
    new = read_after(connection, up_to, maximum - len(stale))
    connection.executemany(
        "INSERT INTO message_words (rowid, text, tags) VALUES (?, ?, ?)",
        [(message.n, _text(message), _tags(message)) for message in (*again, *new)],
    )
    if new:
        connection.execute("UPDATE indexed SET up_to = ?", (new[-1].n,))
    return len(stale) + len(new)


def find(connection: Connection, query: str, after: int, before: int, limit: int) -> list[int]:
    """Return the cursors of the matches between two cursors, newest first."""
    rows = connection.execute(
        "SELECT rowid FROM message_words WHERE message_words MATCH ? AND rowid > ? AND rowid < ?"
        " ORDER BY rowid DESC LIMIT ?",
        (query, after, before, limit),
    ).fetchall()
    return [n for (n,) in rows]


def expandable(connection: Connection, beginnings: Collection[str]) -> set[str]:
    """Return the prefixes that can be expanded to longer words without exceeding the limits."""
    rows = connection.execute(
        "SELECT value, (SELECT json_array(count(*), sum(doc), min(term)) FROM"
        " (SELECT term, doc FROM message_vocabulary"
        " WHERE term >= value AND term < value || char(0x10FFFF) LIMIT ?)) AS counts FROM json_each(?)",
        (MAX_WORDS + 1, dumps(sorted(beginnings)).decode()),
    ).fetchall()
    words, entries, those = 0, 0, set()
    for (count, messages, first), beginning in sorted(
        (json.loads(row["counts"]), row["value"]) for row in rows if row["counts"] != _NO_WORDS
    ):
        if count == 1 and first == beginning:
            continue  # No other word begins with this prefix, and looking up a single word is faster.
        words, entries = words + count, entries + messages
        if words <= MAX_WORDS and entries <= MAX_ENTRIES:
            those.add(beginning)
    return those


def _text(message: Message) -> str:
    """Return the searchable text of a message and its cards."""
    return indexed_words(_searchable_text(message))


def _searchable_text(message: Message) -> str:
    return "\n".join([message.text, *(text for card in message.cards for text in _card_texts(card))])


def _card_texts(card: object) -> Iterator[str]:
    """Yield the strings at any depth in a card, except its URLs, times and images."""
    if isinstance(card, Mapping):
        for name, part in card.items():
            if name in ("title", "description", "name", "value", "text"):
                yield str(part)
            elif name in ("author", "footer"):
                yield from _card_texts(part)
            elif name == "fields" and isinstance(part, list | tuple):
                for field in part:
                    yield from _card_texts(field)


def _tags(message: Message) -> str:
    tags = [channel_tag(message.channel_id), author_tag(message.author.id)]
    cards = [card for card in message.cards if isinstance(card, Mapping)]
    if has_link(_searchable_text(message)) or any(card.get("url") for card in cards):
        tags.append(has_tag("link"))
    if message.cards:
        tags.append(has_tag("card"))
    if any(card.get(name) for card in cards for name in _CARD_PICTURES):
        tags.append(has_tag("image"))
    if message.pinned:
        tags.append(has_tag("pin"))
    if message.reactions:
        tags.append(has_tag("reaction"))
    if message.attachments:
        tags.append(has_tag("file"))
        kinds = [a.get("content_type") for a in message.attachments if isinstance(a, Mapping)]
        for what in ("image", "video", "audio"):
            if any(str(kind).startswith(f"{what}/") for kind in kinds):
                tags.append(has_tag(what))
    return " ".join(tags)


def _short(name: str) -> str:
    """Encode an id so that the search index treats it as one token."""
    return hashlib.blake2s(name.encode(), digest_size=8).hexdigest()
