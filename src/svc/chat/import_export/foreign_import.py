"""Imports another program's export into a stopped server, or changes nothing if this fails.

Each channel in the export becomes a new channel. Each author becomes a former member: the name appears on the
messages, but nobody can sign in as this member. Such members do not count towards the member limit. Posts
keep their times. Images in the export are re-encoded like any upload. Contains no HTTP code.
"""

import asyncio
import dataclasses
import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from svc.base.database import Connection, Database
from svc.base.emoji import reaction_form
from svc.base.file_types import PICTURE
from svc.base.object_store import ObjectStore
from svc.base.pictures import PictureRules, Refused, picture_sandbox, rewritten
from svc.base.progress import report
from svc.base.sandbox import Sandbox
from svc.base.tables import number, value
from svc.chat.audit.log import Audit
from svc.chat.channels.rules import MAX_CHANNELS
from svc.chat.errors import ChatError
from svc.chat.import_export import store
from svc.chat.import_export.community_import import KeptObjects
from svc.chat.import_export.foreign_export import (
    ForeignAuthor,
    ForeignChannel,
    ForeignFile,
    ForeignPost,
    Source,
)
from svc.chat.import_export.record_types import KINDS, BadRecord
from svc.chat.media.stored_media import MESSAGE, facts_of, new_key
from svc.chat.messages.message import MAX_TEXT_CHARACTERS, MEMBER, first_number_at
from svc.chat.names import readable_name, readable_nickname
from svc.chat.uploads.file_names import readable_file_name

# The namespace for authors' ids, so that an author has the same id in every export from a program.
_PEOPLE = uuid.UUID("6f1a4a52-9d1e-4c55-8a3b-4d0a4f1d8d10")
_CHANNEL_NAME_CHARACTERS = 64
_PICTURE_DEADLINE_S = 30.0
_MAX_PICTURE_BYTES = 25 * 1024 * 1024
_POSTS_BETWEEN = 200
# The maximum number of authors. Each author or image uses about a hundred bytes of memory until the end of
# the import.
MAX_AUTHORS = 100_000
MAX_PICTURES = 100_000
MAX_NAME_CHARACTERS = 256
_PICTURES = PictureRules(max_side=4096)

LATER_THAN_NOW = "times in the future: these messages are dated now"

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Added:
    channels: int
    messages: int
    authors: int
    pictures: int
    # The number of skipped or changed items by reason, printed at the end.
    left_out: Mapping[str, int] = field(default_factory=dict)


async def add(
    database: Database, objects: ObjectStore | None, audit: Audit, source: Source, now: float, *, hidden: bool
) -> Added:
    """Import a source. If `hidden` is set, only administrators can see the new channels at first.

    Raises BadRecord, or errors from the database or the store.
    """
    pictures: dict[Path, Values] = {}
    total, files = await asyncio.to_thread(_scan, source)

    def write(connection: Connection) -> Added:
        added = _Importer(connection, source, pictures, int(now * 1000), hidden=hidden).run(total)
        details = {"from": source.program, "channels": added.channels, "messages": added.messages}
        audit.record(connection, None, "import", None, details, now)
        return added

    if objects is None:
        return await database.write(write)
    async with KeptObjects(objects) as kept, picture_sandbox(1) as sandbox:
        for index, path in enumerate(files):
            report("pictures", index, len(files))
            if (picture := await _picture(path, kept, sandbox)) is not None:
                pictures[path] = picture
        added = await database.write(write)
        kept.stay()
    return added


