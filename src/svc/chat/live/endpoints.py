"""Handles the requests about the live socket itself."""

import time

from svc.chat.access.endpoint_permissions import MEMBER, READING_COST
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, describe_feature, endpoint
from svc.chat.live.client import ConnectedClient
from svc.chat.live.hub import Hub
from svc.chat.live.responses import Hello, Managed, SignedInUntil
from svc.chat.live.sign_in import ClientSignIn, TokenRequest, expires_at_ms
from svc.chat.schemas import Event


class ClientEndpoints(Endpoints):
    def __init__(self, client: ConnectedClient, hub: Hub, signing_in: ClientSignIn) -> None:
        self._client = client
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
    async def set_visible(self, visible: bool) -> None:
        self._client.in_sight = visible

    @endpoint(
        MEMBER,
        "Report whether this page is idle. Our page is idle after 10 minutes without input. A "
        "member whose pages are all idle is shown as idle",
        live="idle",
    )
    async def set_idle(self, session: Session, idle: bool) -> None:
        self._hub.set_idle(session.member_id, self._client, idle)

    @endpoint(
        MEMBER,
        "Send a fresh access token before the old one expires",
        live="reauthenticate",
        refusals=("token_invalid",),
    )
    async def reauthenticate(self, session: Session, body: TokenRequest) -> SignedInUntil:
        again = self._client.session = self._signing_in.renew(session, body, time.time())
        return SignedInUntil(expires_at_ms(again))


DESCRIPTION = describe_feature(
    ClientEndpoints,
    pushes=[
        Event("hello", "The first frame on every socket", Hello, to="every connection", kept=False),
        Event(
            "managed",
            "A managed list has changed. `overrides` are those of a channel. Pages that show the "
            "list fetch it again",
            Managed,
            to="members who may see the list; for `invites` also their creators",
        ),
    ],
)
