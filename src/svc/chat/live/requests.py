"""Requests about the socket itself, and its own events."""

import time
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.access.catalogue import MEMBER, READING_COST
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Requests, describe_feature, endpoint, schema_of
from svc.chat.live.hub import Hub
from svc.chat.live.page import Page
from svc.chat.live.sign_in import ShownToken, SigningIn, expires_at_ms
from svc.chat.schemas import Event, TimeMs, choice, obj

_Positive = Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class SocketLimits:
    max_message_bytes: _Positive
    request_burst: _Positive
    requests_per_s: float


@dataclass(frozen=True, slots=True)
class Hello:
    server_id: str
    heartbeat_ms: _Positive
    authenticate_within_ms: _Positive
    limits: SocketLimits


@dataclass(frozen=True, slots=True)
class SignedInUntil:
    token_expires_at_ms: TimeMs


class PageRequests(Requests):
    def __init__(self, page: Page, hub: Hub, signing_in: SigningIn) -> None:
        self._page = page
        self._hub = hub
        self._signing_in = signing_in

    @endpoint(
        MEMBER, "Check the connection. Browsers hide the socket's own pings", live="ping", cost=READING_COST
    )
    async def ping(self) -> None:
        pass

    @endpoint(
        MEMBER,
        "Report whether this page is visible. While a page is visible, the member's devices get "
        "no notifications. A new page counts as hidden",
        live="in_sight",
    )
    async def say_in_sight(self, visible: bool) -> None:
        self._page.in_sight = visible

    @endpoint(
        MEMBER,
        "Report whether this page is idle. Our page is idle after 10 minutes without input. A "
        "member whose pages are all idle is shown as idle",
        live="idle",
    )
    async def say_idle(self, session: Session, idle: bool) -> None:
        self._hub.say_idle(session.member_id, self._page, idle)

    @endpoint(
        MEMBER,
        "Send a fresh access token before the old one expires",
        live="reauthenticate",
        refusals=("token_invalid",),
    )
    async def reauthenticate(self, session: Session, body: ShownToken) -> SignedInUntil:
        again = self._page.session = self._signing_in.again(session, body, time.time())
        return SignedInUntil(expires_at_ms(again))


DESCRIPTION = describe_feature(
    PageRequests,
    pushes=[
        Event(
            "hello", "The first frame on every socket", schema_of(Hello), to="every connection", kept=False
        ),
        Event(
            "managed",
            "A managed list has changed. `overrides` are those of a channel. Pages that show the "
            "list fetch it again",
            obj({"area": choice("backups", "bans", "bots", "invites", "overrides")}),
            to="members who may see the list; for `invites` also their creators",
        ),
    ],
)
