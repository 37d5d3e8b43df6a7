"""Builds the human-readable API reference, `GET /reference`: endpoints, requests, events, objects and errors.

The reference is generated from the same descriptions as the machine-readable documents. docs/http.md and
docs/live.md explain how to use the API. This module does not serve the reference.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape

from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS, Audience, Requirement
from svc.chat.access.permissions import names
from svc.chat.endpoints import FeatureDescription, schema_of
from svc.chat.errors import CODES, ChatError, status_of
from svc.chat.openapi.schema_summaries import Schema, choice, list_fields, named_in, within
from svc.chat.schemas import Endpoint, Event, LiveRequest, Named
from svc.chat.settings.endpoints import management

# Titles of features whose folder name is unsuitable as a title.
_TITLES = {
    "account": "Your account",
    "audit": "Audit log",
    "automod": "Automatic moderation",
    "backup": "Backups and storage",
    "direct": "Private conversations",
    "joining": "Signing in and devices",
    "levels": "Notification levels",
    "live": "Live socket",
    "media": "Stored files",
    "members": "Members and roles",
    "openapi": "API descriptions",
    "push": "Web Push",
    "status": "Server status",
    "voice": "Voice channels",
}
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
nav ul { columns: 13rem; padding-left: 1.2rem; }
h2 { margin-top: 3rem; }
h3 { margin: 2rem 0 0; font-size: 1rem; overflow-wrap: anywhere; }
h3 .method { display: inline-block; min-width: 4rem; color: light-dark(#0550ae, #79c0ff); }
p { margin: 0.25rem 0; }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: 0.15rem 1rem; margin: 0.25rem 0; }
dt { color: light-dark(#59636e, #9198a1); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: 0.9em; overflow-wrap: anywhere; }
a { color: light-dark(#0550ae, #79c0ff); }
table { border-collapse: collapse; }
td, th { padding: 0.2rem 1rem 0.2rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: 0.3rem; } }
"""
# The Content Security Policy. The page loads no resources and runs no scripts.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_INTRODUCTION = (
    "`?` marks optional fields. GET and DELETE take fields in the query, other methods in the body. "
    "A permission applies to the whole server, or with “in the channel” to that channel.",
    "Every request may also be refused with a common error: 401 `auth_required` and `token_invalid`, "
    "403 `forbidden`, `in_timeout` and `origin_refused`, 400 `invalid_request` and `invalid_json`, "
    "409 `channel_archived` where the request changes a channel, 413 `body_too_large`, "
    "415 `unsupported_encoding`, 429 `rate_limited`, 503 `storage_unavailable` and `server_stopping`, "
    "or 500 `internal_error`.",
)


def reference(features: Mapping[str, FeatureDescription], version: str) -> str:
    """Return the reference page as HTML."""
    sections = [(_title(feature), list(_section(described))) for feature, described in features.items()]
    sections = sorted((title, entries) for title, entries in sections if entries)
    sections.append(
        ("Management listener", [_endpoint(endpoint, "the operator") for endpoint in management()])
    )
    objects = _objects(features)
    sections.append(("Objects", [_object(name, schema) for name, schema in objects.items()]))
    sections.append(("Errors", [_errors()]))
    contents = "".join(f'<li><a href="#{_anchor(title)}">{title}</a></li>' for title, _ in sections)
    introduction = "".join(f"<p>{_mark_code(paragraph)}</p>" for paragraph in _INTRODUCTION)
    body = "".join(f'<h2 id="{_anchor(title)}">{title}</h2>{"".join(entries)}' for title, entries in sections)
    linked = _link_names(body, objects)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>API reference</title>'
        f"<style>{_STYLE}</style></head><body><h1>API reference</h1>"
        f"<p>Version {escape(version)}. For programs: "
        '<a href="/openapi.json">OpenAPI</a>, '
        '<a href="/openapi/webhooks.json">posts to webhooks</a>, '
        '<a href="/openapi/management.json">the management listener</a>, and '
        '<a href="/asyncapi.json">the live socket as AsyncAPI</a>.</p>'
        f"{introduction}<nav><ul>{contents}</ul></nav>{linked}</body></html>"
    )


def _title(feature: str) -> str:
    return _TITLES.get(feature, feature.replace("_", " ").capitalize())


def _anchor(words: str) -> str:
    return re.sub(r"\W+", "-", words).strip("-").lower()


def _section(described: FeatureDescription) -> Iterator[str]:
    for endpoint in described.endpoints:
        yield _endpoint(endpoint, _access(ENDPOINTS[endpoint.route]))
    for event in described.events:
        yield _event(event, _access(EVENTS[event.name]))
    for push in described.pushes:
        yield _push(push)


def _endpoint(endpoint: Endpoint, who: str) -> str:
    takes = [list_fields({"properties": endpoint.query}, null_is_absent=True)] if endpoint.query else []
    if endpoint.body is not None:
        is_json = endpoint.body_type == "application/json"
        fields = _fields(endpoint.body)
        takes.append(fields if is_json else f"{f'{fields} as ' if fields else ''}`{endpoint.body_type}`")
    rows = [
        ("Takes", ", ".join(takes)),
        ("Returns", _answer(endpoint)),
        ("For", who),
        ("Errors", _codes(endpoint.refusals)),
    ]
    method, path = endpoint.route.split(" ")
    return _entry(method, path, endpoint.summary, rows)


