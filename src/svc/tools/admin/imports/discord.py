"""Reads the JSON that DiscordChatExporter writes: one file per channel, or several parts.

Reads one file, or all files in a folder. If media was also downloaded, attachments are paths relative to the
file. Text is already Markdown. Times have a time zone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from svc.chat.import_export.foreign_export import ForeignAuthor, ForeignChannel, ForeignFile, ForeignPost
from svc.chat.import_export.record_types import BadRecord
from svc.tools.admin.imports.json_values import in_order, locate_faults, optional, require, stream

# The maximum number of files. A large server has a few hundred channels, each in a few parts.
MAX_FILES = 10_000


class DiscordExport:
    program = "discord"

    def __init__(self, path: Path) -> None:
        """Read the channels. Raises BadRecord."""
        self._files: dict[str, list[Path]] = {}
        self._channels: dict[str, ForeignChannel] = {}
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise BadRecord(f"{path}: the folder contains no JSON file")
        if len(files) > MAX_FILES:
            raise BadRecord(
                f"{path}: the folder contains {len(files)} JSON files; at most {MAX_FILES} can be read"
            )
        for file in files:
            channel = _channel(file)
            self._channels[channel.key] = channel
            self._files.setdefault(channel.key, []).append(file)

    def channels(self) -> Sequence[ForeignChannel]:
        return list(self._channels.values())

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        # The parts may have been read in any order.
        posts = in_order(
            (_time(message, where), (number, message), where)
            for number, file in enumerate(self._files[channel.key])
            for message, where in _messages(file)
        )
        for numbered, where in posts:
            assert isinstance(numbered, list), "a numbered message is a list"
            number, message = numbered
            yield _post(message, self._files[channel.key][number], where)


def _parts(file: Path) -> Iterator[tuple[str, object]]:
    """Yield the document's names and values. Each message is yielded separately, under the name "message"."""
    try:
        with file.open("rb") as opened, locate_faults(str(file)):
            document = stream(opened.read)
            if document.peek() != "{":
                document.value()
                raise BadRecord(f"{file}: this is not a JSON file of DiscordChatExporter")
            for name in document.names():
                if name != "messages":
                    yield name, document.value()
                    continue
                if document.peek() != "[":
                    raise BadRecord(f"{file}: messages is missing or not valid")
                yield name, []
                for _ in document.items():
                    yield "message", document.value()
            document.end()
    except OSError as fault:
        raise BadRecord(f"{file}: {fault.strerror}") from None


def _messages(file: Path) -> Iterator[tuple[object, str]]:
    messages = (value for name, value in _parts(file) if name == "message")
    for number, message in enumerate(messages):
        yield message, f"{file}: messages[{number}]"


def _channel(file: Path) -> ForeignChannel:
    """Read the channel, which precedes the messages in a file."""
    channel: object = None
    listed = False
    for name, value in _parts(file):
        listed = listed or name == "messages"
        channel = value if name == "channel" else channel
        if channel and listed:
            break
    if not listed or not isinstance(channel, Mapping) or not channel:
        raise BadRecord(f"{file}: this is not a JSON file of DiscordChatExporter")
    where = f"{file}: channel"
    return ForeignChannel(
        require(channel, "id", str, where),
        require(channel, "name", str, where),
        optional(channel, "topic", str, ""),
    )


def _time(message: object, where: str) -> int:
    return _ms(require(message, "timestamp", str, where), where)


def _post(message: object, file: Path, where: str) -> ForeignPost:
    reference = optional(message, "reference", dict, {})
    edited = optional(message, "timestampEdited", str, "")
    files = optional(message, "attachments", list, [])
    text = optional(message, "content", str, "")
    return ForeignPost(
        key=require(message, "id", str, where),
        author=_author(require(message, "author", dict, where), where),
        at_ms=_time(message, where),
        text=text or ("" if files else _text_of_embeds(optional(message, "embeds", list, []))),
        edited_at_ms=_ms(edited, where) if edited else None,
        reply_to=optional(reference, "messageId", str, "") or None,
        reactions=_reactions(optional(message, "reactions", list, []), where),
        files=[_file(item, file, where) for item in files],
        pinned=optional(message, "isPinned", bool, False),
    )


def _author(author: object, where: str) -> ForeignAuthor:
    name = optional(author, "nickname", str, "") or require(author, "name", str, where)
    return ForeignAuthor(require(author, "id", str, where), name)


def _reactions(reactions: Sequence[object], where: str) -> list[tuple[str, ForeignAuthor]]:
    """Return the reactions. Exports made before version 2.40 do not list the members who reacted."""
    shown_reactions = []
    for reaction in reactions:
        emoji = require(reaction, "emoji", dict, where)
        name = require(emoji, "name", str, where)
        # Only custom emoji have an id.
        shown = f":{name.lower()}:" if optional(emoji, "id", str, "") else name
        shown_reactions += [(shown, _author(user, where)) for user in optional(reaction, "users", list, [])]
    return shown_reactions


def _file(item: object, file: Path, where: str) -> ForeignFile:
    name, url = require(item, "fileName", str, where), require(item, "url", str, where)
    if url.startswith(("https://", "http://")):
        return ForeignFile(name, url)
    try:
        path = (file.parent / url).resolve()
        # Read only files in the export's folder, never other files on this machine.
        is_local_file = path.is_relative_to(file.parent.resolve()) and path.is_file()
    except (OSError, ValueError, RuntimeError):  # The path is too long, or contains a loop of symbolic links.
        return ForeignFile(name, "")
    return ForeignFile(name, "", path if is_local_file else None)


def _text_of_embeds(embeds: Sequence[object]) -> str:
    """Return the text of a bot's message that has only embeds."""
    lines = []
    for embed in embeds:
        title, url = optional(embed, "title", str, ""), optional(embed, "url", str, "")
        lines += [f"[{title}]({url})" if title and url else title, optional(embed, "description", str, "")]
    return "\n".join(line for line in lines if line)


def _ms(text: str, where: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("it has no time zone")
        ms = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError) as fault:
        raise BadRecord(f"{where}: {text!r} is not a time ({fault})") from None
    if not 0 <= ms < 2**48:
        raise BadRecord(f"{where}: {text!r} is not the time of a message")
    return ms
