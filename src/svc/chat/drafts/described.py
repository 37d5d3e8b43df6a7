"""What drafts say of themselves, for people and for programs."""

from svc.chat.described import (
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Event,
    Named,
    Pushed,
    array,
    asked,
    obj,
    string,
)
from svc.chat.messages.message import MAX_TEXT_CHARACTERS
from svc.chat.uploads.limits import MAX_ATTACHMENTS

_TEXT = string(MAX_TEXT_CHARACTERS)
_UPLOADS = array(ID, MAX_ATTACHMENTS)
_FIELDS = {"channel_id": ID, "text": _TEXT, "attachments": _UPLOADS, "changed_at_ms": TIME_MS}
_DRAFT = Named("Draft", obj(_FIELDS))
_CHANNEL = obj({"channel_id": ID})
_ALL = obj({"drafts": array(_DRAFT)})
_PUT = ("unknown_channel", "unknown_upload", "upload_not_done", "media_gone")
_DELETE = ("unknown_channel",)
_ONE = "/api/channels/{channel_id}/draft"

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/drafts", "One's own drafts, in the channels that one may view", _ALL),
        Endpoint(
            f"PUT {_ONE}",
            "Keep a draft instead of the one that was there; its files are kept with it",
            _DRAFT,
            body=asked({"text": _TEXT}, {"attachments": _UPLOADS}),
            refusals=_PUT,
        ),
        Endpoint(f"DELETE {_ONE}", "Forget a draft", refusals=_DELETE),
    ],
    events=[
        Event("drafts", "As `GET /api/drafts`", reply=_ALL),
        Event(
            "draft_put",
            "Keep a draft instead of the one that was there; its files are kept with it",
            asked({"channel_id": ID, "text": _TEXT}, {"attachments": _UPLOADS}),
            _DRAFT,
            refusals=_PUT,
        ),
        Event("draft_delete", "Forget a draft", asked({"channel_id": ID}), obj({}), refusals=_DELETE),
    ],
    pushes=[
        Pushed("draft_changed", "A draft, on another page of one's own", _DRAFT, to="whose draft it is"),
        Pushed("draft_deleted", "There is no draft there any more", _CHANNEL, to="whose draft it was"),
    ],
)
