"""`/api/me/push`: a device subscribes to Web Push, and takes it back. No rules."""

from aiohttp import web

from svc.chat.errors import ChatError
from svc.chat.fields import Data, text
from svc.chat.http import answer, asker, body, nothing
from svc.chat.push.base64url import decoded
from svc.chat.push.rules import Subscriptions

# Real ones have some 200 characters.
MAX_ENDPOINT_CHARACTERS = 1024
MAX_KEY_CHARACTERS = 128
_OWN = "/api/me/push"


class PushRoutes:
    """`public_key` is what browsers subscribe with."""

    def __init__(self, subscriptions: Subscriptions, public_key: str) -> None:
        self._subscriptions = subscriptions
        self._public_key = public_key

    def table(self) -> list[web.RouteDef]:
        return [web.get(_OWN, self.show), web.put(_OWN, self.put), web.delete(_OWN, self.delete)]

    async def show(self, request: web.Request) -> web.Response:
        subscribed = self._subscriptions.rings(asker(request))
        return answer({"public_key": self._public_key, "subscribed": subscribed})

    async def put(self, request: web.Request) -> web.Response:
        data = await body(request)
        endpoint = text(data, "endpoint", most=MAX_ENDPOINT_CHARACTERS, least=1)
        keys = data.get("keys")
        if not isinstance(keys, dict):
            raise ChatError("invalid_request", "keys must be those of a push subscription")
        await self._subscriptions.subscribe(
            asker(request), endpoint, _key(keys, "p256dh"), _key(keys, "auth")
        )
        return nothing()

    async def delete(self, request: web.Request) -> web.Response:
        await self._subscriptions.unsubscribe(asker(request))
        return nothing()


def _key(keys: Data, name: str) -> bytes:
    try:
        return decoded(text(keys, name, most=MAX_KEY_CHARACTERS))
    except ValueError:
        raise ChatError("invalid_request", f"{name} must be base64url") from None
