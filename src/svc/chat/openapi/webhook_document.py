"""Builds the OpenAPI 3.1 document for webhooks and their compatible endpoints.

A webhook's URL is the only credential, so there is no security scheme. This module does not serve the
document. See docs/webhooks.md.
"""

from collections.abc import Mapping, Sequence

from svc.chat.endpoints import FeatureDescription, schema_of
from svc.chat.openapi.http_document import Components, openapi
from svc.chat.schemas import Schema, integer, string
from svc.chat.webhooks.compatible.endpoints import DISCORD, EVENT_HEADER, GITHUB, SLACK
from svc.chat.webhooks.compatible.formats import (
    DiscordMessage,
    DiscordPost,
    DiscordRefusal,
    GithubEvent,
    GithubRefusal,
    SlackPost,
)
from svc.chat.webhooks.compatible.github import EVENTS
from svc.chat.webhooks.endpoints import PATH
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from svc.chat.webhooks.responses import Problems, Receipt, RetryAfterMs
from svc.chat.webhooks.schema import PAYLOAD

_REFUSALS = {
    "400": "The message was not posted. The body gives the reason",
    "404": "No webhook has this URL, or it has no channel",
    "408": "The body took too long to arrive",
    "413": "The body is too large",
    "415": "The body is compressed",
    "429": "Too many posts. All URLs of a webhook share the limit",
    "503": "Nothing can be stored right now",
}


def compatible_paths(
    components: Components, parameters: Sequence[Mapping[str, object]]
) -> dict[str, dict[str, object]]:
    """Return the compatible endpoints. `parameters` are the parameters in the webhook's URL."""
    wait = {"name": "wait", "in": "query", "schema": string(), "description": "true: answer with the message"}
    known = ", ".join(sorted(EVENTS))
    event = {"name": EVENT_HEADER, "in": "header", "required": True, "schema": string(), "description": known}
    return {
        DISCORD: _post(
            "discord",
            "Post a message in the format of Discord's webhooks",
            [*parameters, wait],
            schema_of(DiscordPost),
            {
                "200": _json("The message", schema_of(DiscordMessage)),
                "204": {"description": "The message was posted"},
            }
            | {status: _json(words, schema_of(DiscordRefusal)) for status, words in _REFUSALS.items()},
        ),
        SLACK: _post(
            "slack",
            "Post a message in the format of Slack's incoming webhooks",
            parameters,
            schema_of(SlackPost),
            {"200": _text("ok")}
            | {status: _text(words) for status, words in (_REFUSALS | {"403": "Words it refuses"}).items()},
        ),
        GITHUB: _post(
            "github",
            "Post an event from GitHub",
            [*parameters, event],
            schema_of(GithubEvent),
            {
                "200": _json("The message was posted", components.written(schema_of(Receipt))),
                "204": {"description": "The event posts nothing"},
            }
            | {status: _json(words, schema_of(GithubRefusal)) for status, words in _REFUSALS.items()},
        ),
    }


def _post(
    service: str,
    summary: str,
    parameters: Sequence[Mapping[str, object]],
    body: Schema,
    responses: Mapping[str, object],
) -> dict[str, object]:
    operation = {
        "operationId": f"post_as_{service}",
        "tags": ["webhooks"],
        "summary": summary,
        "description": "Long texts are truncated. Size, rate limit and pictures are those of the webhook.",
        "parameters": list(parameters),
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": dict(responses),
        "security": [],
    }
    return {"post": operation}


def _json(words: str, schema: object) -> dict[str, object]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _text(words: str) -> dict[str, object]:
    return {"description": words, "content": {"text/plain": {"schema": string()}}}


_EXAMPLE = {"text": "The build is **green**", "cards": [{"title": "Build 512", "color": "#2da44e"}]}


def webhook_document(_: Mapping[str, FeatureDescription], version: str) -> dict[str, object]:
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
        "description": f"The body has at most {MAX_BODY_BYTES:,} bytes. Its Content-Type is ignored. "
        "Pictures are downloaded before the response, which may take some seconds.",
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": _responses(components),
        "security": [],
    }
    return openapi(
        "Webhooks of the community chat server",
        version,
        "Endpoints of a webhook's URL. Match on `error` and `code`.",
        "/",
        {PATH: {"post": post}, **compatible_paths(components, parameters)},
        {"schemas": components.schemas},
        tags=[{"name": "webhooks", "description": "URLs that post into one channel"}],
    )


def _responses(components: Components) -> dict[str, dict[str, object]]:
    refused = [
        _refusal("invalid_payload", message=string(), problems=schema_of(Problems)),
        _refusal("profanity_refused", message=string()),
        _refusal("empty_message", "message_too_long", "no_channel", "invalid_json"),
    ]
    answers: dict[str, tuple[str, Schema]] = {
        "200": ("The message was posted. The warnings list what was left out", schema_of(Receipt)),
        "400": ("The message was not posted. The body lists all problems", {"oneOf": refused}),
        "404": ("No webhook has this URL", _refusal("not_found")),
        "408": ("The body took too long to arrive", _refusal("too_slow", message=string())),
        "413": ("The body is too large", _refusal("body_too_large")),
        "415": ("The body is compressed", _refusal("unsupported_encoding", message=string())),
        "429": (
            "Too many posts. Everybody with the URL shares the limit",
            _refusal("rate_limited", retry_after_ms=schema_of(RetryAfterMs)),
        ),
        "503": (
            "Nothing can be stored right now",
            _refusal("storage_unavailable", message=string()),
        ),
    }
    responses = {
        status: _json(words, components.written(schema)) for status, (words, schema) in answers.items()
    }
    seconds = {"description": "The same in whole seconds", "schema": integer(1)}
    responses["429"] |= {"headers": {"Retry-After": seconds}}
    return responses


def _refusal(*codes: str, **more: Schema) -> Schema:
    """Return the schema for an error response with exactly the given keys."""
    properties = {"error": {"type": "string", "enum": codes}, **more}
    required = [*properties]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
