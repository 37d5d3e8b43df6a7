"""The zip file that Slack exports for a workspace: its public channels, a file for each day.

Private channels and direct messages are left alone, where a file has them. Text is turned from
Slack's marks into Markdown; a reply in a thread becomes a reply. Slack keeps files to itself: what
was attached becomes a link.
"""

import html
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from svc.chat.transfer.file import ZIP_FAULTS
from svc.chat.transfer.foreign import ForeignAuthor, ForeignChannel, ForeignFile, ForeignPost
from svc.chat.transfer.kinds import BadRecord
from svc.tools.admin.imports.values import MAX_FILE_BYTES, needed, optional, parsed

# Comings and goings are no messages.
_NOT_SAID = frozenset({"channel_join", "channel_leave", "channel_archive", "channel_unarchive", "tombstone"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MARK = re.compile(r"<([^<>\n]+)>")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")
_SKIN = re.compile(r"::skin-tone-[2-6]$")
# Slack's names for what most reactions are; others stay as names.
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
        """Raises BadRecord."""
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise BadRecord(f"{path}: there is no such file") from None
        except (*ZIP_FAULTS, OSError) as fault:
            raise BadRecord(f"{path}: this is no zip file ({fault})") from None
        self._names = sorted(self._zip.namelist())
        if "channels.json" not in self._names:
            raise BadRecord(f"{path}: this is no export of Slack: it has no channels.json")
        self._people = {
            needed(user, "id", str, f"{path}: users.json[{number}]"): _name(user)
            for number, user in enumerate(self._list("users.json"))
        }
        self._channels = [
            _channel(item, f"{path}: channels.json[{number}]")
            for number, item in enumerate(self._list("channels.json"))
        ]

    def channels(self) -> Sequence[ForeignChannel]:
        return self._channels

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        for name in self._names:
            folder, _, day = name.rpartition("/")
            if folder == channel.name and _DAY.fullmatch(day):
                items = enumerate(self._list(name))
                posts = (self._post(item, f"{self._path}: {name}[{number}]") for number, item in items)
                yield from sorted((post for post in posts if post), key=lambda post: post.at_ms)

    def _post(self, message: object, where: str) -> ForeignPost | None:
        if optional(message, "subtype", str, "") in _NOT_SAID:
            return None
        moment = needed(message, "ts", str, where)
        thread = optional(message, "thread_ts", str, "")
        edited = optional(optional(message, "edited", dict, {}), "ts", str, "")
        return ForeignPost(
            key=moment,
            author=self._author(message, where),
            at_ms=_ms(moment, where),
            text=markdown(optional(message, "text", str, ""), self._person),
            edited_at_ms=_ms(edited, where) if edited else None,
            reply_to=thread if thread and thread != moment else None,
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
        raise BadRecord(f"{where}: user is missing, or not what it should be")

    def _person(self, user_id: str) -> str:
        return self._people.get(user_id, user_id)

    def _reactions(self, reactions: Sequence[object], where: str) -> Iterator[tuple[str, ForeignAuthor]]:
        for reaction in reactions:
            name = _SKIN.sub("", needed(reaction, "name", str, where))
            shown = _EMOJI.get(name, f":{name.lower().replace('-', '_')}:")
            for user in optional(reaction, "users", list, []):
                if isinstance(user, str):
                    yield shown, ForeignAuthor(user, self._person(user))

    def _list(self, name: str) -> list[object]:
        """The list in a file of the archive; none where there is no such file."""
        where = f"{self._path}: {name}"
        if name not in self._names:
            return []
        try:
            if self._zip.getinfo(name).file_size > MAX_FILE_BYTES:
                raise BadRecord(f"{where}: it is too large")
            value = parsed(self._zip.read(name), where)
        except (*ZIP_FAULTS, OSError) as fault:
            raise BadRecord(f"{where}: it cannot be read ({fault})") from None
        if not isinstance(value, list):
            raise BadRecord(f"{where}: it is no list")
        return value


def markdown(text: str, person: Callable[[str], str]) -> str:
    """Slack's marks as Markdown; what is code stays as it is."""
    parts = _CODE.split(text)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            part = _BOLD.sub(r"**\1**", part)
            part = _STRUCK.sub(r"~~\1~~", part)
            part = _MARK.sub(lambda found: _link(found[1], person), part)
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
        needed(item, "id", str, where), needed(item, "name", str, where), html.unescape(topic)
    )


def _name(user: object) -> str:
    profile: Mapping[str, object] = optional(user, "profile", dict, {})
    names = (optional(profile, "display_name", str, ""), optional(profile, "real_name", str, ""))
    return next((name for name in names if name), optional(user, "name", str, "") or "Somebody")


def _file(item: object) -> ForeignFile:
    name = optional(item, "name", str, "") or optional(item, "title", str, "") or "file"
    return ForeignFile(name, optional(item, "permalink", str, "") or optional(item, "url_private", str, ""))


def _ms(text: str, where: str) -> int:
    """A time in Slack is seconds, a dot and what tells messages of one second apart."""
    if not re.fullmatch(r"\d{1,11}\.\d{6}", text):
        raise BadRecord(f"{where}: {text!r} is no time of a message")
    seconds, _, rest = text.partition(".")
    return int(seconds) * 1000 + int(rest[:3])
