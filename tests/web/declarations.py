"""Generates `src/svc/web/types/api.d.ts`, the TypeScript types of the server's API, for type-checking the web
client.

The file contains every named schema, every endpoint in the OpenAPI documents, and every request and event in
the AsyncAPI document. Lengths and ranges are omitted, because TypeScript has no types for them. To update the
file, run `python -m tests.web.declarations`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc.chat.openapi.endpoints import feature_descriptions
from svc.chat.openapi.http_document import http_document
from svc.chat.openapi.live_document import live_document
from svc.chat.openapi.webhook_document import webhook_document
from svc.chat.pages.routes import WEB_FOLDER

Schema = Mapping[str, Any]

DECLARATIONS = WEB_FOLDER / "types" / "api.d.ts"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"{\w+}")
_JSON = "application/json"
_HEAD = """\
// The requests and responses of the chat server, generated from its descriptions by `ci/types write`.
// Do not edit it: a test compares it with the descriptions. Only the type check reads it; it is not served.
"""


def declarations() -> str:
    """Return the content of the generated file."""
    http: Schema = http_document(feature_descriptions(), "")
    live: Schema = live_document(feature_descriptions(), "")
    # The webhook document has a different `Message` schema, so prefix its schema names.
    posted = json.dumps(webhook_document(feature_descriptions(), "")).replace("/schemas/", "/schemas/Posted")
    posts: Schema = json.loads(posted)
    posted_schemas = {f"Posted{name}": schema for name, schema in posts["components"]["schemas"].items()}
    schemas = {**http["components"]["schemas"], **live["components"]["schemas"], **posted_schemas}
    paths = {**http["paths"], **posts["paths"]}
    messages: Schema = live["channels"]["live"]["messages"]
    frames = {name: message["payload"]["properties"] for name, message in messages.items()}
    parts = [
        _HEAD,
        *(f"export type {name} = {_type(schema)};\n" for name, schema in sorted(schemas.items())),
        f"/** The codes of errors. */\nexport type Code = {_codes(frames)};\n",
        _interface("Endpoints", "By method and path; `{}` stands for an id.", _endpoints(paths)),
        _interface("Requests", "On the live socket, by event.", _requests(frames)),
        _interface("Pushes", "Events that the server pushes, by name.", _pushes(frames)),
    ]
    return "\n".join(parts)


def _codes(frames: Schema) -> str:
    codes: list[str] = frames["error"]["data"]["properties"]["error"]["enum"]
    return _choice(codes)


def _endpoints(paths: Schema) -> Iterator[tuple[str, str, str]]:
    for path, operations in paths.items():
        for method, operation in operations.items():
            queries = [parameter for parameter in operation["parameters"] if parameter["in"] == "query"]
            query = {
                "type": "object",
                "properties": {parameter["name"]: parameter["schema"] for parameter in queries},
            }
            body = operation.get("requestBody", {}).get("content")
            done = next(response for status, response in operation["responses"].items() if status < "300")
            fields = [
                *([f"query: {_type(query)}"] if queries else []),
                *([f"body: {_content(body)}"] if body else []),
                f"response: {_content(done['content']) if 'content' in done else 'null'}",
            ]
            route = _VARIABLE.sub("{}", f"{method.upper()} {path}")
            yield operation["summary"], route, f"{{ {'; '.join(fields)} }}"


def _requests(frames: Schema) -> Iterator[tuple[str, str, str]]:
    for name, frame in frames.items():
        event, _, kind = name.partition(".")
        if kind == "request" and f"{event}.reply" in frames:
            reply = frames[f"{event}.reply"]["data"]
            yield "", event, f"{{ data: {_type(frame['data'])}; reply: {_type(reply)} }}"


def _pushes(frames: Schema) -> Iterator[tuple[str, str, str]]:
    for name, frame in frames.items():
        if "." not in name and name != "error":
            yield "", name, _type(frame["data"])


def _interface(name: str, about: str, members: Iterator[tuple[str, str, str]]) -> str:
    lines = [f"/** {about} */", f"export interface {name} {{"]
    for summary, key, value in members:
        if summary:
            lines.append(f"  /** {summary} */")
        lines.append(f"  {_key(key)}: {value};")
    return "\n".join([*lines, "}", ""])


def _content(content: Schema) -> str:
    return _type(content[_JSON]["schema"]) if _JSON in content else "Blob"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return _choice(schema["enum"])
    # `anyOf` next to `properties` only lists which of them are required.
    if "anyOf" in schema and "properties" not in schema:
        return " | ".join(dict.fromkeys(_type(part) for part in _flat([schema])))
    match schema.get("type"):
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case "object":
            return _object(schema)
        case str() as plain:
            return _PLAIN[plain]
        case _:
            return "unknown"


def _flat(schemas: Iterable[Schema]) -> Iterator[Schema]:
    """Flatten nested choices."""
    for schema in schemas:
        yield from _flat(schema["anyOf"]) if "anyOf" in schema else [schema]


def _object(schema: Schema) -> str:
    properties: Schema = schema.get("properties", {})
    required = schema.get("required", ())
    if properties:
        members = (
            f"{_key(name)}{'' if name in required else '?'}: {_type(property_schema)}"
            for name, property_schema in properties.items()
        )
        return f"{{ {'; '.join(members)} }}"
    others = schema.get("additionalProperties", True)
    if others is False:
        return "Record<string, never>"
    return f"{{ [name: string]: {_type(others) if isinstance(others, Mapping) else 'unknown'} }}"


def _choice(values: list[Any]) -> str:
    return " | ".join(json.dumps(value) for value in values)


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


if __name__ == "__main__":
    DECLARATIONS.write_text(declarations(), encoding="utf-8")
