"""What Web Push says of itself, for people and for programs."""

from svc.chat.described import BOOLEAN, Described, Endpoint, asked, obj, string
from svc.chat.push.routes import MAX_ENDPOINT_CHARACTERS, MAX_KEY_CHARACTERS

_KEY = string(MAX_KEY_CHARACTERS)

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/me/push",
            "The key to subscribe with, and whether this device has subscribed",
            obj({"public_key": string(), "subscribed": BOOLEAN}),
        ),
        Endpoint(
            "PUT /api/me/push",
            "Ring this device: a push subscription as browsers give it",
            body=asked(
                {
                    "endpoint": string(MAX_ENDPOINT_CHARACTERS, 1),
                    "keys": asked({"p256dh": _KEY, "auth": _KEY}),
                }
            ),
        ),
        Endpoint("DELETE /api/me/push", "Do not ring this device any more"),
    ]
)
