"""Defines typed values for the parts of responses and events that bots need.

Names and types match `/openapi.json` and `/asyncapi.json`, as `tests/client/test_models.py` checks. Unknown
fields are ignored, so that newer servers also work. Fetches nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a message. `kind` is `member` or `webhook`."""

    kind: str
    id: str
    display_name: str
    avatar: str | None
    bot: bool


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to a message. `url` expires after some hours."""

    id: str
    name: str
    kind: str
    url: str
    content_type: str
    bytes: int
    width: int | None
    height: int | None
    alt: str


@dataclass(frozen=True, slots=True)
class Reaction:
    emoji: str
    member_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a channel, or in the thread whose root message is `thread`."""

    id: str
    channel_id: str
    author: Author
    text: str
    reply_to: str | None
    mentions: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    reactions: tuple[Reaction, ...]
    posted_at_ms: int
    edited_at_ms: int | None
    thread: str | None


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel. `type` is `text`, `voice` or `category`."""

    id: str
    name: str
    type: str
    topic: str
    parent_id: str | None
    archived: bool


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    nickname: str
    roles: tuple[str, ...]
    bot: bool


@dataclass(frozen=True, slots=True)
class VoiceMember:
    """A member in a voice channel. `self_muted` and `self_deafened` are the member's own choice."""

    id: str
    nickname: str
    muted: bool
    deafened: bool
    self_muted: bool
    self_deafened: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    state: str
    refusal: Refusal | None