class _Importer:
    """The single write transaction of an import, which runs on the writer thread."""

    def __init__(
        self,
        connection: Connection,
        source: Source,
        pictures: Mapping[Path, Values],
        now_ms: int,
        *,
        hidden: bool,
    ) -> None:
        self._connection = connection
        self._source = source
        self._pictures = pictures
        self._now_ms = now_ms
        self._left_out: Counter[str] = Counter()
        self._hidden = hidden
        # Maps the key of every author found so far to their id and name.
        self._people: dict[str, tuple[str, str]] = {}
        self._last_n = 0
        self._messages = 0

    def run(self, total: int) -> Added:
        execute = self._connection.execute
        if not execute("SELECT 1 FROM member_roles WHERE role_id = 'owner' LIMIT 1").fetchone():
            raise BadRecord("nobody has joined this server yet: let its owner join first")
        channels = self._source.channels()
        if number(execute("SELECT count(*) FROM channels")) + len(channels) > MAX_CHANNELS:
            raise BadRecord(f"this import would exceed the limit of {MAX_CHANNELS} channels")
        for picture in self._pictures.values():
            self._put("object", _object(picture, self._now_ms))
        # Use a table, because there may be millions of posts.
        kept = "placed (post TEXT PRIMARY KEY, message_id TEXT) WITHOUT ROWID"
        execute(f"CREATE TEMP TABLE IF NOT EXISTS {kept}")
        for channel in channels:
            self._import_channel(channel, total)
        store.rebuild_search_index(self._connection)
        return Added(
            len(channels), self._messages, len(self._people), len(self._pictures), dict(self._left_out)
        )

    def _import_channel(self, channel: ForeignChannel, total: int) -> None:
        execute, fact = self._connection.execute, f"imported {self._source.program} {channel.key}"
        if not execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (fact, str(self._now_ms))).rowcount:
            raise BadRecord(f"the channel {_printable(channel.name)} has been imported before")
        channel_id = str(uuid.uuid4())
        self._put(
            "channel",
            {
                "id": channel_id,
                "name": _channel_name(channel.name),
                "kind_of_channel": "text",
                "position": number(execute("SELECT coalesce(max(position), -1) + 1 FROM channels")),
                "topic": channel.topic[:1024],
                "created_at_ms": self._now_ms,
            },
        )
        if self._hidden:
            store.hide_channel(self._connection, channel_id)
        execute("DELETE FROM temp.placed")
        self._last_n = 0
        for post in map(self._in_the_past, self._source.posts(channel)):
            if self._messages % _POSTS_BETWEEN == 0:
                report("messages", self._messages, total)
            self._import_post(channel_id, post)
        # Imported messages count as read, because nobody wants to read years of old messages.
        read_by_all = "INSERT INTO reads SELECT id, ?, ? FROM members WHERE left_at_ms IS NULL"
        execute(read_by_all, (channel_id, self._last_n))

    def _in_the_past(self, post: ForeignPost) -> ForeignPost:
        """Replace future times in a post with the current time."""
        edited_at_ms = post.edited_at_ms and min(post.edited_at_ms, self._now_ms)
        past = dataclasses.replace(post, at_ms=min(post.at_ms, self._now_ms), edited_at_ms=edited_at_ms)
        if past != post:
            self._left_out[LATER_THAN_NOW] += 1
        return past

    def _import_post(self, channel_id: str, post: ForeignPost) -> None:
        attachments, links = self._files(post.files)
        text = "\n".join(part for part in (post.text.replace("\0", ""), *links) if part)
        if not text.strip() and not attachments:
            self._left_out["empty messages"] += 1
            return
        pieces = _pieces(text) or [""]
        # Some programs allow longer messages, which become several pieces. The last one gets the attachments.
        for piece in pieces[:-1]:
            self._message(channel_id, post, piece, None, ())
        reply_to = self._imported_message_id(post.reply_to)
        n, message_id = self._message(channel_id, post, pieces[-1], reply_to, attachments)
        self._connection.execute("INSERT OR REPLACE INTO temp.placed VALUES (?, ?)", (post.key, message_id))
        self._react(n, post)
        if post.pinned:
            person, _ = self._person(post.author)
            self._put(
                "pin", {"n": n, "channel_id": channel_id, "member_id": person, "pinned_at_ms": post.at_ms}
            )

    def _imported_message_id(self, key: str | None) -> str | None:
        """Return the id of the message created from a post in this channel, or None."""
        sql = "SELECT message_id FROM temp.placed WHERE post = ?"
        return value(self._connection.execute(sql, (key,)), str) if key else None

    def _message(
        self,
        channel_id: str,
        post: ForeignPost,
        text: str,
        reply_to: str | None,
        attachments: Sequence[Values],
    ) -> tuple[int, str]:
        n = self._number(post.at_ms)
        message_id = _message_id(n, f"{self._source.program} {post.key}")
        author_id, name = self._person(post.author)
        self._put(
            "message",
            {
                "n": n,
                "id": message_id,
                "channel_id": channel_id,
                "author_kind": MEMBER,
                "author_id": author_id,
                "display_name": name,
                "avatar": None,
                "text": text,
                "reply_to": reply_to,
                "mentions": None,
                "mention_groups": None,
                "cards": None,
                "attachments": [dict(a) for a in attachments] or None,
                "flagged": 0,
                "edited_at_ms": post.edited_at_ms,
                "posted_at_ms": None,
                "thread": self._imported_message_id(post.thread),
            },
        )
        for key in dict.fromkeys(str(attachment["key"]) for attachment in attachments):
            self._put("reference", {"owner_kind": MESSAGE, "owner_id": message_id, "key": key})
        self._messages += 1
        return n, message_id

    def _number(self, at_ms: int) -> int:
        """Return the first free message number at or after the given time. Posts at the same time keep their
        order.
        """
        n = max(first_number_at(at_ms), self._last_n + 1)
        while self._connection.execute("SELECT 1 FROM messages WHERE n = ?", (n,)).fetchone():
            n += 1
        self._last_n = n
        return n

    def _person(self, author: ForeignAuthor) -> tuple[str, str]:
        key = author.key[:MAX_NAME_CHARACTERS]
        if (known := self._people.get(key)) is not None:
            return known
        if len(self._people) >= MAX_AUTHORS:
            raise BadRecord(f"more than {MAX_AUTHORS} people wrote in this channel, which is the limit")
        person = str(uuid.uuid5(_PEOPLE, f"{self._source.program} {key}")), _nickname(author.name)
        # Add the person as a former member. An existing member is not changed.
        self._connection.execute(
            "INSERT OR IGNORE INTO members (id, nickname, joined_at_ms, left_at_ms) VALUES (?, ?, ?, ?)",
            (*person, self._now_ms, self._now_ms),
        )
        self._people[key] = person
        return person

    def _react(self, n: int, post: ForeignPost) -> None:
        seen: set[tuple[str, str]] = set()
        for index, (emoji, author) in enumerate(post.reactions):
            if (shown := reaction_form(emoji)) is None:
                self._left_out["reactions with an emoji that this server does not have"] += 1
                continue
            person, _ = self._person(author)
            if (shown, person) not in seen:
                seen.add((shown, person))
                moment = post.at_ms + index
                record = {"n": n, "emoji": shown, "member_id": person, "reacted_at_ms": moment}
                self._put("reaction", record)

    def _files(self, files: Sequence[ForeignFile]) -> tuple[list[Values], list[str]]:
        """Return attachments, and links to files that cannot be attached."""
        attachments, links = [], []
        for file in files:
            if file.path is not None and (picture := self._pictures.get(file.path)) is not None:
                attachments.append(_attachment(picture, file.name))
            elif file.url.startswith(("https://", "http://")):
                links.append(f"[{_escape_brackets(file.name)}]({file.url})")
            else:
                self._left_out["files that are missing or not pictures"] += 1
                links.append(f"({_escape_brackets(file.name)})")
        return attachments, links

    def _put(self, kind: str, record: Values) -> None:
        store.put(self._connection, KINDS[kind], record)


