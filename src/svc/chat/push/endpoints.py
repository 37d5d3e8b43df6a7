"""Handles requests for Web Push subscriptions."""

from typing import Annotated

from msgspec import Meta

from svc.chat.access.endpoint_permissions import PERSON
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.push.encryption import from_base64url
from svc.chat.push.subscriptions import Subscriptions
from svc.chat.schemas import Response

_OWN = "/api/me/push"
_Key = Annotated[str, Meta(max_length=128)]


class Keys(Request):
    p256dh: _Key
    auth: _Key


class NewSubscription(Request):
    # The URL of a push endpoint. Real ones have about 200 characters.
    endpoint: Annotated[str, Meta(min_length=1, max_length=1024)]
    keys: Keys


class PushState(Response):
    public_key: str
    subscribed: bool


class PushEndpoints(Endpoints):
    """The endpoints for subscriptions. Browsers subscribe with `public_key`."""

    def __init__(self, subscriptions: Subscriptions, public_key: str) -> None:
        self._subscriptions = subscriptions
        self._public_key = public_key

    @endpoint(
        PERSON, "Return the key for subscribing, and whether this device is subscribed", http=f"GET {_OWN}"
    )
    async def show(self, session: Session) -> PushState:
        return PushState(self._public_key, self._subscriptions.rings(session))

    @endpoint(PERSON, "Subscribe this device with a browser's push subscription", http=f"PUT {_OWN}")
    async def put(self, session: Session, body: NewSubscription) -> None:
        keys = body.keys
        await self._subscriptions.subscribe(
            session, body.endpoint, _bytes("p256dh", keys.p256dh), _bytes("auth", keys.auth)
        )

    @endpoint(PERSON, "Unsubscribe this device", http=f"DELETE {_OWN}")
    async def delete(self, session: Session) -> None:
        await self._subscriptions.unsubscribe(session)


def _bytes(name: str, key: str) -> bytes:
    try:
        return from_base64url(key)
    except ValueError:
        raise ChatError("invalid_request", f"{name} must be base64url") from None


DESCRIPTION = describe_feature(PushEndpoints)
