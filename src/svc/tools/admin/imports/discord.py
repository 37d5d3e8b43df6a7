"""What DiscordChatExporter writes as JSON: one channel in a file, or in several parts.

Reads one file, or all of a folder. Where media was downloaded too, attachments are paths beside
the file. Text is Markdown already. Times carry their zone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from svc.chat.transfer.foreign import ForeignAuthor, ForeignChannel, ForeignFile, ForeignPost
from svc.chat.transfer.kinds import BadRecord
from svc.tools.admin.imports.values import MAX_FILE_BYTES, needed, optional, parsed


class DiscordExport:
    program = "discord"

    def __init__(self, path: Path) -> None:
        """Raises BadRecord."""
        self._files: dict[str, list[Path]] = {}
        self._channels: dict[str, ForeignChannel] = {}
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise BadRecord(f"{path}: there is no JSON file in it")
        for file in files:
            channel = _channel(_document(file), file)
            self._channels[channel.key] = channel
            self._files.setdefault(channel.key, []).append(file)

    def channels(self) -> Sequence[ForeignChannel]:
        return list(self._channels.values())

    def posts(self, channel: ForeignChannel) -> Iterator[ForeignPost]:
        found = []
        for file in self._files[channel.key]:
            messages = needed(_document(file), "messages", list, str(file))
            for number, message in enumerate(messages):
                found.append(_post(message, file, f"{file}: messages[{number}]"))
        # Parts need not have been read in their order.
        return iter(sorted(found, key=lambda post: post.at_ms))


def _document(file: Path) -> object:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            megabytes = MAX_FILE_BYTES // 1024 // 1024
            raise BadRecord(f"{file}: more than {megabytes} MB; export it in parts (--partition)")
        return parsed(file.read_bytes(), str(file))
    except OSError as fault:
        raise BadRecord(f"{file}: {fault.strerror}") from None


def _channel(document: object, file: Path) -> ForeignChannel:
    channel = optional(document, "channel", dict, {})
    if not channel or not isinstance(document, Mapping) or "messages" not in document:
        raise BadRecord(f"{file}: this is no JSON of DiscordChatExporter")
    where = f"{file}: channel"
    return ForeignChannel(
        needed(channel, "id", str, where),
        needed(channel, "name", str, where),
        optional(channel, "topic", str, ""),
    )


def _post(message: object, file: Path, where: str) -> ForeignPost:
    reference = optional(message, "reference", dict, {})
    edited = optional(message, "timestampEdited", str, "")
    files = optional(message, "attachments", list, [])
    text = optional(message, "content", str, "")
    return ForeignPost(
        key=needed(message, "id", str, where),
        author=_author(needed(message, "author", dict, where), where),
        at_ms=_ms(needed(message, "timestamp", str, where), where),
        text=text or ("" if files else _text_of_embeds(optional(message, "embeds", list, []))),
        edited_at_ms=_ms(edited, where) if edited else None,
        reply_to=optional(reference, "messageId", str, "") or None,
        reactions=_reactions(optional(message, "reactions", list, []), where),
        files=[_file(item, file, where) for item in files],
        pinned=optional(message, "isPinned", bool, False),
    )


def _author(author: object, where: str) -> ForeignAuthor:
    name = optional(author, "nickname", str, "") or needed(author, "name", str, where)
    return ForeignAuthor(needed(author, "id", str, where), name)


def _reactions(reactions: Sequence[object], where: str) -> list[tuple[str, ForeignAuthor]]:
    """Who reacted stands there since version 2.40; without, there is nobody to name."""
    found = []
    for reaction in reactions:
        emoji = needed(reaction, "emoji", dict, where)
        name = needed(emoji, "name", str, where)
        # One of the server's own has an id.
        shown = f":{name.lower()}:" if optional(emoji, "id", str, "") else name
        found += [(shown, _author(user, where)) for user in optional(reaction, "users", list, [])]
    return found


def _file(item: object, file: Path, where: str) -> ForeignFile:
    name, url = needed(item, "fileName", str, where), needed(item, "url", str, where)
    if url.startswith(("https://", "http://")):
        return ForeignFile(name, url)
    path = (file.parent / url).resolve()
    # Beside the export, never elsewhere on this machine.
    beside = path.is_relative_to(file.parent.resolve()) and path.is_file()
    return ForeignFile(name, "", path if beside else None)


def _text_of_embeds(embeds: Sequence[object]) -> str:
    """Of a robot's message that has nothing else."""
    lines = []
    for embed in embeds:
        title, url = optional(embed, "title", str, ""), optional(embed, "url", str, "")
        lines += [f"[{title}]({url})" if title and url else title, optional(embed, "description", str, "")]
    return "\n".join(line for line in lines if line)


def _ms(text: str, where: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("it has no zone")
        ms = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError) as fault:
        raise BadRecord(f"{where}: {text!r} is no time ({fault})") from None
    if not 0 <= ms < 2**48:
        raise BadRecord(f"{where}: {text!r} is no time of a message")
    return ms