def _answer(endpoint: Endpoint) -> str:
    if endpoint.answer is None:
        return "204"
    status = "" if endpoint.status == 200 else f"{endpoint.status} "
    is_json = endpoint.media_type == "application/json"
    otherwise = "" if endpoint.otherwise is None else "; {} with the same: {}".format(*endpoint.otherwise)
    return status + (_value(endpoint.answer) if is_json else f"`{endpoint.media_type}`") + otherwise


def _event(event: LiveRequest, who: str) -> str:
    rows = [
        ("Takes", _fields(event.data)),
        ("Returns", _value(event.reply)),
        ("For", who),
        ("Errors", _codes(event.refusals)),
    ]
    return _entry("request", event.name, event.summary, rows)


def _push(push: Event) -> str:
    to = push.to if push.kept else f"{push.to}; not stored for later"
    return _entry("event", push.name, push.summary, [("Data", _value(schema_of(push.data))), ("To", to)])


def _entry(kind: str, name: str, summary: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<dt>{term}</dt><dd>{_mark_code(words)}</dd>" for term, words in rows if words)
    heading = f'<span class="method">{kind}</span> <code>{escape(name)}</code>'
    return f'<h3 id="{_anchor(f"{kind} {name}")}">{heading}</h3><p>{_mark_code(summary)}</p><dl>{cells}</dl>'


def _objects(features: Mapping[str, FeatureDescription]) -> Mapping[str, Schema]:
    """Return all named schemas, keyed by name."""
    schemas: list[object] = [(endpoint.body, endpoint.answer) for endpoint in management()]
    for described in features.values():
        schemas += [(endpoint.body, endpoint.answer) for endpoint in described.endpoints]
        schemas += [(event.data, event.reply) for event in described.events]
        schemas += [schema_of(push.data) for push in described.pushes]
        schemas += map(schema_of, [*described.welcome.values(), *described.present.values()])
    return dict(sorted((schema.name, schema) for schema in named_in(schemas)))


def _object(name: str, schema: Schema) -> str:
    if "properties" in schema:
        fields = list_fields(schema, null_is_absent=False)
    else:
        fields = f"a list of {', '.join(f'`{value}`' for value in schema['items']['enum'])}"
    about = f"<p>{_mark_code(schema['description'])}</p>" if "description" in schema else ""
    return f'<h3 id="object-{name}"><code>{name}</code></h3>{about}<p>{_mark_code(fields)}</p>'


def _errors() -> str:
    rows = "".join(
        f'<tr id="error-{code}"><td><code>{code}</code></td><td>{status_of(code)}</td>'
        f"<td>{escape(ChatError(code).message)}</td></tr>"
        for code in sorted(CODES)
    )
    head = "<tr><th>error</th><th>Status</th><th>Usual message</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _fields(schema: Schema) -> str:
    # In a request's data, null and an absent field have the same meaning.
    if isinstance(schema, Named) and "properties" not in schema:
        return f"`{schema.name}`"
    return list_fields(schema, null_is_absent=True) + _about(schema)


def _about(schema: Schema) -> str:
    return f". {schema['description'].removesuffix('.')}" if "description" in schema else ""


def _value(schema: Schema) -> str:
    """Describe the value of a response or an event."""
    if "anyOf" in schema and "properties" not in schema:
        return " or ".join(_value(kind) for kind in schema["anyOf"])
    if isinstance(schema, Named):
        return f"`{schema.name}`"
    if schema == {"type": "object"}:
        return "a document"
    properties: Mapping[str, Schema] = schema.get("properties", {})
    choices = [f"`{name}`: {values}" for name, field in properties.items() if (values := choice(field))]
    return "; ".join([f"`{within(schema) or '{}'}`", *choices]) + _about(schema)


def _access(needs: Requirement) -> str:
    if needs.any_origin:
        return "anyone with the URL"
    if needs.permission is not None:
        return f"`{names(needs.permission)[0]}`{' in the channel' if needs.in_channel else ''}"
    if needs.who is Audience.MEMBER:
        return "people, not bots" if needs.person else "members"
    return "the owner" if needs.who is Audience.OWNER else "anyone"


def _codes(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in sorted(codes))


def _mark_code(words: str) -> str:
    """Return a string as HTML, with the parts in backticks marked up as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words, quote=False))


def _link_names(body: str, objects: Iterable[str]) -> str:
    """Turn names of objects and errors in code into links to their entries."""
    name = re.compile(rf"(?<!\w)({'|'.join(objects)})(?!\w)")

    def link(code: re.Match[str]) -> str:
        if code[1] in CODES:
            return f'<code><a href="#error-{code[1]}">{code[1]}</a></code>'
        return "<code>" + name.sub(r'<a href="#object-\1">\1</a>', code[1]) + "</code>"

    return re.sub(r"<code>([^<]*)</code>(?!</h3>|</td>)", link, body)
