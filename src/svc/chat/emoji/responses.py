"""Response and event types for custom emoji."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.schemas import Id, Response, TimeMs

# The maximum number of custom emoji, few enough for a picker to load and show quickly.
MAX_EMOJI = 300
MAX_NAME_CHARACTERS = 30
Name = Annotated[str, Meta(min_length=2, max_length=MAX_NAME_CHARACTERS, pattern="^[a-z0-9_]*$")]


class Emoji(Response):
    """A custom emoji as it is sent to clients."""

    id: Id
    name: Name
    url: str
    animated: bool
    created_by: Id | None
    created_at_ms: TimeMs


AllEmoji = Annotated[Sequence[Emoji], Meta(max_length=MAX_EMOJI)]


class OwnEmoji(Response):
    emoji: AllEmoji


class EmojiDeleted(Response):
    emoji_id: Id
