"""Reads the public channels from the zip file of a Slack workspace export, which has one file per day.

Skips any private channels and direct messages. Converts Slack's markup to Markdown and keeps threads. Slack's
exports do not include files, so an attachment becomes a link.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from svc.chat.channels.rules import MAX_CHANNELS
from svc.chat.import_export.export_file import ZIP_FAULTS, entry, open_archive
from svc.chat.import_export.foreign_export import ForeignAuthor, ForeignChannel, ForeignFile, ForeignPost
from svc.chat.import_export.foreign_import import MAX_AUTHORS, MAX_NAME_CHARACTERS
from svc.chat.import_export.record_types import BadRecord
from svc.tools.admin.imports.json_values import MAX_FILE_BYTES, in_order, list_items, optional, require

# Events such as joining and leaving, which are not imported as messages.
_NOT_SAID = frozenset({"channel_join", "channel_leave", "channel_archive", "channel_unarchive", "tombstone"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MARK = re.compile(r"<([^<>\n]+)>")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")
_SKIN = re.compile(r"::skin-tone-[2-6]$")
# Slack's names for the most common reactions. Other reactions are imported by name.
_EMOJI = {
    "+1": "👍", "thumbsup": "👍", "-1": "👎", "thumbsdown": "👎", "heart": "❤️", "joy": "😂",
    "smile": "😄", "slightly_smiling_face": "🙂", "tada": "🎉", "eyes": "👀",
    "white_check_mark": "✅", "heavy_check_mark": "✔️", "pray": "🙏", "clap": "👏", "rocket": "🚀",
    "fire": "🔥", "wave": "👋", "100": "💯", "raised_hands": "🙌", "thinking_face": "🤔",
    "ok_hand": "👌", "muscle": "💪", "sob": "😭", "cry": "😢", "laughing": "😆", "grin": "😁",
    "heart_eyes": "😍", "star": "⭐", "x": "❌", "warning": "⚠️", "bulb": "💡",
}  # fmt: skip


class SlackExport:
    program = "slack"

    def __init__(self, path: Path) -> None:
        """Open the export. Raises BadRecord."""
        self._path = path
        try:
            self._zip = open_archive(path, "a zip file")
        except OSError as fault:
            raise BadRecord(f"{path}: {fault.strerror}") from None
        self._names = frozenset(self._zip.namelist())
        if "channels.json" not in self._names:
            raise BadRecord(f"{path}: this is not an export of Slack: it has no channels.json")
        self._days: dict[str, list[str]] = {}
        for name in sorted(self._names):
            folder, _, day = name.rpartition("/")
            if _DAY.fullmatch(day):
                self._days.setdefault(folder, []).append(name)
        self._people: dict[str, str] = {}
        for number, user in enumerate(self._list("users.json")):
            user_id = require(user, "id", str, f"{path}: users.json[{number}]")
            self._people[user_id[:MAX_NAME_CHARACTERS]] = _name(user)[:MAX_NAME_CHARACTERS]
            if number > MAX_AUTHORS:
                raise BadRecord(f"{path}: users.json has more than {MAX_AUTHORS} members")
        self._channels = []
        for number, item in enumerate(self._list("channels.json")):
            if number == MAX_CHANNELS:
                raise BadRecord(f"{path}: channels.json has more than {MAX_CHANNELS} channels")
            self._channels.append(_channel(item, f"{path}: channels.json[{number}]"))

    def channels(self) -> Sequence[ForeignChannel]:
        return self._channels

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        for message, where in in_order(self._messages(channel)):
            yield self._post(message, where)

    def _messages(self, channel: ForeignChannel) -> Iterator[tuple[int, object, str]]:
        for name in self._days.get(channel.name, ()):
            for number, message in enumerate(self._list(name)):
                where = f"{self._path}: {name}[{number}]"
                if optional(message, "subtype", str, "") not in _NOT_SAID:
                    yield _ms(require(message, "ts", str, where), where), message, where

    def _post(self, message: object, where: str) -> ForeignPost:
        moment = require(message, "ts", str, where)
        thread = optional(message, "thread_ts", str, "")
        answered = thread if thread and thread != moment else None
        # A reply in a thread that is also shown in the channel.
        broadcast = optional(message, "subtype", str, "") == "thread_broadcast"
        edited = optional(optional(message, "edited", dict, {}), "ts", str, "")
        return ForeignPost(
            key=moment,
            author=self._author(message, where),
            at_ms=_ms(moment, where),
            text=markdown(optional(message, "text", str, ""), self._person),
            edited_at_ms=_ms(edited, where) if edited else None,
            reply_to=answered if broadcast else None,
            thread=None if broadcast else answered,
            reactions=list(self._reactions(optional(message, "reactions", list, []), where)),
            files=[_file(item) for item in optional(message, "files", list, [])],
            pinned=bool(optional(message, "pinned_to", list, [])),
        )

    def _author(self, message: object, where: str) -> ForeignAuthor:
        if user := optional(message, "user", str, ""):
            return ForeignAuthor(user, self._person(user))
        name = optional(message, "username", str, "")
        if robot := optional(message, "bot_id", str, "") or name:
            return ForeignAuthor(robot, name or "Robot")
        raise BadRecord(f"{where}: user is missing or not valid")

    def _person(self, user_id: str) -> str:
        return self._people.get(user_id, user_id)

    def _reactions(self, reactions: Sequence[object], where: str) -> Iterator[tuple[str, ForeignAuthor]]:
        for reaction in reactions:
            name = _SKIN.sub("", require(reaction, "name", str, where))
            shown = _EMOJI.get(name, f":{name.lower().replace('-', '_')}:")
            for user in optional(reaction, "users", list, []):
                if isinstance(user, str):
                    yield shown, ForeignAuthor(user, self._person(user))

    def _list(self, name: str) -> Iterator[object]:
        """Yield the items of a list in the archive. A missing file counts as an empty list."""
        where = f"{self._path}: {name}"
        if name not in self._names:
            return
        try:
            with entry(self._zip, name, MAX_FILE_BYTES) as opened_entry:
                yield from list_items(opened_entry.read, where)
        except (*ZIP_FAULTS, OSError) as fault:
            raise BadRecord(f"{where}: it cannot be read ({fault})") from None


def markdown(text: str, person: Callable[[str], str]) -> str:
    """Convert Slack's markup to Markdown. Code stays unchanged."""
    parts = _CODE.split(text)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            part = _BOLD.sub(r"**\1**", part)
            part = _STRUCK.sub(r"~~\1~~", part)
            part = _MARK.sub(lambda match: _link(match[1], person), part)
        parts[index] = html.unescape(part)
    return "".join(parts)


