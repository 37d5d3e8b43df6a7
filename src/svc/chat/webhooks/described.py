"""What webhooks say of themselves, for people and for programs that manage them.

What may be posted to one is described in a document of its own (`document`).
"""

from svc.chat.described import (
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.webhooks.history import IGNORED, MAX_KEPT, MAX_NAMED, POSTED, REFUSED
from svc.chat.webhooks.limits import MAX_NAME, MAX_WEBHOOKS

_NAME = string(MAX_NAME, 1)
_SHOWN: dict[str, Schema] = {
    "id": ID,
    "name": _NAME,
    "channel_id": nullable(ID),
    "picture": nullable(string()),
    # Null: the operator.
    "created_by": nullable(ID),
    "created_at_ms": TIME_MS,
}
# Null where the key of the installation is not the one with which they were sealed.
_WEBHOOK = Named("Webhook", obj({**_SHOWN, "token": nullable(string()), "url": nullable(string())}))
_ATTEMPT = obj(
    {
        # The last time, of several in a row.
        "at_ms": TIME_MS,
        "outcome": choice(POSTED, REFUSED, IGNORED),
        "error": nullable(string()),
        "message_id": nullable(ID),
        "channel_id": nullable(ID),
        # What was wrong, or left out: the first few.
        "named": array(obj({"path": string(), "code": string()}), MAX_NAMED),
        "times": integer(1),
    }
)
_PICTURE = {"type": "string", "contentMediaType": "image/*"}
_ONE = "/api/webhooks/{webhook_id}"
_KNOWN = ("unknown_webhook",)

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /api/webhooks",
            "The webhooks that one may manage, the oldest first",
            obj({"webhooks": array(_WEBHOOK, MAX_WEBHOOKS)}),
        ),
        Endpoint(
            "POST /api/webhooks",
            "Make a webhook; without a channel, it answers no_channel until it has one",
            _WEBHOOK,
            201,
            body=asked({"name": _NAME}, {"channel_id": ID}),
            refusals=["profanity_refused", "too_many", "unknown_channel"],
        ),
        Endpoint(f"GET {_ONE}", "One webhook", _WEBHOOK, refusals=_KNOWN),
        Endpoint(
            f"PATCH {_ONE}",
            "Give a webhook another name or channel; null takes the channel away",
            _WEBHOOK,
            body=asked({}, {"name": _NAME, "channel_id": ID}),
            refusals=[*_KNOWN, "profanity_refused", "unknown_channel"],
        ),
        Endpoint(f"DELETE {_ONE}", "Delete a webhook; its messages stay", refusals=_KNOWN),
        Endpoint(
            f"GET {_ONE}/posts",
            "What became of the last posts to it since the server has started, the newest first",
            obj({"posts": array(_ATTEMPT, MAX_KEPT)}),
            refusals=_KNOWN,
        ),
        Endpoint(
            f"PUT {_ONE}/picture",
            "Give a webhook another picture: PNG, JPEG, WebP or GIF",
            _WEBHOOK,
            body=_PICTURE,
            body_type="image/*",
            refusals=[
                *(*_KNOWN, "invalid_image", "quota_exceeded", "storage_full", "too_slow"),
                *("unsupported_type", "uploads_disabled"),
            ],
        ),
        Endpoint(f"DELETE {_ONE}/picture", "Take a webhook's picture away", refusals=_KNOWN),
    ],
    pushes=[
        Pushed("webhook_created", "A webhook is there", obj(_SHOWN), "who may manage it"),
        Pushed(
            "webhook_updated",
            "A webhook is different, or has come under one's management",
            obj(_SHOWN),
            "who may manage it",
        ),
        Pushed(
            "webhook_deleted",
            "A webhook is gone, or out of one's management",
            obj({"webhook_id": ID}),
            "who could manage it",
        ),
    ],
)
