"""Response and event types for drafts. `Draft` is also the type of the table's rows."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.messages.message import MAX_TEXT_CHARACTERS
from svc.chat.schemas import Id, Response, TimeMs
from svc.chat.uploads.limits import MAX_ATTACHMENTS

Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
Files = Annotated[Sequence[Id], Meta(max_length=MAX_ATTACHMENTS)]


class Draft(Response):
    channel_id: Id
    text: Text
    attachments: Files
    changed_at_ms: TimeMs


class OwnDrafts(Response):
    drafts: Sequence[Draft]


class DraftDeleted(Response):
    channel_id: Id
