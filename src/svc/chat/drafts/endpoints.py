"""Handles requests for drafts, over HTTP and on the live socket."""

import time

from svc.chat.access.endpoint_permissions import MEMBER, in_channel
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.drafts.responses import Draft, DraftDeleted, Files, OwnDrafts, Text
from svc.chat.drafts.rules import Drafts
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.schemas import Event, Id

_DRAFT_PATH = "/api/channels/{channel_id}/draft"
_IN_CHANNEL = in_channel(P.VIEW_CHANNEL)


class NewDraft(Request):
    text: Text
    attachments: Files | None = None


class DraftEndpoints(Endpoints):
    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts

    @endpoint(MEMBER, "List your drafts in channels that you can view", http="GET /api/drafts", live="drafts")
    async def all(self, session: Session) -> OwnDrafts:
        return OwnDrafts(await self._drafts.of(session.member_id))

    @endpoint(
        _IN_CHANNEL,
        "Replace your draft in a channel. Its files are kept with it",
        http=f"PUT {_DRAFT_PATH}",
        live="draft_put",
        refusals=("unknown_channel", "unknown_upload", "upload_not_done", "media_gone"),
    )
    async def put(self, session: Session, channel_id: Id, body: NewDraft) -> Draft:
        draft = Draft(channel_id, body.text, body.attachments or (), int(time.time() * 1000))
        await self._drafts.put(session.member_id, draft)
        return draft

    @endpoint(
        _IN_CHANNEL,
        "Delete your draft in a channel",
        http=f"DELETE {_DRAFT_PATH}",
        live="draft_delete",
        refusals=("unknown_channel",),
    )
    async def delete(self, session: Session, channel_id: Id) -> None:
        await self._drafts.delete(session.member_id, channel_id)


DESCRIPTION = describe_feature(
    DraftEndpoints,
    pushes=[
        Event("draft_changed", "Your draft changed on another page", Draft, to="the draft's author"),
        Event(
            "draft_deleted",
            "Your draft was deleted on another page",
            DraftDeleted,
            to="the draft's author",
        ),
    ],
)