def _link(mark: str, person: Callable[[str], str]) -> str:
    target, _, words = mark.partition("|")
    match target[:1]:
        case "@":
            return f"@{person(target[1:])}"
        case "#":
            return f"#{words or target[1:]}"
        case "!":
            return f"@{words or target[1:]}"
    return f"[{words}]({target})" if words else target


def _channel(item: object, where: str) -> ForeignChannel:
    topic = optional(optional(item, "topic", dict, {}), "value", str, "")
    return ForeignChannel(
        require(item, "id", str, where), require(item, "name", str, where), html.unescape(topic)
    )


def _name(user: object) -> str:
    profile: Mapping[str, object] = optional(user, "profile", dict, {})
    names = (optional(profile, "display_name", str, ""), optional(profile, "real_name", str, ""))
    return next((name for name in names if name), optional(user, "name", str, "") or "Someone")


def _file(item: object) -> ForeignFile:
    name = optional(item, "name", str, "") or optional(item, "title", str, "") or "file"
    return ForeignFile(name, optional(item, "permalink", str, "") or optional(item, "url_private", str, ""))


def _ms(text: str, where: str) -> int:
    """Parse a time in Slack's format: seconds, a dot, and digits to distinguish messages within a second."""
    if not re.fullmatch(r"\d{1,11}\.\d{6}", text):
        raise BadRecord(f"{where}: {text!r} is not the time of a message")
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 1000 + int(fraction[:3])
