"""What a page asks of its own socket, and what that says unasked."""

import time
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.access.catalogue import MEMBER, READING_COST
from svc.chat.access.tokens import Asker
from svc.chat.described import Pushed, TimeMs, choice, obj
from svc.chat.live.hub import Hub
from svc.chat.live.page import Page
from svc.chat.live.sign_in import ShownToken, SigningIn, expires_at_ms
from svc.chat.requests import Requests, described_by, request, schema_of

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

    @request(
        MEMBER, "Is the server there? Browsers hide the socket's own pings", live="ping", cost=READING_COST
    )
    async def ping(self) -> None:
        pass

    @request(
        MEMBER,
        "Say whether the member has this page before their eyes; while one is, their devices do "
        "not ring. It is not so until it is said",
        live="in_sight",
    )
    async def say_in_sight(self, visible: bool) -> None:
        self._page.in_sight = visible

    @request(
        MEMBER,
        "Say whether nobody has touched this page for a while, which ours does after 10 minutes; "
        "a member whose pages all say so is shown as idle",
        live="idle",
    )
    async def say_idle(self, asking: Asker, idle: bool) -> None:
        self._hub.say_idle(asking.member_id, self._page, idle)

    @request(
        MEMBER,
        "Show a fresh access token before the old one ends",
        live="reauthenticate",
        refusals=("token_invalid",),
    )
    async def reauthenticate(self, asking: Asker, asked: ShownToken) -> SignedInUntil:
        again = self._page.asker = self._signing_in.again(asking, asked, time.time())
        return SignedInUntil(expires_at_ms(again))


DESCRIBED = described_by(
    PageRequests,
    pushes=[
        Pushed("hello", "Comes first on every socket", schema_of(Hello), to="whoever connects", kept=False),
        Pushed(
            "managed",
            "A list that is managed has changed, of `overrides` that of one channel; whoever shows it"
            " asks for it again",
            obj({"area": choice("backups", "bans", "bots", "invites", "overrides")}),
            to="who may see the list; of `invites` also whoever made one",
        ),
    ],
)
