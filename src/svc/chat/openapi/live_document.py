"""Builds the AsyncAPI 3 document: every request on the live socket with its reply, and every event.

As AsyncAPI requires, the document takes the server's point of view: the server receives requests and sends
events. Built from the catalogue and the feature descriptions. Serves nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc.chat.access.catalogue import EVENTS
from svc.chat.endpoints import FeatureDescription, schema_of
from svc.chat.errors import CODES
from svc.chat.live.sign_in import Resumption, TokenRequest
from svc.chat.openapi.http_document import REQUEST_ID, Components, permission, refusal
from svc.chat.schemas import TIME_MS, Event, LiveRequest, Schema, integer

_CHANNEL = {"$ref": "#/channels/live"}
_SEQ = integer(0)


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
        schema_of(TokenRequest),
        "Sign in. Must be the first request on a socket, unless it is `resume`",
    )
    words = "Resume a session after a lost connection. May be the first request"
    yield _request("resume", schema_of(Resumption), words)
    present = [feature.present for feature in features.values()]
    yield _reply("authenticated", _greeting(*(feature.welcome for feature in features.values()), *present))
    yield _reply("resumed", _greeting(*present))
    yield "error", _message("error", {"data": refusal(sorted(CODES))}, {"id": REQUEST_ID}, "A refusal")
    for feature in features.values():
        for event in feature.events:
            yield _request(event.name, event.data, event.summary)
            yield _reply(event.name, event.reply)
        for push in feature.pushes:
            needed: dict[str, Schema] = {"data": schema_of(push.data), **({"seq": _SEQ} if push.kept else {})}
            yield push.name, _message(push.name, needed, {}, f"{push.summary}. To: {push.to}")


def _greeting(*parts: Mapping[str, Any]) -> Schema:
    together: dict[str, Schema] = {"seq": _SEQ, "token_expires_at_ms": TIME_MS}
    for part in parts:
        together |= {name: schema_of(kind) for name, kind in part.items()}
    return _object(together, {})


def _object(needed: Mapping[str, Schema], optional: Mapping[str, Schema]) -> Schema:
    """Return the schema for an object with the given required and optional keys."""
    return {
        "type": "object",
        "properties": {**needed, **optional},
        "required": [*needed],
        "additionalProperties": False,
    }


def _request(event: str, data: Schema, summary: str) -> tuple[str, Schema]:
    return f"{event}.request", _message(event, {"id": REQUEST_ID}, {"data": data}, summary)


def _reply(event: str, data: Schema) -> tuple[str, Schema]:
    return f"{event}.reply", _message(event, {"id": REQUEST_ID, "data": data}, {}, "The reply")


def _message(
    event: str, needed: Mapping[str, Schema], optional: Mapping[str, Schema], summary: str
) -> Schema:
    frame = _object({"event": {"const": event}, **needed}, optional)
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
