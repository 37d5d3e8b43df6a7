"""The OpenAPI 3.1 document of what may be posted to a webhook, and what is answered.

The webhook's URL alone lets somebody post: there is no security scheme. Serves nothing. docs/webhooks.md.
"""

from collections.abc import Mapping

from svc.chat.described import Described, Schema, obj, string
from svc.chat.openapi.compatible_paths import compatible_paths
from svc.chat.openapi.schemas import Components
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from svc.chat.webhooks.requests import PATH
from svc.chat.webhooks.schema import PAYLOAD, POSTED, PROBLEMS, RETRY_AFTER_MS

_EXAMPLE = {"text": "The build is **green**", "cards": [{"title": "Build 512", "color": "#2da44e"}]}


def webhook_document(_: Mapping[str, Described], version: str) -> dict[str, object]:
    components = Components()
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": string(128, 1)}
        for name in ("webhook_id", "token")
    ]
    body = {"schema": components.written(PAYLOAD), "example": _EXAMPLE}
    post = {
        "operationId": "post_to_webhook",
        "tags": ["webhooks"],
        "summary": "Post a message into the webhook's channel",
        "description": f"The body has at most {MAX_BODY_BYTES:,} bytes. Its Content-Type is not looked at. "
        "Pictures are downloaded before the answer, which may take some seconds.",
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": _responses(components),
        "security": [],
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Webhooks of the community chat server",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "What may be posted to a webhook's URL. Match on `error` and `code`.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": "webhooks", "description": "URLs that post into one channel"}],
        "paths": {PATH: {"post": post}, **compatible_paths(components, parameters)},
        "components": {"schemas": components.schemas},
    }


def _responses(components: Components) -> dict[str, object]:
    refused = [
        _refusal("invalid_payload", message=string(), problems=PROBLEMS),
        _refusal("profanity_refused", message=string()),
        _refusal("empty_message", "message_too_long", "no_channel", "invalid_json"),
    ]
    answers: dict[str, tuple[str, Schema]] = {
        "200": ("It was posted; what was left out is in the warnings", POSTED),
        "400": ("It was not posted, and why; all problems at once", {"oneOf": refused}),
        "404": ("No webhook has this URL", _refusal("not_found")),
        "408": ("The body took too long to arrive", _refusal("too_slow", message=string())),
        "413": ("The body is too large", _refusal("body_too_large")),
        "415": ("The body is compressed", _refusal("unsupported_encoding", message=string())),
        "429": (
            "Posted to too often; the same for everybody who has the URL",
            _refusal("rate_limited", retry_after_ms=RETRY_AFTER_MS),
        ),
        "503": ("Nothing can be stored right now", _refusal("storage_unavailable", message=string())),
    }
    responses: dict[str, object] = {}
    for status, (words, schema) in answers.items():
        content = {"application/json": {"schema": components.written(schema)}}
        responses[status] = {"description": words, "content": content}
    seconds = {"description": "The same in whole seconds", "schema": {"type": "integer", "minimum": 1}}
    responses["429"] = {**responses["429"], "headers": {"Retry-After": seconds}}  # type: ignore[dict-item]
    return responses


def _refusal(*codes: str, **more: Schema) -> Schema:
    """Exactly these keys."""
    return obj({"error": {"type": "string", "enum": list(codes)}, **more})