def _scan(source: Source) -> tuple[int, list[Path]]:
    """Read all posts before anything is written. Return their number and their files' paths. Raises
    BadRecord.
    """
    total = 0
    files: dict[Path, None] = {}
    for channel in source.channels():
        for post in source.posts(channel):
            total += 1
            if total % _POSTS_BETWEEN == 0:
                report("reading", total, total)
            files.update((file.path, None) for file in post.files if file.path is not None)
            if len(files) > MAX_PICTURES:
                raise BadRecord(f"there are more than {MAX_PICTURES} files next to the export")
    return total, list(files)


async def _picture(path: Path, kept: KeptObjects, sandbox: Sandbox) -> Values | None:
    """Rewrite an image with our encoder and store it under a new key.

    Return its properties, or None if the file is not an accepted image.
    """
    try:
        size = (await asyncio.to_thread(path.stat)).st_size
        if size > _MAX_PICTURE_BYTES:
            return None
        picture = await rewritten(path, _PICTURES, deadline_s=_PICTURE_DEADLINE_S, sandbox=sandbox)
    except Refused:
        return None
    except OSError as fault:
        raise BadRecord(f"{path}: {fault.strerror}") from None
    key = new_key(picture.ext)
    await kept.put_data(key, picture.data, picture.content_type)
    facts = {**dataclasses.asdict(facts_of(picture)), "bytes": len(picture.data)}
    return {"key": key, **facts, "frames": picture.frames}


def _attachment(picture: Values, name: str) -> Values:
    """Return an attachment with the same fields as an uploaded one."""
    stem = Path(readable_file_name(name)).stem or "picture"
    shown = f"{stem}.{str(picture['key']).rpartition('.')[2]}"
    return {
        "id": str(uuid.uuid4()),
        "name": shown,
        "kind": PICTURE,
        **picture,
        "thumbnail": None,
        "poster": None,
        "alt": "",
    }


def _object(picture: Values, now_ms: int) -> Values:
    names = ("key", "content_type", "bytes", "width", "height", "duration_ms", "placeholder", "colour")
    return {**{name: picture[name] for name in names}, "created_at_ms": now_ms, "idle_since_ms": now_ms}


def _message_id(n: int, source: str) -> str:
    """Return the message id for a message number. The id's random part is derived from the source."""
    digest = int.from_bytes(hashlib.sha256(source.encode("utf-8", "replace")).digest()[:8]) >> 2
    return str(uuid.UUID(int=(n >> 12) << 80 | 7 << 76 | (n & 0xFFF) << 64 | 0b10 << 62 | digest))


def _pieces(text: str) -> list[str]:
    """Split text into pieces that fit into messages, at line ends where possible."""
    pieces = []
    while len(text) > MAX_TEXT_CHARACTERS:
        end = text.rfind("\n", MAX_TEXT_CHARACTERS // 2, MAX_TEXT_CHARACTERS)
        end = end if end > 0 else MAX_TEXT_CHARACTERS
        pieces.append(text[:end])
        text = text[end:].lstrip("\n")
    return [*pieces, text] if text.strip() else pieces


def _nickname(name: str) -> str:
    try:
        return readable_nickname(name[:32])
    except ChatError:
        return "Someone"


def _channel_name(name: str) -> str:
    try:
        return readable_name(name[:_CHANNEL_NAME_CHARACTERS], _CHANNEL_NAME_CHARACTERS)
    except ChatError:
        return "imported"


def _printable(name: str) -> str:
    """Return untrusted text in a form that is safe to print on one terminal line."""
    return name[:100] if name.isprintable() else ascii(name[:100])


def _escape_brackets(name: str) -> str:
    """Make a name safe to use as the text of a Markdown link."""
    return name.replace("[", "(").replace("]", ")").replace("\n", " ") or "file"
