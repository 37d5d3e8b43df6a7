"""Builds the AsyncAPI 3 document for the live socket's requests, replies and events.

As AsyncAPI requires, the document takes the server's point of view: the server receives requests and sends
events. It is built from `endpoint_permissions` and the feature descriptions. This module does not serve it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import defstruct

from svc.chat.access.endpoint_permissions import EVENTS
from svc.chat.endpoints import FeatureDescription, schema_of
from svc.chat.errors import CODES
from svc.chat.live.sign_in import FirstRequest, Resumption
from svc.chat.openapi.http_document import REQUEST_ID, Components, permission, refusal
from svc.chat.schemas import Event, LiveRequest, Natural, Response, Schema, TimeMs

_CHANNEL = {"$ref": "#/channels/live"}


def live_document(features: Mapping[str, FeatureDescription], version: str) -> dict[str, object]:
    components = Components()
    messages = {name: components.written(message) for name, message in _messages(features)}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Live socket of the community chat server",
            "version": version,
            "description": "JSON text frames: a request and its reply share an id, kept pushes have a seq.",
        },
        "defaultContentType": "application/json",
        "channels": {"live": {"address": "/live", "messages": messages}},
        "operations": dict(_operations(features)),
        "components": {"schemas": components.schemas},
    }


def _messages(features: Mapping[str, FeatureDescription]) -> Iterator[tuple[str, Schema]]:
    yield _request(
        "authenticate",
        schema_of(FirstRequest),
        "Sign in. Must be the first request on a socket, unless it is `resume`",
    )
    words = "Resume a session after a lost connection. May be the first request"
    yield _request("resume", schema_of(Resumption), words)
    present = [feature.present for feature in features.values()]
    welcome = [feature.welcome for feature in features.values()]
    yield _reply("authenticated", _greeting("Greeting", *welcome, *present))
    yield _reply("resumed", _greeting("Resumption", *present))
    yield "error", _message("error", {"data": refusal(sorted(CODES))}, {"id": REQUEST_ID}, "A refusal")
    for feature in features.values():
        for event in feature.events:
            yield _request(event.name, event.data, event.summary)
            yield _reply(event.name, event.reply)
        for push in feature.pushes:
            needed: dict[str, Schema] = {
                "data": schema_of(push.data),
                **({"seq": schema_of(Natural)} if push.kept else {}),
            }
            yield push.name, _message(push.name, needed, {}, f"{push.summary}. To: {push.to}")


def _greeting(name: str, *parts: Mapping[str, Any]) -> Schema:
    fields = {"seq": Natural, "token_expires_at_ms": TimeMs}
    for part in parts:
        fields |= part
    return schema_of(defstruct(name, fields.items(), bases=(Response,)))


def _request(event: str, data: Schema, summary: str) -> tuple[str, Schema]:
    return f"{event}.request", _message(event, {"id": REQUEST_ID}, {"data": data}, summary)


def _reply(event: str, data: Schema) -> tuple[str, Schema]:
    return f"{event}.reply", _message(event, {"id": REQUEST_ID, "data": data}, {}, "The reply")


def _message(
    event: str, needed: Mapping[str, Schema], optional: Mapping[str, Schema], summary: str
) -> Schema:
    """Return a message whose frame has the given required and optional keys."""
    frame = {
        "type": "object",
        "properties": {"event": {"const": event}, **needed, **optional},
        "required": ["event", *needed],
        "additionalProperties": False,
    }
    return {"name": event, "summary": summary, "payload": frame}


def _operations(features: Mapping[str, FeatureDescription]) -> Iterator[tuple[str, dict[str, object]]]:
    yield "authenticate", _exchange("authenticate", ["authenticated.reply"])
    yield "resume", _exchange("resume", ["resumed.reply", "authenticated.reply"])
    for feature, described in features.items():
        tags = [{"name": feature}]
        for event in described.events:
            yield event.name, {**_request_message(event), "tags": tags}
        for push in described.pushes:
            yield f"push_{push.name}", {**_pushing(push), "tags": tags}


def _request_message(event: LiveRequest) -> dict[str, object]:
    needs = EVENTS[event.name]
    refusals = {"x-refusals": list(event.refusals)} if event.refusals else {}
    return {**_exchange(event.name, [f"{event.name}.reply"]), **permission(needs), **refusals}


def _exchange(event: str, replies: Sequence[str]) -> dict[str, object]:
    return {
        "action": "receive",
        "channel": _CHANNEL,
        "messages": [_reference(f"{event}.request")],
        "reply": {"channel": _CHANNEL, "messages": [_reference(name) for name in [*replies, "error"]]},
    }


def _pushing(push: Event) -> dict[str, object]:
    return {"action": "send", "channel": _CHANNEL, "messages": [_reference(push.name)]}


def _reference(message: str) -> dict[str, str]:
    return {"$ref": f"#/channels/live/messages/{message}"}
